"""Readers of imported files, by the tools that wrote them. Only `read_session` does I/O."""
