"""Values and changes of a figure as text: the unit of a metric, and one scale of changes."""

from dataclasses import dataclass

from bench_framework.model.verdict import Verdict
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import (
    format_percent,
    in_column,
    metric_unit,
    shortest,
    signed_percent,
    significant,
)
from bench_framework.text.words import change, glyph
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
        return cls(*metric_unit(metric, value, data.plan.unit_family, data.unit_of(metric)))

    def suited(self, data: ReportData, value: float) -> "Unit":
        """Return this unit, or that of the value if it is far too small or too large for this one."""
        natural = Unit.for_metric(data, value)
        units = (self.name, self.factor), (natural.name, natural.factor)
        name, factor, _ = in_column(value, *units, 0)
        return Unit(name or self.name, factor)

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

    `ratio` is that of the values.
    """
    return f"{mark(verdict, higher=data.higher)} {amount(data, ratio)}"


def mark(verdict: Verdict | None, *, higher: bool = False) -> str:
    """Return the glyph of a verdict: ``▼`` if the value is smaller, also if larger ones are better (`higher`).

    Without a verdict, it is the glyph of an inconclusive comparison.
    """
    return glyph(_direction(verdict, higher=higher))


def _direction(verdict: Verdict | None, *, higher: bool) -> Verdict:
    verdict = verdict or Verdict.INCONCLUSIVE
    return verdict.opposite if higher else verdict


def amount(data: ReportData, ratio: float) -> str:
    """Return a change on the scale of the page: ``−3.7 %``, or ``2.3× faster``."""
    if not data.in_times:
        return signed_percent(ratio)
    less, more = change(data.metric)
    factor = significant(ratio if ratio >= 1 else 1 / ratio, 3)
    if factor == significant(1.0, 3):  # neither less nor more
        return f"{factor}×"
    return f"{factor}× {more if ratio >= 1 else less}"


def caption(data: ReportData, *parts: str) -> str:
    """Return parts of a caption, and what the marks of the page mean: its tables have no legend."""
    arms = (cell for item in data.plan.inputs for cell in data.arms(item.id))
    compared = (data.comparison(cell.id, data.metric) for cell in arms)
    verdicts = [c.verdict for c in compared if c is not None]
    ladders = (t for t in data.judgement.structure.contributions if t.design == "ladder")
    verdicts += [step.contrast.verdict for ladder in ladders for step in ladder.steps]
    marked = {_direction(verdict, higher=data.higher) for verdict in verdicts}
    margin = format_percent(data.margin)
    meanings = {
        f"over {margin}": (Verdict.BETTER, Verdict.WORSE),
        f"not shown to exceed {margin}": (
            Verdict.BETTER_SIZE_UNCERTAIN,
            Verdict.WORSE_SIZE_UNCERTAIN,
        ),
        f"within ±{margin}": (Verdict.EQUIVALENT,),
        "inconclusive": (Verdict.INCONCLUSIVE,),
        "one run": (Verdict.SINGLE_RUN,),
    }
    legend = [
        f"{' '.join(glyph(verdict) for verdict in group if verdict in marked)}: {meaning}"
        for meaning, group in meanings.items()
        if not marked.isdisjoint(group)
    ]
    return f"{'; '.join([*parts, *legend])}." if parts or legend else ""
