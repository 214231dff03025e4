"""The waterfall's data: what each change brings, from the start of a design to its end."""

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


def waterfall(data: ReportData, made: Contribution, table: Table) -> Figure | None:
    """Bars of the steps and of the whole; `None` without a total. A step begins where the one before it ends.

    Changes alone all begin at the start, and have dots: what they leave of the total is their interaction.
    """
    if (
        made.total is None
        or made.total.shown is None
        or any(s.contrast.shown is None for s in made.steps)
    ):
        return None
    piled = made.design != "alone"
    points: list[Point] = []
    reached = product = 1.0
    for step in made.steps:
        label = ", ".join(change.text for change in step.changes)
        point = _point(data, label, step.contrast, reached)
        points.append(point)
        product *= point.x
        reached = product if piled else 1.0
    points += [
        _rest(data, made, made.total.shown.ratio, product),
        _point(data, "total", made.total, 1.0),
    ]
    item = data.plan.input(made.input_id)
    start = data.label(made.start_cell_id)
    where = data.on_input(item, ", input ")
    if piled:
        title = f"From {start}, step by step{where}"
        desc = (
            "Each bar begins where the one before it ends; lines are the intervals of the single steps. Hatched: what "
            "the steps leave of the total."
        )
    else:
        title = f"Each change alone against {start}{where}"
        desc = (
            "Dots: every change by itself, and all of them together as the total, with intervals. Hollow: the total "
            "over the product of the changes, 1 where they multiply."
        )
    labels = (
        ("x", f"ratio to the start; below 1 is {'better' if data.higher(data.metric) else 'less'}"),
    )
    marks = () if piled else (("alone", 1.0),)
    return Figure(
        f"{table.anchor}-plot",
        "waterfall",
        title,
        desc,
        tuple(points),
        table,
        labels,
        marks,
        beside=True,
    )


def _rest(data: ReportData, made: Contribution, total: float, product: float) -> Point:
    """What the steps leave: of changes alone their measured interaction, of piled ones a quotient of medians."""
    shown = made.remainder.shown if made.remainder is not None else None
    if made.remainder is not None and shown is not None:
        keep = made.remainder.verdict is not Verdict.INCONCLUSIVE
        text = str(
            show_ratio(
                shown.ratio, shown.lo, shown.hi, data.plan.judge.margin_of(data.metric), keep=keep
            )
        )
        return Point(REST, shown.ratio, 1.0, shown.lo, shown.hi, text=text)
    left = total / product
    return Point(REST, left, 1.0 if made.design == "alone" else product, text=significant(left, 3))


def _point(data: ReportData, label: str, contrast: Contrast, begin: float) -> Point:
    shown = contrast.shown
    assert shown is not None
    margin = data.plan.judge.margin_of(data.metric)
    text = show_ratio(
        shown.ratio, shown.lo, shown.hi, margin, keep=contrast.verdict is not Verdict.INCONCLUSIVE
    )
    return Point(
        label,
        shown.ratio,
        begin,
        shown.lo,
        shown.hi,
        verdict=contrast.verdict,
        text=f"{text} {glyph(contrast.verdict)}",
    )
