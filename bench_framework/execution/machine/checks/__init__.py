"""Checks of the machine for `benchctl doctor`: one file per group, one line each in `registry`."""
