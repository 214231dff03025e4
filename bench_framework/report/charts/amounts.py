"""Values and changes of a figure as text: the unit of a metric, and one scale of changes."""

from dataclasses import dataclass

from bench_framework.model.verdict import Verdict
from bench_framework.report.charts import direction
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import (
    format_percent,
    metric_unit,
    shortest,
    signed_percent,
    significant,
)
from bench_framework.text.words import change
from bench_framework.units import THIN_SPACE


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of the values of a figure, and its factor."""

    name: str
    factor: float

    @classmethod
    def for_metric(cls, data: ReportData, value: float) -> "Unit":
        """Return the unit of the main metric for values near `value`."""
        metric = data.metric
        return cls(*metric_unit(metric, value, data.plan.unit_family, data.own_unit(metric)))

    def text(self, value: float) -> str:
        """Return a value with its unit: ``172 ms``."""
        return self.labelled(significant(value * self.factor, 3))

    def tick(self, scaled: float) -> str:
        """Return the label of a tick, whose value has the factor already."""
        return self.labelled(shortest(scaled, 4))

    def labelled(self, number: str) -> str:
        """Return a number with the unit."""
        return f"{number}{THIN_SPACE}{self.name}".rstrip(THIN_SPACE)


def lead(data: ReportData, ratio: float, verdict: Verdict | None) -> str:
    """Return the mark of a verdict and the change: ``▼ −3.7 %``, or ``▼ 2.3× faster``.

    `ratio` is that of the values. If larger values are better, the mark still shows which way they
    changed.
    """
    if verdict is not None and data.higher(data.metric):
        verdict = verdict.opposite
    return f"{direction(verdict).mark} {amount(data, ratio)}"


def amount(data: ReportData, ratio: float) -> str:
    """Return a change on the scale of the page: ``−3.7 %``, or ``2.3× faster``."""
    if not data.in_times:
        return signed_percent(ratio)
    less, more = change(data.metric)
    factor = ratio if ratio >= 1 else 1 / ratio
    return f"{significant(factor, 3)}× {more if ratio >= 1 else less}"


def colours(data: ReportData) -> str:
    """Return what marks and colours mean, in figures and tables. The coloured marks are ▼ and ▲."""
    margin = format_percent(data.margin)
    return f"▼ ▲: by more than {margin}; ≡: no difference; ·: small or inconclusive"
