"""Causes: the section and the claims of `compare.causes`, the place of a time difference."""
