"""Scenarios that `init` writes, and those of the command lines of `ab`, `sweep` and `ablate`."""
