"""Kernel counters of programs without the worker protocol: one untimed run per cell.

A timed command is never wrapped: hyperfine starts it and waits for it. So the counters come from a
separate run whose time is not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.execution.machine.host import utc_now
from bench_framework.model.metrics import KERNEL_KEYS
from bench_framework.model.observation import Observation

if TYPE_CHECKING:
    from bench_framework.execution.counting.single_run import SingleRunner
    from bench_framework.execution.process import Finished
    from bench_framework.execution.target import Target

TOOL: Final = "wait4, /proc/PID/io"


def count(
    runner: SingleRunner, target: Target, expected: str | None, timeout_s: float
) -> Observation:
    """Run a cell once and read the kernel counters of it and of the children that it waited for.

    Raises:
        Interrupted: the user killed the run.
    """
    started = utc_now()
    outcome = runner.run(target, expected, timeout_s)
    values = (
        values_of(outcome.finished)
        if outcome.status == "ok" and outcome.finished is not None
        else {}
    )
    return Observation(
        target.cell.id, "observed", 1, started, TOOL, outcome.status, values, outcome.message
    )


def values_of(finished: Finished) -> dict[str, float]:
    """Return metric → count; bytes of storage only if the kernel counts them (proc(5))."""
    used = finished.used
    return {metric: float(used[key]) for metric, key in KERNEL_KEYS.items() if key in used}
