"""Memory: how much is free, and what the kernel does with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from bench_framework.execution.checks.check import Check
from bench_framework.units import format_size

if TYPE_CHECKING:
    from bench_framework.execution.checks.check import Place

SCARCE_BYTES: Final = 1 << 30


def free(place: Place) -> Check:
    """Available memory; inputs must stay in the page cache between rounds."""
    available = _field(place, "MemAvailable")
    if available is None:
        return Check("memory", "warn", "not visible", "whether inputs stay in the page cache is unknown")
    figure = f"{format_size(available)} available"
    if available < SCARCE_BYTES:
        return Check(
            "memory",
            "warn",
            figure,
            "inputs may be read from the disk again and again",
            "stop other programs",
        )
    return Check("memory", "ok", figure)


def swap(place: Place) -> Check:
    """Swap in use: a program that was swapped out comes back while it is timed."""
    total, unused = _field(place, "SwapTotal"), _field(place, "SwapFree")
    if not total:
        return Check("swap", "ok", "none")
    used = total - (unused or 0)
    if used > 0:
        return Check(
            "swap",
            "warn",
            f"{format_size(used)} of {format_size(total)} used",
            "pages may be fetched from the disk while a program is timed",
            "swapoff -a && swapon -a, or free memory",
        )
    return Check("swap", "ok", f"{format_size(total)}, unused")


def huge_pages(place: Place) -> Check:
    """Transparent huge pages: which allocators profit depends on it, so it is told."""
    said = place.read(place.sys / "kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", said or "")
    if match is None:
        return Check("huge pages", "ok", "not visible")
    meaning = "peak memory comes in steps of 2 MiB" if match[1] == "always" else ""
    return Check("huge pages", "ok", match[1], meaning)


def _field(place: Place, name: str) -> int | None:
    match = re.search(rf"^{name}:\s+(\d+) kB", place.read(place.proc / "meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else None
