"""The parts of a command's memory at its peak, sampled from outside while it runs.

The kernel keeps a peak of the resident set (``VmHWM``) and not of its parts. A timed run cannot be
sampled without disturbing it, so this happens in a run whose time is not used. ``status`` is read
and not ``smaps_rollup``, which walks all pages under the lock of the program's address space.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

PARTS: Final = {"anon_bytes": ("RssAnon",), "file_bytes": ("RssFile", "RssShmem")}
"""Metric → fields of /proc/PID/status. Files of a tmpfs are counted as shared memory."""
NEAR_PEAK: Final = 0.95
"""Share of the peak that a sample must reach, else the parts at the peak are unknown."""
SCAN_S: Final = 0.05
"""Interval at which the processes of the command are listed again."""
_PROC: Final = Path("/proc")


class PeakMemory:
    """Memory of the largest process of a command, at the moment when it was largest."""

    def __init__(self, inherited: int = 0) -> None:
        """Start without samples.

        Args:
            inherited: peak of the process that starts the command, in bytes. The kernel reports it
                as ``ru_maxrss`` of a smaller command.
        """
        self._inherited, self._highest = inherited, 0
        self._largest: dict[str, int] = {}
        self._pids: list[int] = []
        self._scan_at = 0.0

    def sample(self, leader: int) -> None:
        """Read the memory of every process in the session of `leader`."""
        now = time.monotonic()
        if now >= self._scan_at:
            self._pids, self._scan_at = _session(leader), now + SCAN_S
        for pid in self._pids:
            self.add(memory_of(pid))

    def add(self, memory: dict[str, int]) -> None:
        """Add one sample of one process, as `memory_of` returns it."""
        self._highest = max(self._highest, memory.get("VmHWM", 0))
        if memory.get("VmRSS", 0) > self._largest.get("VmRSS", 0):
            self._largest = memory

    def share(self, maxrss: int) -> float:
        """Return the largest sample as a share of the peak; 0 without samples.

        `maxrss` is ``ru_maxrss`` of the command in bytes.
        """
        peak = max(self._highest, maxrss if maxrss > self._inherited else 0)
        return self._largest.get("VmRSS", 0) / peak if peak else 0.0

    def parts(self) -> dict[str, float]:
        """Return the value of each metric of `PARTS` in the largest sample, in bytes."""
        return {
            metric: float(sum(self._largest.get(key, 0) for key in keys))
            for metric, keys in PARTS.items()
        }


def memory_of(pid: int) -> dict[str, int]:
    """Return the fields of ``/proc/PID/status`` in kB as bytes; empty for an ended process."""
    try:
        text = (_PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    fields = (line.split() for line in text.splitlines() if line.endswith(" kB"))
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in fields}


def _session(leader: int) -> list[int]:
    """Return the processes of a session; the launcher gives each command its own."""
    pids = []
    for entry in _PROC.iterdir():
        try:
            text = (entry / "stat").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        # The name in parentheses may contain any text, so fields are counted from its end.
        if text and int(text[text.rindex(b")") + 2 :].split()[3]) == leader:
            pids.append(int(entry.name))
    return pids
