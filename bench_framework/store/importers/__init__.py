"""Readers of what others measured: one module per format, all of them pure but for `read_session`."""
