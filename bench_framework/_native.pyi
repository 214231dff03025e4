"""Extension module built from `native/crates/bindings`: conversions over the Rust crate `dgen`."""

from collections.abc import Callable
from os import PathLike

native_version: str
"""Version of the native workspace, the same text that `version` returns."""

def write_text(
    path: str | PathLike[str],
    kind: str,
    size: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
) -> str:
    """Write a text corpus of exactly `size` bytes to exactly `path`; return its SHA-256, hexadecimal.

    A file that exists is replaced. The GIL is released; about every 8 MiB, and at the end, signals are checked and
    `progress` is called with the bytes written so far. What it raises ends the writing and is raised here; what was
    written so far stays, for the caller to remove.

    Raises:
        ValueError: no kind of text is called `kind`.
        OverflowError: `size` or `seed` is negative or does not fit 64 bits.
        OSError: the file cannot be created or written; with `errno` and `filename`.
    """

def text_kinds() -> list[tuple[str, str]]:
    """Return name and description of every kind of text."""

def version() -> str:
    """Return the version of the native workspace."""
