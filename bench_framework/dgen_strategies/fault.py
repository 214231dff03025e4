"""Why there is no file, in the words of dgen."""

from __future__ import annotations


class Fault(Exception):  # noqa: N818 -- dgen's own word
    """The writing ended early; `is_usage` if the options are at fault, not the work."""

    def __init__(self, message: str, *, is_usage: bool = False) -> None:
        super().__init__(message)
        self.is_usage = is_usage


def refused(doing: str, error: OSError, offset: int | None = None) -> Fault:
    """The system refused something, as dgen says it: what, where in the file, and the system's words."""
    where = "" if offset is None else f" at offset {offset}"
    number = "" if error.errno is None else f" (os error {error.errno})"
    return Fault(f"cannot {doing}{where}: {error.strerror or error}{number}")
