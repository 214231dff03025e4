"""Inputs that may be folders: their files, their size, and digests over names and contents."""

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
    """The file itself, or every file below a folder in the order of their names, as bytes.

    Raises:
        OSError: a folder cannot be listed.
    """
    if not path.is_dir():
        yield path
        return
    found: list[Path] = []
    for folder, _, names in os.walk(path, onerror=_raise):
        found += [Path(folder, name) for name in names]
    yield from sorted(found, key=lambda file: os.fsencode(file.relative_to(path)))


def size(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    return sum(file.stat().st_size for file in files(path))


def digest(path: Path) -> str:
    """SHA-256 of a file; of a folder that of its listing, as `sha256sum` prints it in the order of the names."""
    if not path.is_dir():
        return sha256_of(path)
    listing = hashlib.sha256()
    for file in files(path):
        name = os.fsencode(file.relative_to(path))
        listing.update(f"{sha256_of(file)}  ".encode() + name + b"\n")
    return listing.hexdigest()


def stamp(path: Path) -> str:
    """Equal as long as no file changes its size, its time of change or its inode, none comes and none goes.

    Raises:
        OSError: the path is gone.
    """
    seen = hashlib.sha256()
    for file in files(path):
        found = file.stat()
        if not stat.S_ISREG(found.st_mode) and path.is_dir():
            continue
        name = os.fsencode(file.relative_to(path)) if file != path else b""
        seen.update(name + f"\0{found.st_size} {found.st_mtime_ns} {found.st_ino}\n".encode())
    return seen.hexdigest()


def _raise(error: OSError) -> None:
    raise error
