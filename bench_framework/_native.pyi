# Stub of the extension module built from native/crates/bindings: conversions over the Rust crates dgen,
# distributions, labels, libm and rustc-demangle.
# The docstring of each function, available at run time, describes it and its errors.

from collections.abc import Callable
from os import PathLike
from typing import Any, TypeAlias, final

import numpy as np
from typing_extensions import Buffer

__all__ = [
    "Generator",
    "address",
    "beta_quantile",
    "cached_bytes",
    "demangle",
    "direct_alignment",
    "exp",
    "expm1",
    "label_tail",
    "log",
    "log1p",
    "main_score",
    "normal_cdf",
    "pages",
    "rank_score",
    "read_and_validate",
    "session_profiles",
    "shifted",
    "signed_ranks",
    "t_cdf",
    "t_quantile",
    "text_kinds",
    "version",
    "write_file",
    "write_sessions",
    "write_text",
]

_Buffer: TypeAlias = Buffer | np.ndarray[Any, np.dtype[Any]]
_Doubles: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
_Differences: TypeAlias = tuple[int, int, int | None, bytes, bytes]

@final
class Generator:
    def __new__(
        cls, seed: int, dedup: str | None = None, compress: str | None = None
    ) -> Generator: ...
    def fill(self, buffer: _Buffer, offset: int = 0, threads: int = 1) -> None: ...
    def validate(self, buffer: _Buffer, offset: int = 0) -> _Differences: ...
    @property
    def identity(self) -> str: ...
    @property
    def path(self) -> str: ...

def cached_bytes(path: str | PathLike[str]) -> int | None: ...
def shifted(values: _Doubles, shift: float) -> bytes: ...
def main_score(values: _Doubles, logs: _Doubles) -> bytes: ...
def rank_score(values: _Doubles) -> bytes: ...
def signed_ranks(differences: _Doubles) -> list[int]: ...
def label_tail(score: _Doubles, larger: bool, scale: tuple[float, int, float, float]) -> float: ...
def log(x: float) -> float: ...
def log1p(x: float) -> float: ...
def exp(x: float) -> float: ...
def expm1(x: float) -> float: ...
def normal_cdf(values: _Doubles) -> bytes: ...
def t_cdf(t: float, freedom: float) -> float: ...
def t_quantile(p: float, freedom: float) -> float: ...
def beta_quantile(p: float, a: float, b: float) -> float: ...
def demangle(symbol: str) -> str | None: ...
def address(buffer: _Buffer) -> int: ...
def pages(buffer: _Buffer) -> str | None: ...
def direct_alignment(path: str | PathLike[str]) -> tuple[int, int]: ...
def write_file(
    path: str | PathLike[str],
    size: int,
    *,
    files: int,
    seed: int,
    dedup: str | None,
    compress: str | None,
    strategy: str,
    backend: str | None,
    buffer_size: int,
    buffer_count: int,
    queue_depth: int,
    threads: int,
    direct: str,
    durability: str,
    progress: Callable[[int], object] | None,
) -> dict[str, Any]: ...
def read_and_validate(
    path: str | PathLike[str],
    *,
    files: int,
    seed: int,
    dedup: str | None,
    compress: str | None,
    size: int | None,
    threads: int | None,
    progress: Callable[[int], object] | None,
) -> tuple[int, int, int | None, _Differences]: ...
def write_text(
    path: str | PathLike[str],
    kind: str,
    size: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> str: ...
def write_sessions(
    path: str | PathLike[str],
    profile: str,
    size: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> str: ...
def session_profiles() -> list[tuple[str, str]]: ...
def text_kinds() -> list[tuple[str, str]]: ...
def version() -> str: ...
