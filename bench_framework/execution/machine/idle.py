"""Waiting until the machine is idle, before a measurement that `run --idle` requests."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MachineError
from bench_framework.execution.machine.host import seconds
from bench_framework.execution.progress import Waiting
from bench_framework.units import format_clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench_framework.execution.progress import Observer
    from bench_framework.execution.stop import Stop

PATIENCE_S: Final = 600.0
"""Time after which the waiting ends with an error."""
RETRY_S: Final = 0.2


def wait_until_idle(
    below: float,
    observer: Observer,
    stop: Stop,
    *,
    load: Callable[[], float] = lambda: os.getloadavg()[0],
    clock: Callable[[], float] = seconds,
    sleep: Callable[[float], None] = time.sleep,
) -> float:
    """Wait until the load average of the last minute is below a value, and return it.

    benchctl's own builds raise the load too, so this is the last step before the first round.

    `observer` receives the current load every 0.2 s. `load` returns the load average of the last
    minute.

    Raises:
        MachineError: BX241, the load was not below the limit for ten minutes.
        Interrupted: the user stopped it.
    """
    start = clock()
    while (now := load()) >= below:
        stop.check()
        elapsed = clock() - start
        if elapsed >= PATIENCE_S:
            raise MachineError(
                f"the machine is not idle: its load average was not below {below:g} for "
                f"{format_clock(PATIENCE_S)}",
                code="BX241",
                details=(("load", f"{now:.2f} (last minute)"),),
                effect="nothing was measured",
                fix="stop other programs, or use a larger --idle, or none",
            )
        observer.notify(Waiting(f"a load average below {below:g}, now {now:.2f}", elapsed))
        sleep(RETRY_S)
    return now
