"""The filesystem of a path: its type, from /proc/self/mountinfo, and its free space."""

import re
import shutil
from pathlib import Path
from typing import Final

MOUNTINFO: Final = Path("/proc/self/mountinfo")
FIELDS: Final = 5
"""Number of fields up to the mount point, in the part before the dash."""
IN_MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


def kind_of(path: Path, text: str) -> str | None:
    """Return the type of the filesystem of an absolute, resolved path, from a mountinfo text (proc(5)).

    The longest mount point counts. A later mount covers an earlier one.
    """
    longest, kind = 0, None
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if len(left) >= FIELDS and right:
            # The kernel writes spaces and backslashes in mount points as octal.
            at = _ESCAPE.sub(lambda match: chr(int(match[1], 8)), left[4])
            if path.is_relative_to(at) and len(at) >= longest:
                longest, kind = len(at), right[0]
    return kind


def filesystem_of(path: Path) -> str | None:
    """Return the type of the filesystem of a path, which need not exist."""
    try:
        text = MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    return kind_of(path.resolve(), text)


def existing(path: Path) -> Path:
    """Return the path itself, or the nearest folder above it that exists."""
    path = path.absolute()
    return next(folder for folder in (path, *path.parents) if folder.exists())


def free_bytes(path: Path) -> int:
    """Return the free space of the filesystem of a path, which need not exist."""
    return shutil.disk_usage(existing(path)).free
