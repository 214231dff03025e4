"""Check before measuring that the CPUs of a plan are available."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final

from bench_framework.errors import MachineError
from bench_framework.execution.target import parse_cpus

if TYPE_CHECKING:
    from collections.abc import Collection

    from bench_framework.model.plan import Plan

MOST_CPUS: Final = 8192
"""Largest number of CPUs that Linux supports (CONFIG_NR_CPUS)."""


def require(plan: Plan, usable: Collection[int] | None = None) -> None:
    """Check that every CPU in every `cpus` is available.

    Args:
        plan: plan with the cells.
        usable: available CPU numbers; the kernel is asked by default.

    Raises:
        MachineError: BX238, a CPU is not available.
    """
    lists = dict.fromkeys(cell.cpus for cell in plan.cells if cell.cpus)
    if not lists:
        return
    usable = available() if usable is None else usable
    for text in lists:
        missing = [cpu for cpu in parse_cpus(text) if cpu not in usable]
        if not missing:
            continue
        labels = dict.fromkeys(cell.label for cell in plan.cells if cell.cpus == text)
        raise MachineError(
            f"`cpus: {text}` contains {_numbers(missing)}, which cannot be used on this machine",
            code="BX238",
            details=(("cells", ", ".join(labels)), ("available", _numbers(sorted(usable)))),
            effect="nothing was measured",
            help="use available CPUs; a container or cpuset may exclude some of the machine's CPUs",
        )


def available() -> frozenset[int]:
    """Return the CPU numbers to which a child may be pinned: those of the cpuset.

    The kernel reduces a requested list to the cpuset (sched_setaffinity(2)). A separate thread
    requests every CPU and ends. Affinity belongs to a thread, so that of benchctl does not change.
    """
    usable: set[int] = set()

    def ask() -> None:
        os.sched_setaffinity(0, range(MOST_CPUS))
        usable.update(os.sched_getaffinity(0))

    thread = threading.Thread(target=ask, name="affinity")
    thread.start()
    thread.join()
    return frozenset(usable)


def _numbers(cpus: Collection[int]) -> str:
    """Return text such as ``CPU 2`` or ``CPUs 0, 1``; a long list is cut."""
    most = 16
    first = ", ".join(map(str, list(cpus)[:most]))
    more = f" and {len(cpus) - most} more" if len(cpus) > most else ""
    return f"CPU{'s' if len(cpus) > 1 else ''} {first}{more}"
