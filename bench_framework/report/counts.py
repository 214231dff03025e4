"""Numbers of planned, measured, failed and excluded configurations, for captions."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from bench_framework.model.plan import Hole, Input
from bench_framework.report.context import ReportData

_WORDS = (
    ("failed", "failed"),
    ("other-output", "with other output"),
    ("not-comparable", "not comparable"),
    ("not-started", "not started"),
)


ADJUSTED_CI: Final = "Adjusted CI"
"""Title of a column of intervals at the level of the test (docs/method.md#verdicts)."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of configurations by state, without the A/A control."""

    planned: int
    measured: int
    others: tuple[tuple[str, int], ...]
    """Word and number of each other state that occurred."""
    excluded: int

    def text(self) -> str:
        """Return a text such as ``12 configurations planned, 9 measured, 1 failed``."""
        parts = [
            f"{self.planned} configuration{'s' if self.planned != 1 else ''} planned",
            f"{self.measured} measured",
        ]
        parts += [f"{number} {words}" for words, number in self.others]
        if self.excluded:
            parts.append(f"{self.excluded} more excluded from the plan")
        return ", ".join(parts)


def counts_of(data: ReportData, item: Input | None = None) -> Counts:
    """Return the counts of one input, or of the record."""
    inputs = data.plan.inputs if item is None else (item,)
    cells = [cell for one in inputs for cell in data.arms(one.id)]
    states: Counter[str] = Counter(data.state(cell.id).state for cell in cells)
    others = tuple((words, states[state]) for state, words in _WORDS if states[state])
    holes = data.plan.holes if item is None else holes_of(data, item)
    return Counts(len(cells), states["measured"], others, len(holes))


def holes_of(data: ReportData, item: Input) -> tuple[Hole, ...]:
    """Return the combinations that are excluded on an input."""
    values = dict(item.values)
    return tuple(
        hole
        for hole in data.plan.holes
        if all(dict(hole.values).get(axis, value) == value for axis, value in values.items())
    )


def interim_analyses(count: int) -> str:
    """Return a text such as ``3 interim analyses``."""
    return f"{count} interim analys{'is' if count == 1 else 'es'}"
