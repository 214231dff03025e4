"""Table cells: measured values in the unit of their column; ratio, interval and verdict."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from bench_framework.model.facts import Claim
from bench_framework.model.result.judgement import Comparison, Summary
from bench_framework.model.result.structure import ContrastResult
from bench_framework.model.verdict import LEAST_LEVEL, Interval, Verdict
from bench_framework.report.blocks import Cell, KeyFinding
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import (
    DASH,
    FEWEST_DIGITS,
    column_decimals,
    fixed,
    format_percent,
    in_column,
    measured_decimals,
    metric_unit,
    rate_unit,
    show_comparison,
    show_ratio,
    significant,
)
from bench_framework.text.reasons import phrase
from bench_framework.text.words import WORDS, verdict_text
from bench_framework.units import THIN_SPACE

CI: Final = "95\u202f% CI"
"""Title of a column of intervals (docs/method.md#intervals)."""
T = TypeVar("T")
Value = TypeVar("Value", int, float)


def interval_cells(
    interval: Interval | None, verdict: Verdict, margin: float, claim: str | None = None
) -> tuple[Cell, Cell]:
    """Return ratio and interval, rounded outward, or dashes without an interval."""
    if interval is None or not interval.bounded:
        return Cell(DASH), Cell("")
    text = show_ratio(*interval.figures, margin, keep=verdict is not Verdict.INCONCLUSIVE)
    return Cell(text.estimate, interval.ratio, claim), Cell(text.bounds, interval.lo, claim)


def comparison_cells(comparison: Comparison | None, claim: str | None) -> tuple[Cell, Cell]:
    """Return ratio and interval of a comparison with the baseline, or a dash without one."""
    if comparison is None or (interval := comparison.ratio) is None:
        return Cell(DASH), Cell("")
    text = show_comparison(comparison)
    assert text is not None
    bounds = text.bounds + at_level(interval)
    return Cell(text.estimate, interval.ratio, claim), Cell(bounds, interval.lo, claim)


def at_level(interval: Interval) -> str:
    """Return the level of an interval if it is not one at 95 %, as that of an equivalence in a few rounds."""
    return f" at {format_percent(interval.level)}" if interval.level < LEAST_LEVEL else ""


def value_cell(value: Value | None, show: Callable[[Value], str]) -> Cell:
    """Return a value as text, or a dash without a value."""
    return Cell(DASH) if value is None else Cell(show(value), value)


def verdict_cell(verdict: Verdict, metric: str) -> Cell:
    """Return glyph and word of a verdict."""
    return Cell(verdict_text(verdict, metric), verdict.value, None, verdict)


def interaction_cell(verdict: Verdict, *, higher: bool = False) -> Cell:
    """Return the verdict on an interaction: both changes together ÷ product of the single ones."""
    less, more = ("more", "less") if higher else ("less", "more")
    word = "no interaction" if verdict is Verdict.EQUIVALENT else WORDS[verdict].time
    if verdict.decided:
        uncertain = ", size uncertain" if verdict.size_uncertain else ""
        word = f"{less if verdict.better else more} than the product{uncertain}"
    return Cell(f"{WORDS[verdict].glyph} {word}", verdict.value, None, verdict)


def contrast_cells(
    contrast: ContrastResult, data: ReportData, claim: Claim | None = None
) -> tuple[Cell, Cell, Cell]:
    """Return ratio, interval and verdict of a contrast."""
    claim_id = claim.id if claim else None
    interval = data.of_values(contrast.shown)
    ratio, bounds = interval_cells(interval, contrast.verdict, data.margin, claim_id)
    return ratio, bounds, verdict_cell(contrast.verdict, data.metric)


def few_rounds(contrasts: Iterable[ContrastResult]) -> tuple[str, ...]:
    """Return a note if too few rounds are the reason of an inconclusive contrast, whose interval may exclude 1."""
    reasons = (c.reason for c in contrasts if c.reason is not None and c.reason.too_few)
    return tuple(
        f"Results can be inconclusive although their interval does not contain 1: {phrase(reason)}."
        for reason in dict.fromkeys(reasons)
    )


def with_claims(items: Sequence[T], claims: Sequence[Claim]) -> list[tuple[T, Claim | None]]:
    """Pair each item with its claim in order, or with `None` if their numbers differ."""
    known = claims if len(claims) == len(items) else [None] * len(items)
    return list(zip(items, known, strict=True))


def finding(claim: Claim | None) -> list[KeyFinding]:
    """Return the sentence under a table, if there is one."""
    return [KeyFinding(sentence(claim))] if claim is not None else []


@dataclass(frozen=True, slots=True)
class Scale:
    """Unit, factor and decimals of a column of medians.

    Attributes:
        unit_of: returns the best unit of a value, and its factor.
        digits: fewest significant digits of a value.
    """

    unit: str
    factor: float
    decimals: int
    unit_of: Callable[[float], tuple[str, float]]
    digits: int = FEWEST_DIGITS

    def cell(self, summary: Summary | None) -> Cell:
        """Return the median over the rounds, or a dash without a summary."""
        return value_cell(summary.median if summary else None, self.text)

    def spread(self, summary: Summary | None) -> Cell:
        """Return mean and standard deviation over the rounds, or a dash without them."""
        if summary is None or summary.sd is None:
            return Cell(DASH)
        return Cell(self.near(summary.median, "{} ({})", summary.mean, summary.sd), summary.mean)

    def extremes(self, summary: Summary | None) -> Cell:
        """Return the smallest and the largest value of a round, or a dash without a summary."""
        if summary is None:
            return Cell(DASH)
        return Cell(self.near(summary.median, "{}–{}", summary.min, summary.max), summary.min)

    def text(self, value: float) -> str:
        """Return a value in the unit of the column, or with its own unit if that one does not suit it."""
        return self.near(value, "{}", value)

    def near(self, value: float, form: str, *values: float) -> str:
        """Return figures of about a value with its unit and decimals; `form` has a place for each."""
        units = (self.unit, self.factor), self.unit_of(value)
        unit, factor, decimals = in_column(value, *units, self.decimals, self.digits)
        text = form.format(*(fixed(each * factor, decimals) for each in values))
        return f"{text}{THIN_SPACE}{unit}".rstrip(THIN_SPACE)


def scale_of(
    data: ReportData, metric: str, summaries: Sequence[Summary], size: float | None = None
) -> Scale:
    """Return the scale of a column, whose unit is that of `size` or of the first row."""
    first = summaries[0].median if summaries else 1.0

    def unit_of(value: float) -> tuple[str, float]:
        return metric_unit(metric, value, data.plan.unit_family, data.unit_of(metric))

    unit, factor = unit_of(first if size is None else size)
    decimals = (measured_decimals(s.median, s.lo, s.hi, factor) for s in summaries)
    return Scale(unit, factor, column_decimals(decimals), unit_of)


def titled(name: str, unit: str) -> str:
    """Return the title of a column with its unit."""
    return f"{name}, {unit}" if unit else name


def cores_cell(cpu: Summary | None, wall: Summary | None) -> Cell:
    """Return the cores in use: the quotient of the medians of CPU time and time."""
    cores = cpu.median / wall.median if cpu and wall and wall.median > 0 else None
    return value_cell(cores, lambda value: fixed(value, 2))


def rate_cell(size: int, wall: Summary | None, family: str) -> Cell:
    """Return the throughput: the bytes of a run ÷ the median time."""
    rate = size / wall.median if wall and wall.median > 0 else None
    return value_cell(rate or None, lambda r: significant(r * rate_unit(family)[1], 3))
