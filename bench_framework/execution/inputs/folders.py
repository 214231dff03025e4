"""Files, size and digest of an input that may be a folder."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from bench_framework.execution.worker import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def files(path: Path) -> Iterator[Path]:
    """Yield the file itself, or every file below a folder in the byte order of their names.

    Raises:
        OSError: a folder cannot be listed.
    """
    if not path.is_dir():
        yield path
        return
    paths: list[Path] = []
    for folder, _, names in os.walk(path, onerror=_raise):
        paths += [Path(folder, name) for name in names]
    yield from sorted(paths, key=lambda file: os.fsencode(file.relative_to(path)))


def size(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    return sum(file.stat().st_size for file in files(path))


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the `sha256sum` listing of a folder sorted by name."""
    if not path.is_dir():
        return sha256_of(path)
    listing = hashlib.sha256()
    for file in files(path):
        name = os.fsencode(file.relative_to(path))
        listing.update(f"{sha256_of(file)}  ".encode() + name + b"\n")
    return listing.hexdigest()


def stamp(path: Path) -> str:
    """Return a digest over size, mtime and inode of every file, which changes if a file does.

    Raises:
        OSError: the path is gone.
    """
    hasher = hashlib.sha256()
    for file in files(path):
        status = file.stat()
        if not stat.S_ISREG(status.st_mode) and path.is_dir():
            continue
        name = os.fsencode(file.relative_to(path)) if file != path else b""
        hasher.update(name + f"\0{status.st_size} {status.st_mtime_ns} {status.st_ino}\n".encode())
    return hasher.hexdigest()


def _raise(error: OSError) -> None:
    raise error
