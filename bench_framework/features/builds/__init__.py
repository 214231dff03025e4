"""Builds that differ: the section of `compare.build_changes`."""
