"""The waterfall plot of the contributions: one bar per change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.model.verdict import Verdict
from bench_framework.model.words import glyph
from bench_framework.report.blocks import Figure, Point
from bench_framework.report.numbers import show_ratio, significant

if TYPE_CHECKING:
    from bench_framework.model.structure import Contrast, Contribution
    from bench_framework.report.blocks import Table
    from bench_framework.report.context import ReportData

REST: Final = "interaction / unexplained"


def waterfall(data: ReportData, contribution: Contribution, table: Table) -> Figure | None:
    """Return the plot of the steps and the total, or `None` without a total.

    Each step begins where the previous one ends. Changes that were measured alone all begin at the
    start and are drawn as dots. The rest of the total is their interaction.
    """
    if (
        contribution.total is None
        or contribution.total.shown is None
        or any(s.contrast.shown is None for s in contribution.steps)
    ):
        return None
    cumulative = contribution.design != "alone"
    points: list[Point] = []
    reached = product = 1.0
    for step in contribution.steps:
        label = ", ".join(change.text for change in step.changes)
        point = _point(data, label, step.contrast, reached)
        points.append(point)
        product *= point.x
        reached = product if cumulative else 1.0
    points += [
        _rest(data, contribution, contribution.total.shown.ratio, product),
        _point(data, "total", contribution.total, 1.0),
    ]
    item = data.plan.input(contribution.input_id)
    start = data.label(contribution.start_cell_id)
    where = data.on_input(item, ", input ")
    if cumulative:
        title = f"From {start}, step by step{where}"
        desc = (
            "Each bar begins where the previous one ends; lines are the intervals of the steps. "
            "Hatched: the part of the total that the steps do not explain."
        )
    else:
        title = f"Each change alone vs {start}{where}"
        desc = (
            "Dots: each change alone, and all changes together as the total, with intervals. "
            "Hollow: the interaction, total ÷ product of the changes (1: none)."
        )
    labels = (
        ("x", f"ratio to the start; below 1 is {'better' if data.higher(data.metric) else 'less'}"),
    )
    marks = () if cumulative else (("alone", 1.0),)
    return Figure(
        f"{table.anchor}-plot",
        "waterfall",
        title,
        desc,
        tuple(points),
        table,
        labels,
        marks,
        with_table=True,
    )


def _rest(data: ReportData, contribution: Contribution, total: float, product: float) -> Point:
    """Return the part of the total that the steps do not explain."""
    interval = contribution.remainder.shown if contribution.remainder is not None else None
    if contribution.remainder is not None and interval is not None:
        keep = contribution.remainder.verdict is not Verdict.INCONCLUSIVE
        text = str(
            show_ratio(
                interval.ratio,
                interval.lo,
                interval.hi,
                data.plan.judge.margin_of(data.metric),
                keep=keep,
            )
        )
        return Point(REST, interval.ratio, 1.0, interval.lo, interval.hi, text=text)
    left = total / product
    return Point(
        REST, left, 1.0 if contribution.design == "alone" else product, text=significant(left, 3)
    )


def _point(data: ReportData, label: str, contrast: Contrast, begin: float) -> Point:
    interval = contrast.shown
    assert interval is not None
    margin = data.plan.judge.margin_of(data.metric)
    text = show_ratio(
        interval.ratio,
        interval.lo,
        interval.hi,
        margin,
        keep=contrast.verdict is not Verdict.INCONCLUSIVE,
    )
    return Point(
        label,
        interval.ratio,
        begin,
        interval.lo,
        interval.hi,
        verdict=contrast.verdict,
        text=f"{text} {glyph(contrast.verdict)}",
    )
