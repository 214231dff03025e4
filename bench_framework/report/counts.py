"""How many cells were planned, measured, failed, excluded, not comparable (rule R18)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.plan import Role

if TYPE_CHECKING:
    from bench_framework.model.plan import Hole, Input
    from bench_framework.report.context import ReportData

_WORDS = (
    ("failed", "failed"),
    ("other-output", "with other output"),
    ("not-comparable", "not comparable"),
    ("not-started", "not started"),
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Cells without the control arm, by what became of them."""

    planned: int
    measured: int
    others: tuple[tuple[str, int], ...]
    """Words and number of every other state that occurred."""
    excluded: int

    def text(self) -> str:
        """``12 cells planned, 9 measured, 1 failed, 2 excluded``."""
        parts = [
            f"{self.planned} cell{'s' if self.planned != 1 else ''} planned",
            f"{self.measured} measured",
        ]
        parts += [f"{number} {words}" for words, number in self.others]
        if self.excluded:
            parts.append(f"{self.excluded} excluded")
        return ", ".join(parts)


def counts_of(data: ReportData, item: Input | None = None) -> Counts:
    """The counts of one input, or of the record."""
    inputs = data.plan.inputs if item is None else (item,)
    cells = [cell for one in inputs for cell in data.arms(one.id)]
    states: Counter[str] = Counter(data.state(cell.id).state for cell in cells)
    others = tuple((words, states[state]) for state, words in _WORDS if states[state])
    holes = data.plan.holes if item is None else holes_of(data, item)
    return Counts(len(cells), states["measured"], others, len(holes))


def holes_of(data: ReportData, item: Input) -> tuple[Hole, ...]:
    """The combinations that are missing on an input."""
    wanted = dict(item.values)
    return tuple(
        hole
        for hole in data.plan.holes
        if all(dict(hole.values).get(axis, value) == value for axis, value in wanted.items())
    )


def memory_family(data: ReportData) -> str:
    """What a table of memory says of multiplicity (R17): its comparisons are a family of their own, judged once."""
    looks = data.judgement.looks
    level = f"{looks.level * 100:g}\u202f%"
    if PEAK_RSS in data.plan.judge.metrics:
        return f"judged in the family of the results, {looks.family} comparisons, family-wise level {level}"
    size = sum(cell.role is Role.CANDIDATE for cell in data.plan.cells)
    return (
        f"{size} comparison{'s' if size != 1 else ''}, a family of their own, Bonferroni-adjusted, judged once, "
        f"family-wise level {level}"
    )


def caption_tail(data: ReportData, item: Input | None = None) -> str:
    """What every table of comparisons says of itself: family, adjustment, rounds, cells (R13, R17, R18)."""
    looks = data.judgement.looks
    inputs = data.plan.inputs if item is None else (item,)
    cells = [cell.id for one in inputs for cell in data.arms(one.id)]
    family = f"{looks.family} comparison{'s' if looks.family != 1 else ''}"
    level = f"{looks.level * 100:g}\u202f%"
    return (
        f"{family}, Holm-adjusted, {looks.count} look{'s' if looks.count != 1 else ''}, "
        f"family-wise level {level}; rounds × runs {data.replication(cells)}; {counts_of(data, item).text()}."
    )
