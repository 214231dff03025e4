"""The CPUs of the machine: which to pin programs to, and which interrupts they handle."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from bench_framework.errors import CellError
from bench_framework.execution.machine.checks import Machine
from bench_framework.execution.machine.cpus import format_cpus, parse_cpus
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.text.reasons import phrase

CPU_FOLDER: Final = "devices/system/cpu"
MOST_CORES_WITHOUT_SPARE: Final = 2
FAST_SHARE: Final = 0.9
"""Cores with less of the largest `cpu_capacity` are a slower kind. Equal cores differ by less."""


@dataclass(frozen=True, slots=True)
class PinnedCpus:
    """CPUs to pin programs to, as lists such as ``0,2-3``.

    The settings refer to the CPUs for a program with one thread. Those for several threads are
    null if such a program needs all CPUs.
    """

    one_thread: str
    """List of CPUs for a program with one thread."""
    several_threads: str | None
    """List of CPUs for several threads; null if all CPUs are needed."""
    reason: str
    """Reason for the choice, in words."""


def choose(machine: Machine, usable: Collection[int]) -> PinnedCpus:
    """Choose CPUs: one per core, isolated or with few interrupts, and never of a slower kind."""
    isolated = listed_cpus(machine, "isolated")
    interrupts = sum(interrupts_by_number(machine).values(), Counter[int]())

    def noise(number: int) -> tuple[int, int, int]:
        # The kernel prefers CPU 0 for its own work, so another one is chosen unless it handles more
        # than twice as many interrupts.
        doubled = interrupts[number] * (2 if number == 0 else 1)
        return doubled, int(number == 0), number

    fast = _fastest(machine, usable)
    cores = {frozenset(siblings_of(machine, number) | {number}) for number in fast}
    picks = sorted((min(core & fast, key=noise) for core in cores), key=noise)
    one = next((number for number in picks if number in isolated), picks[0])
    # The scheduler does not move threads between isolated CPUs.
    shared = [number for number in picks if number not in isolated] or picks
    spare = shared.pop() if len(shared) > MOST_CORES_WITHOUT_SPARE else None
    if total := interrupts.total():
        share, most = (interrupts[number] / total for number in (one, picks[-1]))
        reason = Phrase(PhraseCode.LEAST_INTERRUPTS, (one, share))
        if picks[-1] != one:
            reason = Phrase(PhraseCode.FEWER_INTERRUPTS, (reason, picks[-1], most))
    else:
        reason = Phrase(PhraseCode.UNKNOWN_INTERRUPTS, one)
    if one in isolated:
        reason = Phrase(PhraseCode.ISOLATED, reason)
    if spare is not None:
        reason = Phrase(PhraseCode.SPARE, (reason, spare))
    several = None if len(shared) == len(usable) else format_cpus(shared)
    return PinnedCpus(str(one), several, phrase(reason))


def cpu_set(text: str | None) -> set[int]:
    """Return the CPUs of a list of the kernel; none for other text, such as ``(null)``."""
    try:
        return set(parse_cpus(text or ""))
    except CellError:
        return set()


def listed_cpus(machine: Machine, name: str) -> set[int]:
    """Return the CPUs that a file of the kernel lists: ``isolated``, ``online`` or ``nohz_full``."""
    return cpu_set(machine.read(machine.sys / CPU_FOLDER / name))


def siblings_of(machine: Machine, number: int) -> set[int]:
    """Return the CPUs of the core of a CPU; none if the kernel does not report them."""
    folder = machine.sys / CPU_FOLDER / f"cpu{number}/topology"
    return cpu_set(machine.read(folder / "thread_siblings_list"))


def _fastest(machine: Machine, usable: Collection[int]) -> frozenset[int]:
    """Return the CPUs of the fastest kind: an ARM machine or a laptop may have slower cores."""
    capacity = {}
    for number in usable:
        text = machine.read(machine.sys / CPU_FOLDER / f"cpu{number}/cpu_capacity") or ""
        capacity[number] = int(text) if text.isdecimal() else 0
    small = cpu_set(machine.read(machine.sys / "devices/cpu_atom/cpus"))
    most = max(capacity.values())
    fast = {n for n in usable if capacity[n] >= FAST_SHARE * most}
    return frozenset(fast - small or fast)


def interrupts_by_number(machine: Machine) -> dict[int, Counter[int]]:
    """Return the interrupts of devices since boot, by number and CPU (proc(5), /proc/interrupts)."""
    head, *lines = (machine.read(machine.proc / "interrupts") or "").splitlines() or [""]
    cpus = [int(match[1]) for match in re.finditer(r"\bCPU(\d+)", head)]
    counts = {}
    for line in lines:
        name, *words = line.split() or [""]
        if match := re.fullmatch(r"(\d+):", name):
            pairs = zip(cpus, words, strict=False)
            counts[int(match[1])] = Counter({c: int(w) for c, w in pairs if w.isdecimal()})
    return counts
