"""The heat map's data: the ratios of one input over two axes of its variants, and what each level does on average."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.model.words import glyph
from bench_framework.report.blocks import Figure, Point
from bench_framework.report.contrasts import contrast_cells
from bench_framework.report.numbers import DASH, show_comparison

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench_framework.model.plan import Axis, AxisValue, Input, Variant
    from bench_framework.model.structure import Contrast
    from bench_framework.report.blocks import Table
    from bench_framework.report.context import ReportData

FEWEST: Final = 2
"""Values of an axis."""
MOST_COLUMNS: Final = 8
MOST_ROWS: Final = 12
SIGN_CHANGES: Final = "changes sign"
MEAN: Final = "mean"


@dataclass(frozen=True, slots=True)
class _Map:
    """Two axes, the levels that some variant has, and the variant of each combination that there is."""

    down: Axis
    across: Axis
    downs: tuple[AxisValue, ...]
    acrosses: tuple[AxisValue, ...]
    variants: Mapping[tuple[str, str], Variant]

    @property
    def crossed(self) -> bool:
        """Whether two levels of the one axis meet two of the other: without that no effect can depend on both."""
        return any(
            all((a.name, b.name) in self.variants for a in pair for b in other)
            for pair in itertools.combinations(self.downs, FEWEST)
            for other in itertools.combinations(self.acrosses, FEWEST)
        )


def grid(data: ReportData, item: Input, table: Table) -> Figure | None:
    """A field per combination of the first two axes that variants cross, the other axes as in the baseline.

    `None` where no two axes are crossed, or too many values for a page.
    """
    made = next((m for m in _maps(data) if m.crossed), None)
    if made is None or len(made.downs) > MOST_ROWS or len(made.acrosses) > MOST_COLUMNS:
        return None
    points = [
        _point(
            data,
            item,
            made.variants.get((down.name, across.name)),
            (x, across.label),
            (y, down.label),
        )
        for y, down in enumerate(made.downs)
        for x, across in enumerate(made.acrosses)
    ]
    margins = list(_margins(data, item, made))
    return Figure(
        table.anchor.removesuffix("-table") + "-grid",
        "grid",
        f"{made.down.name} × {made.across.name}{data.on_input(item, ', input ')}",
        _desc(data, made, item, bool(margins), any(p.text == DASH for p in (*points, *margins))),
        (*points, *margins),
        table,
        (("x", "ratios below 1 are better"),),
        beside=True,
    )


def _maps(data: ReportData) -> Iterator[_Map]:
    """Every pair of axes in the order of the plan; the one with more values runs down."""
    axes = [a for a in data.plan.axes if a.kind != "input" and len(a.values) >= FEWEST]
    baseline = data.baseline.values
    fixed = dict(baseline)
    # An experiment on a key of `fixed` has the baseline's values; one on an axis fills a place of the map.
    experiments = [v for v in data.plan.variants if v.experiment and v.values != baseline]
    others = [v for v in data.plan.variants if not v.experiment and not v.anchor]
    for first, second in itertools.combinations(axes, 2):
        down, across = (
            (second, first) if len(second.values) > len(first.values) else (first, second)
        )
        found = {
            (values[down.name], values[across.name]): v
            for v in (*experiments, *others)
            if {down.name, across.name} <= (values := dict(v.values)).keys()
            and all(
                values.get(n) == fixed.get(n) for n in {*values, *fixed} - {down.name, across.name}
            )
        }
        downs = tuple(v for v in down.values if any(a == v.name for a, _ in found))
        acrosses = tuple(v for v in across.values if any(b == v.name for _, b in found))
        yield _Map(down, across, downs, acrosses, found)


def _desc(data: ReportData, made: _Map, item: Input, margins: bool, holes: bool) -> str:  # noqa: FBT001 -- two facts
    fixed = dict(data.baseline.values)
    others = [
        a
        for a in data.plan.axes
        if a.kind != "input"
        and len(a.values) >= FEWEST
        and a.name not in {made.down.name, made.across.name}
    ]
    told = (
        f"Ratio to {data.baseline_on(item).label} by {made.down.name} (rows) and {made.across.name} (columns); blue is "
        "better, orange is worse, hatched is inconclusive."
    )
    parts = [told]
    if others:
        kept = ", ".join(f"{axis.name} = {fixed.get(axis.name, DASH)}" for axis in others)
        parts.append(f"{kept} as in the baseline.")
    if margins:
        parts.append(
            "At the edges: each level against the baseline's level, the geometric mean over all other axes, or that "
            "its verdict changes sign."
        )
    if holes:
        parts.append(f"{DASH}: not planned, or not compared.")
    return " ".join(parts)


def _margins(data: ReportData, item: Input, made: _Map) -> Iterator[Point]:
    """Main effects of the levels, at the right of their rows and below their columns; none without a full product."""
    told = {
        (change.axis, change.after): text
        for e in data.judgement.structure.effects
        if e.input_id == item.id and len(e.changes) == 1
        for change in e.changes
        if (text := _mean(data, e.mean, pooled=e.pooled))
    }
    base = dict(data.baseline.values)
    for axis, levels in ((made.down, made.downs), (made.across, made.acrosses)):
        rows = axis is made.down
        if not any((axis.name, level.name) in told for level in levels):
            continue
        for place, level in enumerate(levels):
            text = told.get((axis.name, level.name), "")
            text = text or ("baseline" if base.get(axis.name) == level.name else DASH)
            x, y = (len(made.acrosses), place) if rows else (place, len(made.downs))
            names = (level.label, MEAN) if rows else (MEAN, level.label)
            yield Point(names[0], float(x), float(y), text=text, series=names[1], strong=True)


def _mean(data: ReportData, mean: Contrast, *, pooled: bool) -> str:
    if not pooled:
        return SIGN_CHANGES
    ratio, _, _ = contrast_cells(mean, data)
    return f"{ratio.text} {glyph(mean.verdict)}"


def _point(
    data: ReportData, item: Input, variant: Variant | None, x: tuple[int, str], y: tuple[int, str]
) -> Point:
    """A field: the ratio and the sign of its verdict, ``baseline``, or a dash for what was not compared."""
    cell = next(
        (c for c in data.arms(item.id) if variant is not None and c.variant_id == variant.id), None
    )
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
    return Point(
        y[1], float(x[0]), float(y[0]), x_lo=ratio, verdict=verdict, text=text, series=x[1]
    )
