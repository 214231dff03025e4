"""Samples of what a command waits for, from the states of its threads in /proc (proc(5)).

They need no privilege and no tracer: ``/proc/PID/task/TID/stat`` and ``schedstat`` are readable by all, and ``syscall``
by the user of the command if the kernel permits it to trace the command (ptrace(2)).
"""

import platform
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from bench_framework.execution.machine.processes import PROC, fields_of
from bench_framework.foreign import text_of
from bench_framework.model.metrics import WAITING, WAITS

_X86_64: Final = {
    **dict.fromkeys((202, 449, 455, 72, 73, 65, 220), "lock"),  # futex, fcntl, flock, semop
    **dict.fromkeys((35, 230), "sleep"),  # nanosleep, clock_nanosleep
    **dict.fromkeys((426, 208, 333), "io_uring"),  # io_uring_enter, io_getevents, io_pgetevents
    **dict.fromkeys((61, 247, 56, 58, 435), "child"),  # wait4, waitid, clone, vfork, clone3
}
_AARCH64: Final = {
    **dict.fromkeys((98, 449, 455, 25, 32, 193, 192), "lock"),
    **dict.fromkeys((101, 115), "sleep"),
    **dict.fromkeys((426, 4, 292), "io_uring"),
    **dict.fromkeys((260, 95, 220, 435), "child"),
}
CALLS: Final = {"x86_64": _X86_64, "aarch64": _AARCH64}.get(platform.machine(), {})
"""Number of a system call → what a thread in it waits for. Others wait for events, such as of a socket."""
_TIME_LIMIT: Final = {202: 3, 98: 3, 449: 3, 455: 4, 220: 3, 192: 3}
"""Number of a system call for locks → its argument with a time limit, which is 0 without one: futex, futex_waitv,
futex_wait, semtimedop. What has one of these numbers on the other machine is not for locks."""
ORDER: Final = ("running", "disk", "io_uring", "sleep", "event", "unknown", "lock", "child")
"""If threads wait for several things, the command waits for the first of these: whoever waits for a lock or for a child
waits for another thread, and that one for something else."""
NEEDS_CALLS: Final = ("lock", "sleep", "io_uring")
"""Waits that are known only if the system calls of the threads are."""
MOST_UNKNOWN: Final = 0.05
"""Share of the waiting whose system call may be unknown, such as that of a thread that ends."""


def state_of(task: Path) -> str:
    """Return one of `ORDER` for a thread, given its folder; empty for an ended one."""
    state = next(iter(fields_of(task)), b"")
    if state in {b"", b"R", b"Z", b"X"}:
        return "running" if state == b"R" else ""
    call, *arguments = text_of(task / "syscall").split() or [""]
    if call == "running":  # it went on in the meantime
        return "running"
    if not call and not fields_of(task):  # it ended in the meantime
        return ""
    kind = CALLS.get(int(call), "event") if call.lstrip("-").isdigit() and CALLS else "unknown"
    if kind == "lock" and (limit := _TIME_LIMIT.get(int(call))) and arguments[limit] != "0x0":
        kind = "event"  # such as a condition variable with a time limit, or a thread that parks for some time
    # Uninterruptible are waits for a block device, also of a page fault, and for a child of vfork(2).
    return "disk" if state == b"D" and kind != "child" else kind


class Waits:
    """The time that a command waited, by what it waited for.

    It waits while none of its threads runs or could run. The time since the previous sample counts for the
    state in a sample.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, proc: Path = PROC) -> None:
        self._clock, self._proc = clock, proc
        self._last: float | None = None
        self._seconds = defaultdict[str, float](float)
        self._delays: dict[Path, int] = {}
        """Thread → nanoseconds in which it could have run and had no CPU."""

    def sample(self, pids: Iterable[int]) -> bool:
        """Read the state of every thread of the processes.

        Return False if all wait for a child, which is then not one of these processes.
        """
        tasks = [task for pid in pids for task in self._tasks(pid)]
        states = {state for task in tasks if (state := state_of(task))}
        for task in tasks:
            times = text_of(task / "schedstat").split()
            if len(times) > 1 and times != ["0", "0", "0"]:  # a kernel without these counters
                self._delays[task] = int(times[1])
        now = self._clock()
        kind = next((kind for kind in ORDER if kind in states), "")
        if kind and self._last is not None:
            self._seconds[kind] += now - self._last
        self._last = now
        return kind != "child"

    def _tasks(self, pid: int) -> Iterator[Path]:
        try:
            yield from [*(self._proc / str(pid) / "task").iterdir()]
        except OSError:  # it has ended
            return

    def values(self, elapsed_s: float, cpu_s: float) -> dict[str, float]:
        """Return the metrics of a run with this elapsed time and processor time. Those not known are missing.

        With more than one core in use, the run has no time in which it waited. The samples divide the waiting that
        was not for a core; its total and the waiting for a core are counted by the kernel. The kernel also counts a
        thread that has no core while another one of the command runs, in which time the command does not wait.
        """
        waiting = elapsed_s - cpu_s
        running = self._seconds["running"]
        idle = sum(self._seconds.values()) - running
        if waiting < 0 or not idle + running:
            return {}
        known: dict[str, float] = {}
        least = idle
        if self._delays:
            known["core"] = min(sum(self._delays.values()) / 1e9, waiting)
            if len(self._delays) > 1:
                known["core"] = min(known["core"], max(0.0, waiting - idle))
            least = waiting - known["core"]
        scale = min(waiting, least) / idle if idle else 0.0
        has_calls = self._seconds["unknown"] <= MOST_UNKNOWN * idle
        for kind in ("disk", *(NEEDS_CALLS if has_calls else ())):
            known[kind] = self._seconds[kind] * scale
        parts = {f"wait_{kind}": duration for kind, duration in known.items()}
        # In the order of the columns of runs.csv, from which `verify` recomputes the summaries.
        return {WAITING: waiting} | {name: parts[name] for name in WAITS if name in parts}
