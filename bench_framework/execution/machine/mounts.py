"""The filesystem of a path: its type, from /proc/self/mountinfo, and its free space."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MOUNTINFO: Final = Path("/proc/self/mountinfo")
FIELDS: Final = 5
"""Number of fields up to the mount point, in the part before the dash."""
IN_MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_ESCAPE: Final = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """A mounted filesystem: mount point, type such as ``ext4``, and device or source."""

    at: str
    kind: str
    source: str


def read_mounts(text: str) -> tuple[Mount, ...]:
    """Parse a mountinfo text (proc(5)) in its order: a later mount covers an earlier one."""
    mounts = []
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if dash and len(left) >= FIELDS and len(right) > 1:
            mounts.append(Mount(_unescape(left[4]), right[0], _unescape(right[1])))
    return tuple(mounts)


def mount_of(path: Path, mounts: tuple[Mount, ...]) -> Mount | None:
    """Return the mount of an absolute, resolved path: the longest prefix, the last of equals."""
    best: Mount | None = None
    for mount in mounts:
        if path.is_relative_to(mount.at) and (best is None or len(mount.at) >= len(best.at)):
            best = mount
    return best


def filesystem_of(path: Path) -> str | None:
    """Return the type of the filesystem of a path, which need not exist."""
    try:
        mounts = read_mounts(MOUNTINFO.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return None
    mount = mount_of(path.resolve(), mounts)
    return mount.kind if mount else None


def existing(path: Path) -> Path:
    """Return the path itself, or the nearest folder above it that exists."""
    path = path.absolute()
    return next(folder for folder in (path, *path.parents) if folder.exists())


def free_bytes(path: Path) -> int:
    """Return the free space of the filesystem of a path, which need not exist."""
    return shutil.disk_usage(existing(path)).free


def _unescape(text: str) -> str:
    # The kernel writes spaces and backslashes in mount points as octal.
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)
