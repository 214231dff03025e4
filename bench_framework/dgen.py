"""Seeded data: filled into any buffer, written to files, and compared with what the settings give.

::

    from bench_framework import dgen

    buffer = bytearray(1 << 20)
    generator = dgen.Generator(42, compress=2)
    generator.fill(buffer, offset=1 << 40)
    assert generator.validate(buffer, offset=1 << 40).count == 0

    stats = dgen.write_file("data", 10 << 30, seed=42, direct="try", durability="end-fsync")
    assert dgen.read_and_validate("data", seed=42).is_right

The bytes are a pure function of seed, settings and offset, the same on every machine. Sizes and offsets are in
bytes, durations in seconds. ``docs/reference/dgen.md`` describes the settings:

- `seed` is 0 to 2⁶⁴ − 1. Data of different seeds is independent.
- `compress` is the ratio to which LZ4 compresses each granule alone: a number, or text such as ``"1.5@128KiB"``
  with the size of a granule (default 4096).
- `dedup` is units ÷ different units: a number, or text such as ``"2.5@64KiB,set:16"`` with the size of a unit
  (default 4096) and the distance of a copy.

All functions raise `ValueError` for invalid or contradicting settings, `OverflowError` for a number that is negative
or does not fit 64 bits, and `OSError`, with `errno` and `filename` if known, if the system refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from bench_framework import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from os import PathLike

    import numpy as np
    from typing_extensions import Buffer

    AnyBuffer: TypeAlias = Buffer | np.ndarray[Any, np.dtype[Any]]
    """numpy declares that its arrays are buffers only for Python 3.12 and later."""

__all__ = [
    "Differences",
    "Generator",
    "Validation",
    "WriteStats",
    "address",
    "cached_bytes",
    "direct_alignment",
    "pages",
    "read_and_validate",
    "write_file",
]

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Differences:
    """The result of comparing bytes.

    Attributes:
        compared: number of compared bytes.
        count: number of wrong bytes.
        first: lowest offset of a wrong byte, `None` without one.
        expected: up to 16 expected bytes from that offset.
        actual: the actual bytes from that offset.
    """

    compared: int
    count: int
    first: int | None
    expected: bytes
    actual: bytes


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of comparing one file or several with their data.

    Attributes:
        differences: those in the bytes that both have; `first` is an offset in the first wrong file.
        first_file: number of that file, `None` without a difference.
    """

    size_expected: int
    size_actual: int
    differences: Differences
    first_file: int | None = None

    @property
    def is_right(self) -> bool:
        """True if sizes and bytes are the expected ones."""
        return self.differences.count == 0 and self.size_expected == self.size_actual


@dataclass(frozen=True, slots=True)
class WriteStats:
    """The observed facts about writing.

    Attributes:
        bytes: size of the closed files; for a strategy that writes nothing, the number of produced bytes.
        digest: SHA-256 (hexadecimal) of the settings of the data, the bytes that completions reported, and the size.
        effective: actual value of each axis, such as strategy, backend, direct, durability.
        threads: number of threads that finished at least one block.
        phases_s: duration by phase; phases that all threads share are summed over them.
        elapsed_s: time from the first contents to the last completion.
        synced_s: time from the first contents until the file was synced as requested.
        first_done_s: time from the first contents to the first completion.
        operations: number of completed operations.
        repeated: number of completions that required a repetition.
        short: number of completions with fewer bytes than requested.
        achieved_depth: mean number of blocks in flight.
        latency_s: ``p50``, ``p90``, ``p99``, ``p999`` and ``max`` of a block, from submission to its completion.
        cached_bytes_before: bytes of the previous file in the page cache; `None` if unknown.
        cached_bytes_after: bytes of the closed file in the page cache; `None` if unknown.
        notes: fallbacks, each with its cause.
    """

    bytes: int
    files: int
    digest: str
    effective: Mapping[str, str]
    threads: int
    phases_s: Mapping[str, float]
    elapsed_s: float
    synced_s: float
    first_done_s: float
    operations: int
    repeated: int
    short: int
    achieved_depth: float
    latency_s: Mapping[str, float]
    cached_bytes_before: int | None
    cached_bytes_after: int | None
    notes: tuple[str, ...]

    @property
    def rate(self) -> float:
        """Bytes per second until the file was synced as requested."""
        return self.bytes / self.synced_s if self.synced_s else 0.0


