"""What the kernel counts of a program that reports nothing of itself: one run per cell, outside timing.

A timed command is never wrapped: hyperfine starts it, and hyperfine alone sees its end. So the counts come from a
run of their own, whose time is used for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.execution.host import utc_now
from bench_framework.model.metrics import KERNEL_KEYS
from bench_framework.model.observation import Observation

if TYPE_CHECKING:
    from bench_framework.execution.process import Finished
    from bench_framework.execution.single_run import Alone
    from bench_framework.execution.target import Target

TOOL: Final = "wait4, /proc/PID/io"


def observe(alone: Alone, target: Target, expected: str | None, timeout_s: float) -> Observation:
    """Run a cell once and read what the kernel says of it and of the children that it waited for.

    Raises:
        Interrupted: it was killed by the user.
    """
    started = utc_now()
    found = alone.run(target, expected, timeout_s)
    values = (
        values_of(found.finished) if found.status == "ok" and found.finished is not None else {}
    )
    return Observation(
        target.cell.id, "observed", 1, started, TOOL, found.status, values, found.message
    )


def values_of(finished: Finished) -> dict[str, float]:
    """Return metric → count; bytes of storage only where the kernel keeps that account (see proc(5))."""
    used = finished.used
    return {metric: float(used[key]) for metric, key in KERNEL_KEYS.items() if key in used}
