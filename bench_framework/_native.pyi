# Extension module built from native/crates/bindings: conversions over the Rust crate dgen.
# What each function does and raises stands in its docstring, at run time.

from collections.abc import Callable
from os import PathLike

__all__ = ["native_version", "text_kinds", "version", "write_text"]

native_version: str

def write_text(
    path: str | PathLike[str],
    kind: str,
    size: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> str: ...
def text_kinds() -> list[tuple[str, str]]: ...
def version() -> str: ...
