"""The CPUs of the machine: lists of their numbers, and which of them programs may use."""

import os
import threading
from collections.abc import Collection, Iterable
from typing import Final

from bench_framework.errors import CellError, MachineError

MOST_CPUS: Final = 8192
"""Largest number of CPUs that Linux supports (CONFIG_NR_CPUS)."""


def parse_cpus(text: str) -> tuple[int, ...]:
    """Parse CPU numbers such as ``0-1,3``, or none. Raises `CellError` (BX203): invalid text."""
    cpus: set[int] = set()
    try:
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            first, _, last = part.partition("-")
            cpus.update(range(int(first), int(last or first) + 1))
    except ValueError as error:
        raise CellError("BX203", text=text) from error
    return tuple(sorted(cpus))


def format_cpus(numbers: Iterable[int]) -> str:
    """Return a list of CPUs such as ``0-2,5``."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ",".join("-".join(map(str, ends)) for ends in ranges)


def require_usable(
    text: str, usable: Collection[int], details: tuple[tuple[str, str], ...] = ()
) -> None:
    """Check that the CPUs of a list are available. Raises `MachineError` (BX238)."""
    missing = [cpu for cpu in parse_cpus(text) if cpu not in usable]
    if missing:
        cpus = f"`cpus: {text}` contains CPU {format_cpus(missing)}"
        details = (*details, ("available", format_cpus(usable)))
        raise MachineError("BX238", details=details, cpus=cpus)


def allowed_cpus() -> set[int]:
    """Return the CPU numbers on which this process runs (sched_getaffinity(2))."""
    return os.sched_getaffinity(0)


def available_cpus() -> frozenset[int]:
    """Return the CPU numbers to which a child may be pinned: those of the cpuset.

    The kernel reduces a requested list to the cpuset (sched_setaffinity(2)). A separate thread
    requests every CPU and ends. Affinity belongs to a thread, so that of benchctl does not change.
    """
    usable: set[int] = set()

    def ask() -> None:
        os.sched_setaffinity(0, range(MOST_CPUS))
        usable.update(allowed_cpus())

    thread = threading.Thread(target=ask, name="affinity")
    thread.start()
    thread.join()
    return frozenset(usable)
