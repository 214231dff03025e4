"""The waterfall's data: what each change brings, from the start of a design to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.words import glyph
from bench_framework.report.blocks import Figure, Point
from bench_framework.report.numbers import show_ratio, significant

if TYPE_CHECKING:
    from bench_framework.model.structure import Contrast, Contribution
    from bench_framework.report.blocks import Table
    from bench_framework.report.context import ReportData


def waterfall(data: ReportData, made: Contribution, table: Table) -> Figure | None:
    """Bars of the steps and of the whole; `None` without a total. A step begins where the one before it ends.

    Changes alone all begin at the start: what they leave of the total is the interaction's bar.
    """
    if made.total is None or made.total.shown is None or any(s.contrast.shown is None for s in made.steps):
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
    total = made.total.shown.ratio
    rest = made.remainder.shown if made.remainder is not None else None
    left = total / product
    points.append(
        Point(
            "interaction / unexplained", left, product, rest.lo if rest else None, rest.hi if rest else None,
            text=significant(left, 3),
        )
    )  # fmt: skip
    points.append(_point(data, "total", made.total, 1.0))
    item = data.plan.input(made.input_id)
    desc = (
        f"{'Each bar begins where the one before it ends' if piled else 'Each change begins at the start'}; "
        "lines are the intervals of the single steps. Hatched: what the steps leave of the total."
    )
    title = f"From {data.label(made.start_cell_id)}, step by step{data.on_input(item, ', input ')}"
    labels = (("x", "ratio to the start; below 1 is less"),)
    return Figure(f"{table.anchor}-plot", "waterfall", title, desc, tuple(points), table, labels, beside=True)


def _point(data: ReportData, label: str, contrast: Contrast, begin: float) -> Point:
    shown = contrast.shown
    assert shown is not None
    margin = data.plan.judge.margin_of(data.metric)
    text = show_ratio(shown.ratio, shown.lo, shown.hi, margin, keep=contrast.verdict.value != "undecided")
    return Point(
        label, shown.ratio, begin, shown.lo, shown.hi, verdict=contrast.verdict,
        text=f"{text} {glyph(contrast.verdict)}",
    )  # fmt: skip
