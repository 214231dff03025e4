"""Running processes: whether they exist, their session, memory and CPU time in /proc (proc(5))."""

import contextlib
import os
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench_framework.foreign import text_of

PROC: Final = Path("/proc")
TOOL: Final = "wait4, /proc/PID/io, /proc/PID/status, /proc/PID/task"
"""Name of what counts in a run of kernel counters: the launcher, and this module."""
PEAK_UNIT_BYTES: Final = 1024
"""Unit of ``ru_maxrss`` in getrusage(2)."""
TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
_PARENT, _SESSION, _TIMES = 1, 3, slice(11, 15)
"""Places of fields of /proc/PID/stat after the name: parent, session, and CPU times in ticks."""
PARTS: Final = {"anon_bytes": ("RssAnon", "RssShmem"), "file_bytes": ("RssFile",)}
"""Metric → fields of /proc/PID/status. Shared memory, such as a tmpfs, cannot be dropped like pages of files."""


def exists(pid: int) -> bool:
    """Return True if there is a process of this number, of any user."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return pid > 0


def memory_of(pid: int) -> dict[str, int]:
    """Return the fields of ``/proc/PID/status`` in kB as bytes; empty for an ended process."""
    lines = text_of(PROC / str(pid) / "status").splitlines()
    fields = (line.split() for line in lines if line.endswith(" kB"))
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in fields}


def session_of(leader: int) -> list[int]:
    """Return the processes of a session; the launcher gives each command its own."""
    return [pid for pid, fields in _processes().items() if int(fields[_SESSION]) == leader]


@dataclass(frozen=True, slots=True)
class Usage:
    """The CPU time and memory that a process and its descendants have used until now.

    Attributes:
        cpu_s: CPU time in seconds. That of living processes is exact to the nanosecond. That of children
            that ended and were waited for is counted in ticks of 10 ms.
        user_ticks: the part in user code, in ticks. `sys_ticks` is the part in the kernel.
        peak_bytes: sum of the largest resident sets of the living processes, each since its start or
            the last `reset_peaks`. A page that several share counts in each of them.
    """

    cpu_s: float
    user_ticks: int
    sys_ticks: int
    peak_bytes: int


def usage_below(parent: int) -> Usage:
    """Return the usage of all descendants of a process, also of those in other sessions."""
    cpu_s, user, kernel, peak = 0.0, 0, 0, 0
    for pid, fields in _below(parent).items():
        own_user, own_kernel, waited_user, waited_kernel = map(int, fields[_TIMES])
        user, kernel = user + own_user + waited_user, kernel + own_kernel + waited_kernel
        # clock_getcpuclockid(3): the clock of a process has this number.
        with contextlib.suppress(OSError):
            cpu_s += time.clock_gettime(~pid << 3 | 2)
        cpu_s += (waited_user + waited_kernel) * TICK_S
        peak += memory_of(pid).get("VmHWM", 0)
    return Usage(cpu_s, user, kernel, peak)


def reset_peaks(parent: int) -> bool:
    """Let the largest resident sets of all descendants of a process start again (proc(5), clear_refs).

    Returns:
        False if one could not be reset.
    """
    reset = True
    for pid in _below(parent):
        try:
            (PROC / str(pid) / "clear_refs").write_bytes(b"5")
        except (FileNotFoundError, ProcessLookupError):  # it has ended
            continue
        except OSError:
            reset = False
    return reset


def has_descendants(parent: int) -> bool:
    """Return True if a process started processes that exist, directly or by one that exists."""
    return bool(_below(parent))


def _below(parent: int) -> dict[int, list[bytes]]:
    """Return the descendants of a process with their fields of ``/proc/PID/stat``."""
    every, below = _processes(), dict[int, list[bytes]]()
    generation: Collection[int] = {parent}
    while generation:
        children = {pid: f for pid, f in every.items() if int(f[_PARENT]) in generation}
        below |= children
        generation = children
    return below


def _processes() -> dict[int, list[bytes]]:
    """Return the fields of ``/proc/PID/stat`` after the name of each process."""
    processes = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := fields_of(entry)):
            processes[int(entry.name)] = fields
    return processes


def fields_of(folder: Path) -> list[bytes]:
    """Return the fields of the file ``stat`` of a process or thread after its name; none if it has ended."""
    try:
        text = (folder / "stat").read_bytes()
    except OSError:
        return []
    # The name in parentheses may contain any text, so fields are counted from its end.
    return text[text.rfind(b")") + 2 :].split()
