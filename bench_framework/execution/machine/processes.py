"""Running processes: whether they exist, and their session and memory in /proc (proc(5))."""

import os
from pathlib import Path
from typing import Final

from bench_framework.foreign import text_of

PROC: Final = Path("/proc")
TOOL: Final = "wait4, /proc/PID/io, /proc/PID/status, /proc/PID/task"
"""Name of what counts in a run of kernel counters: the launcher, and this module."""
PEAK_UNIT_BYTES: Final = 1024
"""Unit of ``ru_maxrss`` in getrusage(2)."""
PARTS: Final = {"anon_bytes": ("RssAnon",), "file_bytes": ("RssFile", "RssShmem")}
"""Metric → fields of /proc/PID/status. Files of a tmpfs are counted as shared memory."""


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
    pids = []
    for entry in PROC.iterdir():
        try:
            text = (entry / "stat").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        # The name in parentheses may contain any text, so fields are counted from its end.
        if text and int(text[text.rindex(b")") + 2 :].split()[3]) == leader:
            pids.append(int(entry.name))
    return pids
