"""The page cache of an input: emptied or filled before a run, and seen to be so.

What is asked of the kernel is checked by asking what came of it: `InputPages.resident` before the run, and the
bytes that came from the device during it. `judged` makes a state of both, and only a state that was seen is told.
"""

from __future__ import annotations

import ctypes
import os
import stat
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.execution import folders, mounts
from bench_framework.model.run import PageCache
from bench_framework.units import format_percent, format_size

if TYPE_CHECKING:
    from bench_framework.model.plan import CacheState

DROP_CACHES: Final = Path("/proc/sys/vm/drop_caches")
PAGECACHE: Final = "1\n"
"""Page cache only: dentries and inodes are part of the system, not of the input."""
MEMINFO: Final = Path("/proc/meminfo")
COLD_SHARE: Final = 0.01
"""Of an input's pages: with more of them in memory a run is not called cold. Reading a hundredth from memory saves a
hundredth of the time at most, which is the smallest effect that gets a word (METHOD 4)."""
WARM_SHARE: Final = 0.99
"""Of an input's pages: with fewer of them in memory a run is not called warm."""
FROM_DEVICE: Final = 0.9
"""Of the pages that a cold run brought into memory: so much must have come from the device on its own account.
Less, and another process has read the file at the same time. It is no sharper because readahead rounds to its window
and because a hole in a file costs no read."""
NOT_TOLD: Final = (
    "the kernel does not tell which of its pages are in memory: it does so for files that are one's own or may be "
    "written"
)
STEP: Final = 1 << 20
SYS_CACHESTAT: Final = 451
"""The same number on every architecture (Linux 6.5)."""
_ODD: Final = bytes(byte & 1 for byte in range(256))
"""mincore(2): the lowest bit of a byte says that the page is in memory, the others are reserved."""


