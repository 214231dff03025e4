"""Whether the CPUs that a plan names are there for us, asked before anything is measured."""

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
"""The most that Linux can be built for (CONFIG_NR_CPUS)."""


def require(plan: Plan, there: Collection[int] | None = None) -> None:
    """See that every CPU of every `cpus` is to be had.

    Args:
        plan: whose cells name them.
        there: CPU numbers that a program of ours may use; asked of the kernel by default.

    Raises:
        MachineError: BX238, one is not.
    """
    named = dict.fromkeys(cell.cpus for cell in plan.cells if cell.cpus)
    if not named:
        return
    there = available() if there is None else there
    for text in named:
        missing = [cpu for cpu in parse_cpus(text) if cpu not in there]
        if not missing:
            continue
        labels = dict.fromkeys(cell.label for cell in plan.cells if cell.cpus == text)
        raise MachineError(
            f"`cpus: {text}` names {_numbers(missing)}, which this machine does not have for us",
            code="BX238",
            details=(("cells", ", ".join(labels)), ("there are", _numbers(sorted(there)))),
            effect="nothing was measured",
            help="name CPUs that are there; a container or a cpuset may hold some back",
        )


def available() -> frozenset[int]:
    """CPU numbers that a program of ours may be pinned to: those of our cpuset, whatever we are pinned to ourselves.

    The kernel keeps of a list what the cpuset allows (sched_setaffinity(2)). A thread of its own asks for every CPU
    and ends: on Linux the affinity is a thread's, so that ours stays as it is.
    """
    found: set[int] = set()

    def ask() -> None:
        os.sched_setaffinity(0, range(MOST_CPUS))
        found.update(os.sched_getaffinity(0))

    thread = threading.Thread(target=ask, name="affinity")
    thread.start()
    thread.join()
    return frozenset(found)


def _numbers(cpus: Collection[int]) -> str:
    """``CPU 2``, ``CPUs 0, 1``; the first of many."""
    most = 16
    shown = ", ".join(map(str, list(cpus)[:most]))
    more = f" and {len(cpus) - most} more" if len(cpus) > most else ""
    return f"CPU{'s' if len(cpus) > 1 else ''} {shown}{more}"
