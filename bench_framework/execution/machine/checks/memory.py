"""Checks of memory: free memory, swap, huge pages."""

from __future__ import annotations

import re
from typing import Final

from bench_framework.execution.machine.checks.check import Check, Machine, ok, warn
from bench_framework.units import format_size

SCARCE_BYTES: Final = 1 << 30


def free(machine: Machine) -> Check:
    """Check the available memory; inputs must stay in the page cache between rounds."""
    available = _field(machine, "MemAvailable")
    if available is None:
        return warn("not reported", "it is unknown if inputs fit into the page cache")
    figure = f"{format_size(available)} available"
    if available < SCARCE_BYTES:
        meaning = "inputs may not stay in the page cache and may be read from the disk repeatedly"
        return warn(figure, meaning, "stop other programs, or use smaller inputs")
    return ok(figure)


def swap(machine: Machine) -> Check:
    """Check the swap in use: a page that was swapped out is read back while a program is timed."""
    total, unused = _field(machine, "SwapTotal"), _field(machine, "SwapFree")
    if not total:
        return ok("none")
    used = total - (unused or 0)
    if used > 0:
        meaning = "pages may be read from the disk while a program is timed"
        fix = "swapoff -a && swapon -a, or free memory"
        return warn(f"{format_size(used)} of {format_size(total)} used", meaning, fix)
    return ok(f"{format_size(total)}, unused")


def huge_pages(machine: Machine) -> Check:
    """Read the setting of transparent huge pages, which affects allocators differently."""
    text = machine.read(machine.sys / "kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", text or "")
    if match is None:
        return ok("not reported")
    meaning = "peak memory grows in steps of 2 MiB" if match[1] == "always" else ""
    return ok(match[1], meaning)


def _field(machine: Machine, name: str) -> int | None:
    match = re.search(
        rf"^{name}:\s+(\d+) kB", machine.read(machine.proc / "meminfo") or "", re.MULTILINE
    )
    return int(match[1]) * 1024 if match else None