@dataclass(slots=True)
class InputPages:
    """The pages of an input: of one file, or of every file of a folder.

    The list of files is made once: an input that changes while it is measured ends the measuring (BX420).
    """

    path: Path
    _files: list[tuple[str, int]] = field(default_factory=list)
    _in_vain: set[str] = field(default_factory=set)
    """What was tried and changed nothing: dropping every cache of the machine, reading more than it holds."""

    def __post_init__(self) -> None:
        for file in folders.files(self.path):
            found = file.stat()
            if stat.S_ISREG(found.st_mode):
                self._files.append((str(file), found.st_size))

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(size for _, size in self._files)

    def drop(self) -> None:
        """Ask the kernel to forget the pages: by advice per file, and by drop_caches where we may and must.

        Dirty pages cannot be dropped, so they are written first. Whether it worked is `resident`'s to say.

        Raises:
            OSError: a file is gone or may not be read.
        """
        for name, _ in self._files:
            fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)
        if self.resident() == 0 or "drop" in self._in_vain:
            return
        if mounts.filesystem_of(self.path) in mounts.IN_MEMORY:
            self._in_vain.add("drop")
            return
        # It empties the cache of every other program too, this one's among them: only where advice was not enough,
        # and never again where it did not help either.
        try:
            DROP_CACHES.write_text(PAGECACHE, encoding="ascii")
        except OSError:
            self._in_vain.add("drop")
        if (left := self.resident()) is None or left > COLD_SHARE:
            self._in_vain.add("drop")

    def fill(self) -> None:
        """Read what is not in memory yet, unless memory cannot hold it.

        Raises:
            OSError: a file is gone or may not be read.
        """
        found = self.resident()
        if found is None or found >= WARM_SHARE or "fill" in self._in_vain:
            return
        if self.size < available_bytes():
            buffer = bytearray(STEP)
            for name, _ in self._files:
                with open(name, "rb", buffering=0) as file:  # noqa: PTH123 -- a name, not a path: there may be many
                    while file.readinto(buffer):
                        pass
        if (found := self.resident()) is None or found < WARM_SHARE:
            self._in_vain.add("fill")

    def resident(self) -> float | None:
        """Share of the pages in memory, 0 to 1; `None` if the kernel does not tell us.

        Raises:
            OSError: a file is gone or may not be read.
        """
        page = os.sysconf("SC_PAGE_SIZE")
        all_pages = sum(-(-size // page) for _, size in self._files)
        there = 0
        for name, size in self._files:
            found = resident_pages(name, size, page)
            if found is None:
                return None
            there += found
        return there / all_pages if all_pages else 0.0

    def why_kept(self) -> str:
        """Why pages may stay in memory after they were dropped, in words."""
        kind = mounts.filesystem_of(self.path)
        if kind in mounts.IN_MEMORY:
            return f"{kind} keeps its files in memory"
        if "drop" in self._in_vain and os.geteuid() != 0:
            return "another process maps or reads it, and only root may drop every cache"
        return "another process maps or reads it"


def around(pages: InputPages, asked: CacheState) -> PageCache:
    """Bring an input's pages into the state that is asked for, and see whether they are; `unknown` asks for nothing."""
    try:
        if asked == "cold":
            pages.drop()
        elif asked == "warm":
            pages.fill()
        return PageCache("unknown", pages.resident())
    except OSError as error:
        return PageCache("unknown", why=f"{error.filename or pages.path}: {error.strerror}")


def judged(
    pages: InputPages, asked: CacheState, seen: PageCache, device_bytes: int | None
) -> PageCache:
    """The state of the page cache that a run really had.

    Args:
        pages: of the input.
        asked: the state that the scenario asks for.
        seen: from `around`, just before the run.
        device_bytes: what the run's processes read from a device, by the kernel's account of them.
    """
    if seen.why or asked == "unknown":
        return seen
    before = seen.resident_before
    if asked == "warm":
        why = _not_warm(before)
        return PageCache("unknown" if why else "warm", before, why=why)
    try:
        after = pages.resident()
    except OSError:
        after = None
    why = _not_cold(pages.size, before, after, device_bytes)
    if before is not None and before > COLD_SHARE:
        why += f": {pages.why_kept()}"
    return PageCache("unknown" if why else "cold", before, after, why)


def _not_warm(before: float | None) -> str:
    if before is None:
        return NOT_TOLD
    return (
        ""
        if before >= WARM_SHARE
        else f"only {format_percent(before, decimals=0)} of it was in memory"
    )


def _not_cold(
    size: int, before: float | None, after: float | None, device_bytes: int | None
) -> str:
    """Why a run that was to be cold is not called so; empty if it is."""
    if before is None or after is None:
        return NOT_TOLD
    if before > COLD_SHARE:
        return f"{format_percent(before, decimals=0)} of it stayed in memory"
    if not device_bytes:
        return "the run read nothing from a device"
    brought = max(0.0, after - before) * size
    if device_bytes < FROM_DEVICE * brought:
        return (
            f"the run read {format_size(device_bytes)} from the device, and {format_size(brought)} of it came into "
            "memory: another process read it too"
        )
    return ""


def available_bytes() -> int:
    """Memory that can be had without swapping."""
    for line in MEMINFO.read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


class _Range(ctypes.Structure):
    _fields_ = (("off", ctypes.c_uint64), ("len", ctypes.c_uint64))


class _Stat(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("cache", "dirty", "writeback", "evicted", "recent")
    )


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    return libc


def resident_pages(name: str, size: int, page: int) -> int | None:
    """Pages of a file in memory: by cachestat(2), a third of mincore(2)'s time, or by that before Linux 6.5.

    Returns:
        `None` if the kernel does not tell.

    Raises:
        OSError: it is gone or may not be read.
    """
    if size == 0:
        return 0
    fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = by_cachestat(fd)
        if found is None:
            found = by_mincore(fd, size, page)
    finally:
        os.close(fd)
    # A large folio may reach beyond the end of the file.
    return None if found is None else min(found, -(-size // page))


def by_cachestat(fd: int) -> int | None:
    """Pages in memory; `None` where the kernel has no such call, or not for us (another user's file)."""
    whole, found = _Range(0, 0), _Stat()
    if _libc().syscall(SYS_CACHESTAT, fd, ctypes.byref(whole), ctypes.byref(found), 0) != 0:
        return None
    return int(found.cache)


def by_mincore(fd: int, size: int, page: int) -> int | None:
    """Pages in memory; `None` where the kernel does not tell.

    mincore(2) calls every page of a file resident that we neither own nor may write: that would be a false proof.
    """
    own = os.fstat(fd).st_uid == os.geteuid()
    if not own and not os.access(f"/proc/self/fd/{fd}", os.W_OK, effective_ids=True):
        return None
    libc, count = _libc(), -(-size // page)
    address = libc.mmap(None, size, 1, 1, fd, 0)  # PROT_READ, MAP_SHARED
    if address in {None, ctypes.c_void_p(-1).value}:
        return None
    try:
        vector = ctypes.create_string_buffer(count)
        if libc.mincore(address, size, vector) != 0:
            return None
    finally:
        libc.munmap(address, size)
    return vector.raw.translate(_ODD).count(1)
