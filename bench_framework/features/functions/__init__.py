"""Functions that differ: the section and the claims of `compare.functions`."""