class Generator:
    """A generator of seeded bytes. It contains no buffer, and several threads may use it at once."""

    __slots__ = ("_native",)

    def __init__(
        self, seed: int, *, dedup: float | str | None = None, compress: float | str | None = None
    ) -> None:
        self._native = _native.Generator(seed, _text(dedup), _text(compress))

    def __repr__(self) -> str:
        return f"<Generator {self.identity}>"

    @property
    def identity(self) -> str:
        """Text that is equal if and only if the bytes are equal."""
        return self._native.identity

    @property
    def path(self) -> str:
        """The implementation for this processor: ``portable``, ``aes-ni`` or ``vaes``, with the same bytes."""
        return self._native.path

    def fill(self, buffer: AnyBuffer, offset: int = 0, *, threads: int = 1) -> None:
        """Fill a buffer with the bytes from `offset` (modulo 2⁶⁴) on, with up to `threads` threads.

        The buffer is writable and contiguous: bytearray, memoryview, numpy array or mmap. Nothing is copied,
        and the GIL is released. Ctrl-C ends a long fill within 64 MiB and leaves the rest of the buffer as it was.

        Raises:
            TypeError: `buffer` is no buffer.
            BufferError: it is read-only or not contiguous.
        """
        self._native.fill(buffer, offset, threads)

    def validate(self, buffer: AnyBuffer, offset: int = 0) -> Differences:
        """Compare a contiguous buffer with the bytes from `offset` on. It raises the errors of `fill`."""
        return Differences(*self._native.validate(buffer, offset))


def write_file(
    path: str | PathLike[str],
    size: int,
    *,
    files: int = 1,
    seed: int = 42,
    dedup: float | str | None = None,
    compress: float | str | None = None,
    strategy: str = "streaming",
    backend: str | None = None,
    buffer_size: int = MIB,
    buffer_count: int | None = None,
    queue_depth: int = 4,
    threads: int = 1,
    direct: Literal["off", "try", "require"] = "off",
    durability: str = "none",
    progress: Callable[[int], object] | None = None,
) -> WriteStats:
    """Write `size` seeded bytes, and return what was observed.

    An earlier file is removed first. No file has its name before all are complete, so Ctrl-C, an exception of
    `progress`, a full disk or `kill -9` leave no file that looks complete.

    Args:
        path: the file; with several files, the start of their names: ``path.0``, ``path.1``, …
        size: bytes of all files together.
        files: number of files. They share no data.
        seed: see the module, like `dedup` and `compress`.
        dedup: see the module.
        compress: see the module.
        strategy: where contents are produced and who writes them; `dgen describe` lists the strategies.
        backend: system calls: ``uring``, ``pwrite`` or ``mmap``; default: that of the strategy.
        buffer_size: size of a buffer, and of a block of the file.
        buffer_count: buffers of all threads together; default: `queue_depth` × `threads`, at least 2. With fewer,
            queues are not full.
        queue_depth: most blocks that a thread has in flight.
        threads: number of writers.
        direct: use of O_DIRECT; with ``try``, `notes` contain why it was not possible.
        durability: ``none``, ``end-fsync``, ``fdatasync``, ``fdatasync:N`` (every N blocks) or ``dsync``.
        progress: function that is called with the bytes written so far, about twenty times per second.
    """
    observed = _native.write_file(
        path,
        size,
        files=files,
        seed=seed,
        dedup=_text(dedup),
        compress=_text(compress),
        strategy=strategy,
        backend=backend,
        buffer_size=buffer_size,
        buffer_count=max(2, queue_depth * threads) if buffer_count is None else buffer_count,
        queue_depth=queue_depth,
        threads=threads,
        direct=direct,
        durability=durability,
        progress=progress,
    )
    return WriteStats(**{**observed, "notes": tuple(observed["notes"])})


def read_and_validate(
    path: str | PathLike[str],
    *,
    files: int = 1,
    seed: int = 42,
    dedup: float | str | None = None,
    compress: float | str | None = None,
    size: int | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Validation:
    """Compare what `write_file` wrote with its data, which is generated again.

    `size` is the expected size of all files together, any size if `None`. There is one reader per processor if
    `threads` is `None`. `progress` is called with the bytes compared so far.
    """
    expected, actual, first_file, differences = _native.read_and_validate(
        path,
        files=files,
        seed=seed,
        dedup=_text(dedup),
        compress=_text(compress),
        size=size,
        threads=threads,
        progress=progress,
    )
    return Validation(expected, actual, Differences(*differences), first_file)


def cached_bytes(path: str | PathLike[str]) -> int | None:
    """Return the bytes of a file in the page cache: 0 without a file, `None` if unknown."""
    return _native.cached_bytes(path)


def direct_alignment(path: str | PathLike[str]) -> tuple[int, int]:
    """Return the alignments in bytes of memory and offsets that `O_DIRECT` requires on a file.

    Raises `OSError`: the file system does not support the flag, or does not report it.
    """
    return _native.direct_alignment(path)


def address(buffer: AnyBuffer) -> int:
    """Return the address of the first byte of a contiguous buffer."""
    return _native.address(buffer)


def pages(buffer: AnyBuffer) -> str | None:
    """Return the pages that the memory of a contiguous buffer has: ``huge``, ``small`` or ``mixed``.

    `None`: nothing of it is in memory, or the kernel does not report its pages.
    """
    return _native.pages(buffer)


def _text(setting: float | str | None) -> str | None:
    return setting if setting is None or isinstance(setting, str) else repr(setting)
