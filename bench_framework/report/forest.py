"""Data of the forest plot: ratios with their intervals, in the order of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.plan import Input, Role
from bench_framework.model.words import glyph, noun
from bench_framework.report.blocks import Figure, Point
from bench_framework.report.numbers import margin_text, percent_up, show_comparison

if TYPE_CHECKING:
    from bench_framework.report.blocks import Table
    from bench_framework.report.context import ReportData


def forest(data: ReportData, item: Input, name: str, table: Table) -> Figure | None:
    """Return the forest plot of one input, or `None` if nothing was compared.

    A point's `x` is the deciding statistic's ratio with its displayed interval. `inner` is the
    interval of the same statistic at its own level of 95 %, if it is known.
    """
    ahead = data.ahead(item.id)
    points = [
        point
        for cell in data.arms(item.id)
        if (point := _point(data, cell.id, strong=cell.id in ahead)) is not None
    ]
    if sum(not p.baseline for p in points) == 0:
        return None
    points.sort(key=lambda p: (p.x, not p.baseline))
    floor = data.floor(item.id, data.metric)
    margin = data.plan.judge.margin_of(data.metric)
    marks = [("margin", margin)]
    if floor is not None and floor.fraction is not None:
        marks.append(("noise", floor.fraction))
    metric = noun(data.metric)
    desc = (
        f"Ratio of {metric} to {data.baseline_on(item).label}{data.on_input(item, ' on ')}, with confidence "
        f"intervals. "
        f"The band is the margin of {margin_text(margin)}."
    )
    if len(marks) > 1:
        desc += f" The hatched band is the noise floor of {percent_up(marks[1][1])}."
    return Figure(
        name + "-forest",
        "forest",
        f"Ratio to {data.baseline_on(item).label}{data.on_input(item, ', input ')}",
        desc,
        tuple(points),
        table,
        (("x", f"{metric}, {data.ratio_words(item)}"), *_ends(data)),
        tuple(marks),
        with_table=True,
    )


def _ends(data: ReportData) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the labels left and right of 1."""
    less, more = ("better", "worse") if data.higher(data.metric) else ("less", "more")
    return ("less", less), ("more", more)


def _point(data: ReportData, cell_id: str, *, strong: bool) -> Point | None:
    cell = data.plan.cell(cell_id)
    if cell.role is Role.BASELINE:
        return Point(data.label(cell_id), 1.0, text="baseline", baseline=True, strong=strong)
    comparison = data.comparison(cell_id, data.metric)
    if comparison is None or comparison.shown is None:
        return None
    interval = comparison.shown
    text = show_comparison(comparison)
    assert text is not None
    single = comparison.floor if comparison.statistic == "floor" else comparison.typical
    inner = (single.lo, single.hi) if single is not None and single.level < interval.level else None
    return Point(
        data.label(cell_id),
        interval.ratio,
        x_lo=interval.lo,
        x_hi=interval.hi,
        inner=inner,
        verdict=comparison.verdict,
        text=f"{text} {glyph(comparison.verdict)}",
        strong=strong,
    )
