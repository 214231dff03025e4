"""The heat map's data: the ratios of one input over the first two axes of its variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.model.words import glyph
from bench_framework.report.blocks import Figure, Point
from bench_framework.report.numbers import DASH, show_comparison

if TYPE_CHECKING:
    from bench_framework.model.plan import Axis, Input, Variant
    from bench_framework.report.blocks import Table
    from bench_framework.report.context import ReportData

AXES: Final = 2
FEWEST: Final = 2
"""Values of an axis."""
MOST_COLUMNS: Final = 8
MOST_ROWS: Final = 12


def grid(data: ReportData, item: Input, table: Table) -> Figure | None:
    """A field per combination of two axes, the others as in the baseline.

    `None` where the variants do not cross two axes of two values or more, or too many for a page.
    """
    axes = [a for a in data.plan.axes if a.kind != "input" and len(a.values) >= FEWEST]
    if len(axes) < AXES:
        return None
    first, second = axes[:AXES]
    if len(second.values) > len(first.values):
        first, second = second, first
    fixed = dict(data.baseline.values)
    found = {
        (values[first.name], values[second.name]): v
        for v in data.plan.variants
        if not v.idea and not v.anchor and {first.name, second.name} <= (values := dict(v.values)).keys()
        and all(values.get(n) == fixed.get(n) for n in {*values, *fixed} - {first.name, second.name})
    }  # fmt: skip
    downs = [v for v in first.values if any(a == v.name for a, _ in found)]
    acrosses = [v for v in second.values if any(b == v.name for _, b in found)]
    if not (FEWEST <= len(downs) <= MOST_ROWS and FEWEST <= len(acrosses) <= MOST_COLUMNS):
        return None
    points = tuple(
        _point(data, item, found.get((down.name, across.name)), (x, across.label), (y, down.label))
        for y, down in enumerate(downs)
        for x, across in enumerate(acrosses)
    )
    others = [a for a in axes if a not in (first, second)]
    kept = f" {_kept(others, fixed)} as in the baseline." if others else ""
    desc = (
        f"Ratio to {data.baseline.label} by {first.name} (rows) and {second.name} (columns); blue is better, orange "
        f"is worse, hatched is undecided.{kept}"
    )
    title = f"{first.name} × {second.name}{data.on_input(item, ', input ')}"
    labels = (("x", "ratios below 1 are better"),)
    return Figure(
        table.anchor.removesuffix("-table") + "-grid", "grid", title, desc, points, table, labels, beside=True
    )


def _kept(axes: list[Axis], fixed: dict[str, str]) -> str:
    return ", ".join(f"{axis.name} = {fixed.get(axis.name, DASH)}" for axis in axes)


def _point(
    data: ReportData, item: Input, variant: Variant | None, x: tuple[int, str], y: tuple[int, str]
) -> Point:
    """A field: the ratio and the sign of its verdict, ``baseline``, or a dash for what was not compared."""
    cell = next((c for c in data.arms(item.id) if variant is not None and c.variant_id == variant.id), None)
    base = data.plan.baseline_cell(item.id)
    comparison = data.comparison(cell.id, data.metric) if cell else None
    text, ratio, verdict = DASH, None, None
    if cell is not None and base is not None and cell.id == base.id:
        text = "baseline"
    elif comparison is not None:
        verdict = comparison.verdict
        shown = show_comparison(comparison)
        text = f"{shown.estimate} {glyph(verdict)}" if shown else glyph(verdict)
        ratio = comparison.shown.ratio if comparison.shown else None
    return Point(y[1], float(x[0]), float(y[0]), x_lo=ratio, verdict=verdict, text=text, series=x[1])
