"""Seeded data: filled into any buffer, written to files, and compared with what must be there.

::

    from bench_framework import dgen

    buffer = bytearray(1 << 20)
    generator = dgen.Generator(42, compress=2)
    generator.fill(buffer, offset=1 << 40)
    assert generator.validate(buffer, offset=1 << 40).count == 0

    stats = dgen.write_file("data", 10 << 30, seed=42, direct="try", durability="end-fsync")
    assert dgen.read_and_validate("data", seed=42).is_right

The bytes are a pure function of seed, settings and offset, the same on every machine. Sizes and offsets are bytes,
durations seconds. `dedup` and `compress` are a ratio of at least 1 with up to three decimals, or text:

- ``compress="2"`` or ``"1.5@128KiB"``: every granule (4096 bytes unless another size follows the ``@``) compresses
  alone by that much with LZ4.
- ``dedup="2"`` or ``"2.5@64KiB,set:16"``: units (4096 bytes unless …) ÷ different units, and which earlier unit a copy
  is one of: ``uniform`` (any), ``adjacent`` (the one before) or ``set:N`` (one of N).
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
    """numpy says that its arrays are buffers only to a checker of Python 3.12."""

__all__ = [
    "Differences",
    "Generator",
    "Validation",
    "WriteStats",
    "cached_bytes",
    "direct_alignment",
    "read_and_validate",
    "write_file",
]

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Differences:
    """The result of comparing bytes."""

    compared: int
    """Bytes compared."""
    count: int
    """Bytes that are not what they must be."""
    first: int | None
    """The lowest offset of a difference; None without a difference."""
    expected: bytes
    """Expected bytes from that offset, up to 16."""
    actual: bytes
    """Actual bytes from that offset."""


@dataclass(frozen=True, slots=True)
class Validation:
    """A file, or several, compared with what they must hold."""

    size_expected: int
    size_actual: int
    differences: Differences
    """In the bytes that both have; `first` counts in the first file that has one."""
    first_file: int | None = None
    """The number of that file; None without a difference."""

    @property
    def is_right(self) -> bool:
        """Return whether the file is what it must be."""
        return self.differences.count == 0 and self.size_expected == self.size_actual


@dataclass(frozen=True, slots=True)
class WriteStats:
    """The observed facts about writing a file."""

    bytes: int
    """Size of the files after closing; of a strategy that writes nothing, the bytes produced."""
    files: int
    """Files."""
    digest: str
    """SHA-256 over what the contents are, which bytes completions reported, and the size; hexadecimal."""
    effective: Mapping[str, str]
    """Actual value of each axis: strategy, backend, direct, durability, …"""
    threads: int
    """Threads that finished at least one block."""
    phases_s: Mapping[str, float]
    """Phase to seconds, of phases that all threads share summed over them."""
    elapsed_s: float
    """From the first contents to the last completion."""
    synced_s: float
    """From the first contents until the file was synced as asked."""
    first_done_s: float
    """From the first contents to the first completion."""
    operations: int
    """Operations that completed."""
    repeated: int
    """Completions that asked for a repetition."""
    short: int
    """Completions with fewer bytes than asked for."""
    achieved_depth: float
    """Blocks under way, mean over the elapsed time."""
    latency_s: Mapping[str, float]
    """``p50``, ``p90``, ``p99``, ``p999`` and ``max`` of a block, from submission until its completion was seen."""
    cached_bytes_before: int | None
    """Bytes of the previous file in the page cache; None if the kernel does not report it."""
    cached_bytes_after: int | None
    """Bytes of the file in the page cache after closing."""
    notes: tuple[str, ...]
    """Fallbacks, each with its cause."""

    @property
    def rate(self) -> float:
        """Bytes per second until the file was synced as asked."""
        return self.bytes / self.synced_s if self.synced_s else 0.0


class Generator:
    """Seeded bytes of any length: a pure function of settings and offset.

    Creating one is cheap. It contains no buffer, and many threads may use it at once.

    Args:
        seed: 0 to 2⁶⁴ − 1; different seeds share nothing.
        dedup: units ÷ different units, as the module says.
        compress: bytes ÷ compressed bytes of each granule, as the module says.

    Raises:
        ValueError: the settings are no settings, contradict each other, or ask for what cannot be had.
        OverflowError: `seed` does not fit 64 bits.
    """

    __slots__ = ("_native",)

    def __init__(
        self, seed: int, *, dedup: float | str | None = None, compress: float | str | None = None
    ) -> None:
        self._native = _native.Generator(seed, _text(dedup), _text(compress))

    def __repr__(self) -> str:
        return f"<Generator {self.identity}>"

    @property
    def identity(self) -> str:
        """Text that is equal if and only if the bytes are."""
        return self._native.identity

    @property
    def path(self) -> str:
        """The implementation for this processor: ``portable``, ``aes-ni`` or ``vaes``. All compute the same bytes."""
        return self._native.path

    def fill(self, buffer: AnyBuffer, offset: int = 0, *, threads: int = 1) -> None:
        """Fill a buffer with the bytes from `offset` on, in place.

        Any writable, contiguous buffer: bytearray, memoryview, numpy array, mmap. Nothing is copied and the GIL is
        released, so several threads may fill their pieces at once. Signals are looked at every 64 MiB of a thread:
        Ctrl-C ends a long fill and leaves the rest of the buffer as it was. Offsets count modulo 2⁶⁴.

        Args:
            buffer: the buffer; all its bytes are filled.
            offset: position of its first byte in the data.
            threads: how many fill it; short buffers take fewer.

        Raises:
            TypeError: `buffer` is no buffer.
            BufferError: it is read-only or not contiguous.
            ValueError: `threads` is 0.
            OverflowError: `threads` is negative; or `offset` is, or does not fit 64 bits.
        """
        self._native.fill(buffer, offset, threads)

    def validate(self, buffer: AnyBuffer, offset: int = 0) -> Differences:
        """Compare a contiguous buffer with the bytes from `offset` on; the GIL is released.

        Raises:
            TypeError: `buffer` is no buffer.
            BufferError: it is not contiguous.
            OverflowError: `offset` is negative or does not fit 64 bits.
        """
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
    """Write a file of `size` seeded bytes, replacing what was there; return what was observed.

    The file has its name only when it is whole; of several, none has its name before all are whole. Ctrl-C, an
    exception of `progress`, a full disk or `kill -9` leave no file that looks complete; the earlier file is
    removed when the writing begins.

    Args:
        path: the file; of several, what their names begin with: ``path.0``, ``path.1``, …
        size: bytes of the file, or of all files together.
        files: how many; they share no bytes. They are shared out among the threads, and those among the files.
        seed: as of `Generator`.
        dedup: as of `Generator`.
        compress: as of `Generator`.
        strategy: when contents are produced and who writes them; `dgen describe` lists them.
        backend: by which calls: ``uring``, ``pwrite`` or ``mmap``; the strategy's own unless one is named.
        buffer_size: bytes of a buffer and of a block of the file.
        buffer_count: buffers of all threads together; fewer than `queue_depth` × `threads` leave places in the queues
            empty. As many as these if None, and at least 4.
        queue_depth: the most blocks that one thread has under way.
        threads: writers.
        direct: whether the page cache is passed by; ``try`` says in `notes` when it could not be.
        durability: ``none``, ``end-fsync``, ``fdatasync``, ``fdatasync:N`` (every N blocks) or ``dsync``.
        progress: called with the bytes written so far: 0 at first, then about twenty times a second, and all of them
            when the file is whole; what it raises is raised here.

    Raises:
        ValueError: an unknown name, or settings that contradict each other.
        OverflowError: a number is negative or does not fit 64 bits.
        OSError: the system refused; with `errno` and `filename` where it gave one.
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
        buffer_count=max(4, queue_depth * threads) if buffer_count is None else buffer_count,
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
    """Compare a file with the data that it was written with; these are made again, not stored.

    Args:
        path: the file; of several, what their names begin with.
        files: as of `write_file`.
        seed: as of `Generator`.
        dedup: as of `Generator`.
        compress: as of `Generator`.
        size: bytes that the file, or all files together, must have; any number if None.
        threads: readers, with 1 MiB each; one per processor if None.
        progress: called with the bytes compared so far.

    Raises:
        ValueError: settings that contradict each other, or `path` is no regular file.
        OverflowError: a number is negative or does not fit 64 bits.
        OSError: a file cannot be read, with `errno` and `filename`; or it was changed meanwhile.
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
    """Return the bytes of a file in the page cache; 0 without a file, None if unknown."""
    return _native.cached_bytes(path)


def direct_alignment(path: str | PathLike[str]) -> tuple[int, int]:
    """To how many bytes memory and offsets must be aligned for `O_DIRECT` on a file.

    Raises:
        OSError: the file system is not known to honour the flag, or does not report it.
    """
    return _native.direct_alignment(path)


def _text(setting: float | str | None) -> str | None:
    """A setting as the native side reads it."""
    return setting if setting is None or isinstance(setting, str) else repr(setting)
