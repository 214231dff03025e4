"""Heat map of ratios over two axes, in the colours of the directions; signs repeat them."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Input, Role, Variant
from bench_framework.report.blocks import Figure, Point, Table
from bench_framework.report.charts import OTHER, Axes, Palette, frame, token
from bench_framework.report.context import ReportData
from bench_framework.report.table_cells import contrast_cells
from bench_framework.text.numbers import DASH, show_comparison
from bench_framework.text.words import glyph

FEWEST: Final = 2
"""Fewest values of an axis."""
MOST_COLUMNS: Final = 8
MOST_ROWS: Final = 12
MEAN: Final = "mean"
ROW: Final = 34.0
TOP: Final = 26.0
BOTTOM: Final = 24.0
MOST_LABEL: Final = 24
WIDEST: Final = 130.0
STRONGEST: Final = 0.75
"""Opacity at a ratio of 0.5 or less or of 2 or more. Text remains readable on it."""


@dataclass(frozen=True, slots=True)
class _Map:
    """Two axes, their levels, and the variant of each combination."""

    down: Axis
    across: Axis
    downs: tuple[AxisValue, ...]
    acrosses: tuple[AxisValue, ...]
    variants: Mapping[tuple[str, str], Variant]

    @property
    def crossed(self) -> bool:
        """Return whether all combinations of two levels of each axis exist."""
        return any(
            all((a.name, b.name) in self.variants for a in pair for b in other)
            for pair in itertools.combinations(self.downs, FEWEST)
            for other in itertools.combinations(self.acrosses, FEWEST)
        )


def grid(data: ReportData, item: Input, table: Table) -> Figure | None:
    """Return a heat map of the first two crossed axes, with the other axes as in the baseline.

    It is `None` if no two axes are crossed, or if they have too many values for a page.
    """
    axes = next((m for m in _maps(data) if m.crossed), None)
    if axes is None or len(axes.downs) > MOST_ROWS or len(axes.acrosses) > MOST_COLUMNS:
        return None
    variant_of = axes.variants.get
    points = [
        _point(data, item, variant_of((down.name, across.name)), (x, across.label), (y, down.label))
        for y, down in enumerate(axes.downs)
        for x, across in enumerate(axes.acrosses)
    ]
    margins = list(_margins(data, item, axes))
    desc = _desc(data, axes, item, margins)
    if any(p.text == DASH for p in (*points, *margins)):
        desc += f" {DASH}: not planned, or not compared."
    side = "above" if data.higher else "below"
    return Figure(
        table.anchor.removesuffix("-table") + "-grid",
        "grid",
        f"{axes.down.name} × {axes.across.name}{data.on_input(item, ', input ')}",
        desc,
        (*points, *margins),
        table,
        (("x", f"ratios {side} 1 are better"),),
        with_table=True,
    )


def _maps(data: ReportData) -> Iterator[_Map]:
    """Yield every pair of axes in plan order. The axis with more values is vertical."""
    baseline, fixed = data.plan.baseline.values, dict(data.plan.baseline.values)
    # An experiment on a key of `fixed` has the baseline's values. An experiment on an axis fills a
    # place of the map.
    experiments = [v for v in data.plan.variants if v.experiment and v.values != baseline]
    others = [v for v in data.plan.variants if not v.experiment]
    for first, second in itertools.combinations(_axes(data), 2):
        longer = len(second.values) > len(first.values)
        down, across = (second, first) if longer else (first, second)
        variants = {
            (values[down.name], values[across.name]): v
            for v in (*experiments, *others)
            if {down.name, across.name} <= (values := dict(v.values)).keys()
            and all(
                values.get(n) == fixed.get(n) for n in {*values, *fixed} - {down.name, across.name}
            )
        }
        downs = tuple(v for v in down.values if any(a == v.name for a, _ in variants))
        acrosses = tuple(v for v in across.values if any(b == v.name for _, b in variants))
        yield _Map(down, across, downs, acrosses, variants)


def _desc(data: ReportData, axes: _Map, item: Input, margins: Sequence[Point]) -> str:
    fixed, drawn = dict(data.plan.baseline.values), {axes.down.name, axes.across.name}
    others = [a.name for a in _axes(data) if a.name not in drawn]
    text = (
        f"Ratio to {data.baseline_on(item).label} by {axes.down.name} (rows) and {axes.across.name} "
        "(columns); blue is better, orange is worse, hatched is inconclusive; without a colour, the "
        "interval reaches into the margin."
    )
    if others:
        constant = ", ".join(f"{name} = {fixed.get(name, DASH)}" for name in others)
        text += f" {constant} as in the baseline."
    if margins:
        text += (
            " At the edges: each level against the baseline's level, as the geometric mean over the "
            "other axes; “changes sign”: the direction depends on another axis."
        )
    return text


def _axes(data: ReportData) -> list[Axis]:
    return [a for a in data.plan.axes if a.kind != "input" and len(a.values) >= FEWEST]


def _margins(data: ReportData, item: Input, axes: _Map) -> Iterator[Point]:
    """Yield the main effects of the levels, for the right and the lower margin."""
    effects = {
        (e.changes[0].axis, e.changes[0].after): (
            f"{contrast_cells(e.mean, data)[0].text} {glyph(e.mean.verdict)}"
            if e.pooled
            else "changes sign"
        )
        for e in data.judgement.structure.effects
        if e.input_id == item.id and len(e.changes) == 1
    }
    base = dict(data.plan.baseline.values)
    for axis, levels in ((axes.down, axes.downs), (axes.across, axes.acrosses)):
        rows = axis is axes.down
        if not any((axis.name, level.name) in effects for level in levels):
            continue
        for place, level in enumerate(levels):
            text = effects.get((axis.name, level.name), "")
            text = text or ("baseline" if base.get(axis.name) == level.name else DASH)
            x, y = (len(axes.acrosses), place) if rows else (place, len(axes.downs))
            names = (level.label, MEAN) if rows else (MEAN, level.label)
            yield Point(names[0], float(x), float(y), text=text, series=names[1], strong=True)


def _point(
    data: ReportData, item: Input, variant: Variant | None, x: tuple[int, str], y: tuple[int, str]
) -> Point:
    """Return a field: ratio and glyph, ``baseline``, or a dash if it was not compared."""
    cell = next((c for c in data.arms(item.id) if variant and c.variant_id == variant.id), None)
    comparison = data.comparison(cell.id, data.metric) if cell else None
    text, ratio, verdict = DASH, None, None
    if cell is not None and cell.role is Role.BASELINE:
        text = "baseline"
    elif comparison is not None:
        verdict, rounded = comparison.verdict, show_comparison(comparison)
        text = f"{rounded.estimate} {glyph(verdict)}" if rounded else glyph(verdict)
        ratio = comparison.shown.ratio if comparison.shown else None
    place = float(x[0]), float(y[0])
    return Point(y[1], *place, x_lo=ratio, verdict=verdict, text=text, series=x[1])


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a field per combination.

    `x` and `y` are its place, `x_lo` is the ratio that sets its colour, and `text` is its label.
    Inconclusive fields are hatched, and fields without a ratio are white. A `strong` point is a
    mean at the edge, without a frame.
    """
    rows = {p.y: p.label for p in figure.points}
    width, height = frame.WIDTH, TOP + BOTTOM + ROW * len(rows)
    frame.sheet(ax, width, height)
    columns = {p.x: p.series for p in figure.points}
    left = frame.label_room(list(rows.values()), MOST_LABEL)
    wide = min(WIDEST, (width - left - 6) / len(columns))
    heads = frame.shorts(list(columns.values()), int(wide / frame.UNITS_PER_COLUMN))
    for place, name in columns.items():
        middle = (left + (place + 0.5) * wide, height - 12)
        frame.words(ax, middle, heads[name], colours["ink"], ha="center")
    stubs = frame.shorts(list(rows.values()), MOST_LABEL)
    for place, name in rows.items():
        side = (left - 8, height - TOP - (place + 0.5) * ROW)
        frame.words(ax, side, stubs[name], colours["ink"], ha="right")
    for point in figure.points:
        middle = (left + (point.x + 0.5) * wide, height - TOP - (point.y + 0.5) * ROW)
        frame.words(
            ax, middle, point.text, colours["muted" if point.strong else "ink"], ha="center"
        )
    for point in (p for p in figure.points if not p.strong):
        ends = (left + point.x * wide + 1, left + (point.x + 1) * wide - 1)
        top = height - TOP - point.y * ROW
        field = (ends, top - ROW + 1, top - 1)
        shade = _shade(point.x_lo)
        colour = token(point.verdict)
        inconclusive = point.verdict is not None and point.verdict.value == "inconclusive"
        if shade and colour != OTHER:
            ax.fill_between(*field, facecolor=colours[colour], edgecolor="none", alpha=shade)
        edge = {"facecolor": "none", "edgecolor": colours["rule"], "linewidth": 0.8}
        ax.fill_between(*field, hatch="////" if inconclusive else None, **edge)
    frame.words(ax, (left, 10), figure.label("x"), colours["muted"])


def _shade(ratio: float | None) -> float:
    """Return the opacity of a ratio by its distance from 1 on the log scale."""
    if ratio is None or ratio <= 0 or not math.isfinite(ratio):
        return 0.0
    # Drawings are written in tenths. The lightest shade must be visible.
    return max(0.1, round(STRONGEST * min(1.0, abs(math.log2(ratio))), 1)) if ratio != 1 else 0.0
