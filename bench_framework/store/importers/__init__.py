"""Readers of imported files, with one module per format. Only `read_session` does I/O."""
