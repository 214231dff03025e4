"""Scenarios: found and loaded, written by `init`, or made from the command lines of `ab` and `sweep`."""
