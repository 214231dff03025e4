"""What benchctl keeps on a machine: builds, binaries, corpora, tools and records, by age and size."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_framework.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

KINDS = ("builds", "binaries", "data", "tools", "records")
FOLDERS = {
    "builds": ("cargo", "builds", "revisions"),
    "binaries": ("binaries",),
    "data": ("data",),
    "tools": ("tools",),
}


@dataclass(frozen=True, slots=True)
class Kept:
    """One thing that can be removed as a whole; it is made again when it is needed, but for a record."""

    kind: str
    path: Path
    size_bytes: int
    age_s: float
    """Since it was last changed."""


def list_kept(
    results: Path, *, kinds: tuple[str, ...] = (), older_s: float = 0.0
) -> tuple[Kept, ...]:
    """What lies in the cache and, only if asked for by name, among the records; the oldest first.

    Raises:
        UsageError: BX105, a kind that is none.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise UsageError(
            f"no kind {', '.join(unknown)}", code="BX105", help=f"kinds: {', '.join(KINDS)}"
        )
    # Records are measurements, not a cache: nobody loses one by asking for "everything".
    wanted = kinds or tuple(kind for kind in KINDS if kind != "records")
    found = [item for kind in wanted for item in _of_kind(kind, results)]
    return tuple(
        sorted((item for item in found if item.age_s >= older_s), key=lambda item: -item.age_s)
    )


def remove_kept(kept: Iterable[Kept]) -> None:
    """Remove them. What another benchctl removed meanwhile is no error."""
    for item in kept:
        if item.path.is_dir():
            shutil.rmtree(item.path, ignore_errors=True)
        else:
            item.path.unlink(missing_ok=True)


def _of_kind(kind: str, results: Path) -> Iterator[Kept]:
    from bench_framework.execution.host import cache_root, file_age_s

    if kind == "records":
        from bench_framework.store.finding import find_records

        paths: list[Path] = find_records(results, imported=True)
    else:
        roots = [cache_root() / name for name in FOLDERS[kind]]
        paths = [path for root in roots if root.is_dir() for path in sorted(root.iterdir())]
    for path in paths:
        yield Kept(kind, path, _size(path), file_age_s(path))


def _size(path: Path) -> int:
    files = (
        [path]
        if path.is_file()
        else [p for p in path.rglob("*") if p.is_file() and not p.is_symlink()]
    )
    return sum(file.stat().st_size for file in files)
