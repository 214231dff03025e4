"""Columns of measured values: their unit, factor, decimals and title."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench_framework.model.judgement import Summary
from bench_framework.report.blocks import Cell
from bench_framework.report.contrasts import value_cell
from bench_framework.report.numbers import (
    DASH,
    column_decimals,
    measured_decimals,
    metric_unit,
    rate_unit,
    show_measured,
    significant,
)


@dataclass(frozen=True, slots=True)
class Scale:
    """Unit, factor and decimals of a column of medians."""

    unit: str
    factor: float
    decimals: int

    def cell(self, summary: Summary | None) -> Cell:
        """Return the median over the rounds, or a dash without a summary."""
        if summary is None:
            return Cell(DASH)
        value, lo, hi = summary.median, summary.lo, summary.hi
        return Cell(show_measured(value, lo, hi, self.factor, self.decimals), value)

    def spread(self, summary: Summary | None) -> Cell:
        """Return mean and standard deviation over the rounds, or a dash without them."""
        if summary is None or summary.sd is None:
            return Cell(DASH)
        mean, sd = (
            show_measured(value, None, None, self.factor, self.decimals)
            for value in (summary.mean, summary.sd)
        )
        return Cell(f"{mean} ({sd})", summary.mean)

    def extremes(self, summary: Summary | None) -> Cell:
        """Return the smallest and the largest value of a round, or a dash without a summary."""
        if summary is None:
            return Cell(DASH)
        low, high = (
            show_measured(value, None, None, self.factor, self.decimals)
            for value in (summary.min, summary.max)
        )
        return Cell(f"{low}–{high}", summary.min)


def scale_of(
    metric: str, size: float | None, summaries: Sequence[Summary], family: str, declared: str = ""
) -> Scale:
    """Return the scale of a column, whose unit is that of `size` or of the first row."""
    first = summaries[0].median if summaries else 1.0
    unit, factor = metric_unit(metric, first if size is None else size, family, declared)
    decimals = (measured_decimals(s.median, s.lo, s.hi, factor) for s in summaries)
    return Scale(unit, factor, column_decimals(decimals))


def titled(name: str, unit: str) -> str:
    """Return the title of a column with its unit."""
    return f"{name}, {unit}" if unit else name


def cores_cell(cpu: Summary | None, wall: Summary | None) -> Cell:
    """Return the cores in use: the quotient of the medians of CPU time and time."""
    cores = cpu.median / wall.median if cpu and wall and wall.median > 0 else None
    return value_cell(cores, "{:.2f}".format)


def rate_cell(size: int, wall: Summary | None, family: str) -> Cell:
    """Return the throughput: the bytes of a run ÷ the median time."""
    rate = size / wall.median if wall and wall.median > 0 else None
    return value_cell(rate or None, lambda r: significant(r * rate_unit(family)[1], 3))
