"""The page cache of an input: dropping it before a cold run, and seeing whether that worked."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path
from typing import Final

DROP_CACHES: Final = Path("/proc/sys/vm/drop_caches")
PAGECACHE: Final = "1\n"
"""Page cache only: dentries and inodes are part of the system, not of the input."""


def drop(path: Path) -> None:
    """Ask the kernel to forget a file's pages: by advice, and for good where we may.

    Dirty pages cannot be dropped, so they are written first. Whether it worked is `resident`'s to say.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
    if resident(path):
        try:
            DROP_CACHES.write_text(PAGECACHE, encoding="ascii")
        except OSError:
            return  # not root, or a container: the caller looks at `resident`


def resident(path: Path) -> float | None:
    """Share of a file's pages in the page cache, 0 to 1; `None` if the kernel does not tell (mincore(2))."""
    size = path.stat().st_size
    if size == 0:
        return 0.0
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Mapped privately and writable only because ctypes wants to know the address of the buffer.
        with mmap.mmap(fd, size, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE) as pages:
            count = -(-size // mmap.PAGESIZE)
            vector = (ctypes.c_ubyte * count)()
            view = (ctypes.c_ubyte * size).from_buffer(pages)
            try:
                address = ctypes.c_void_p(ctypes.addressof(view))
                if libc.mincore(address, ctypes.c_size_t(size), vector) != 0:
                    return None
            finally:
                del view
            return sum(byte & 1 for byte in bytes(vector)) / count
    finally:
        os.close(fd)
