"""Forest plot: ratio of each variant to the baseline, with its confidence interval."""

import math
from collections.abc import Sequence
from typing import Final

from bench_framework.model.plan import Cell
from bench_framework.report.blocks import Figure, Point, Table
from bench_framework.report.charts import VERDICT_TOKENS, Axes, Palette, frame
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import plain_interval
from bench_framework.text.names import capital
from bench_framework.text.numbers import format_percent, shortest
from bench_framework.text.words import change, noun

ROW: Final = 23.0
NARROW_ROW: Final = 42.0
TOP: Final = 22.0
BOTTOM: Final = 44.0
MOST_LABEL: Final = 34
TICKS_BELOW: Final = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.33, 0.4, 0.5, 0.67, 0.8, 0.9, 0.95)
TICKS_ABOVE: Final = (1.05, 1.1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 20, 50, 100)
LEAST_REACH: Final = 1.3
"""Smallest factor by which the range may exceed the estimates to show their intervals."""
TICK_ROOM: Final = 34.0
POINT: Final = 7.0
"""Size of the marker of an estimate."""
BELOW: Final = 0.22
"""Distance of the marks of a narrow drawing below the middle of their row, as a part of it."""
MARKERS: Final = {
    "better": ("v", True),
    "better-size-uncertain": ("v", False),
    "equivalent": ("s", False),
    "inconclusive": ("o", False),
    "worse-size-uncertain": ("^", False),
    "worse": ("^", True),
}
"""Marker of each verdict code, and whether it is filled."""
Lines = dict[tuple[str, float], list[list[tuple[float, float]]]]
"""Lines by colour and width."""
Marks = dict[tuple[str, str, str, float], list[tuple[float, float]]]
"""Places by marker, colour of its face and of its edge, and size."""


def forest(
    data: ReportData, cells: Sequence[Cell], name: str, table: Table, base: str
) -> Figure | None:
    """Return the forest plot of the configurations of a table, or `None` if nothing was compared.

    `cells` are the configurations of the rows, and `base` names their baseline. The points are in
    the order of the table and have its texts. Their intervals are 95 % CIs.
    """
    points = []
    for cell, row in zip(cells, table.rows, strict=True):
        label = row.cells[0].text
        interval = plain_interval(data.comparison(cell.id, data.metric))
        if row.baseline:
            points.append(Point(label, 1.0, text="baseline", baseline=True, strong=row.strong))
        elif interval is not None:
            ratio, lo, hi = interval.figures
            text, strong = row.cells[2].text, row.strong
            point = Point(label, ratio, 0.0, lo, hi, verdict=row.verdict, text=text, strong=strong)
            points.append(point)
    if all(p.baseline for p in points):
        return None
    metric = noun(data.metric)
    desc = (
        f"Lines: 95\u202f% CIs. Band: the margin of {format_percent(data.margin)}. "
        "Blue marks: conclusive. Filled marks: the difference exceeds the margin."
    )
    less, more = change(data.metric, higher=data.higher(data.metric))
    return Figure(
        name + "-forest",
        "forest",
        f"{capital(metric)} relative to {base}",
        desc,
        tuple(points),
        table,
        (("x", f"{metric} ÷ {metric} of the baseline"), ("less", less), ("more", more)),
        (("margin", data.margin),),
        with_table=True,
    )


def layout(figure: Figure) -> tuple[tuple[float, float], tuple[float, float, float, float]]:
    """Return width and height, and left, bottom, right and top of the plotting area, in units."""
    row = NARROW_ROW if figure.narrow else ROW
    width, height = frame.drawn_width(figure), TOP + BOTTOM + row * len(figure.points)
    if figure.narrow:
        return (width, height), (10.0, BOTTOM, width - 10.0, height - TOP)
    # Names of the best group are bold, and thus wider.
    wider = 1.1 if any(p.strong for p in figure.points) else 1.0
    left = frame.label_room([p.label for p in figure.points], MOST_LABEL, wider=wider)
    right = width - frame.text_room(p.text for p in figure.points)
    return (width, height), (left, BOTTOM, right, height - TOP)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw the rows from top to bottom in the order of the points."""
    lo, hi = limits(figure)
    ax.set_xscale("log", base=2)
    ax.set_xlim(lo, hi)
    ax.set_ylim(len(figure.points) - 0.5, -0.5)
    frame.calm(ax, figure, colours, left=False)
    if margin := figure.mark("margin"):
        ends = 1 / (1 + margin), 1 + margin
        ax.axvspan(*ends, facecolor=colours["band"], edgecolor="none", zorder=0)
    ax.axvline(1.0, color=colours["muted"], linewidth=1, zorder=1)
    _, (left, _, right, _) = layout(figure)
    room = right - left - frame.text_room(p.text for p in figure.points)
    most = int(room / frame.UNITS_PER_COLUMN) if figure.narrow else MOST_LABEL
    names = frame.shorts([p.label for p in figure.points], most)
    lines: Lines = {}
    marks: Marks = {}
    for row, point in enumerate(figure.points):
        _point(lines, marks, row + BELOW * figure.narrow, point, (lo, hi), colours)
        _texts(ax, row, point, names[point.label], colours, narrow=figure.narrow)
    # One path per style takes a third of the bytes. Markers are above lines, and points above the
    # ends of intervals.
    for (colour, width), segments in lines.items():
        frame.strokes(ax, segments, colour, width, zorder=2, clip_on=True)
    for (marker, face, edge, size), places in marks.items():
        style = {"markerfacecolor": face, "markeredgecolor": edge, "markeredgewidth": 1.4}
        order = 3 if size < POINT else 4
        frame.marks(ax, places, marker, markersize=size, zorder=order, **style)
    ticks = kept_ticks(lo, hi, right - left)
    ax.set_xticks(ticks, [shortest(tick) for tick in ticks])
    ax.set_yticks([])
    style = {"transform": ax.transAxes, "va": "bottom"}
    for x, text, side in (
        (0.0, "◂ " + figure.label("less"), "left"),
        (1.0, figure.label("more") + " ▸", "right"),
    ):
        frame.words(ax, (x, 1.0), text, colours["muted"], ha=side, **style)


def limits(figure: Figure) -> tuple[float, float]:
    """Return the range: every estimate, twice the margin, and the readable interval parts."""
    margin = figure.mark("margin") or 0.02
    estimates = [p.x for p in figure.points]
    low = min(*estimates, 1 / (1 + 2 * margin)) if estimates else 0.5
    high = max(*estimates, 1 + 2 * margin) if estimates else 2.0
    # An interval is cut, with an arrow at its end, only if the estimates would otherwise have less
    # than a third of the width.
    reach = max(LEAST_REACH, high / low)
    lows = [p.x_lo for p in figure.points if p.x_lo is not None and p.x_lo > 0]
    highs = [p.x_hi for p in figure.points if p.x_hi is not None and math.isfinite(p.x_hi)]
    low = max(min([low, *lows]), low / reach)
    high = min(max([high, *highs]), high * reach)
    pad = (high / low) ** 0.03
    return low / pad, high * pad


def kept_ticks(lo: float, hi: float, room: float) -> list[float]:
    """Return ticks within the range that do not overlap. The tick at 1 is always included."""
    scale = room / math.log2(hi / lo)
    ticks = [1.0]
    for tick in sorted((*TICKS_BELOW, *TICKS_ABOVE), key=lambda t: abs(math.log2(t))):
        if lo <= tick <= hi and all(abs(math.log2(tick / k)) * scale >= TICK_ROOM for k in ticks):
            ticks.append(tick)
    return sorted(ticks)


def _point(
    lines: Lines,
    marks: Marks,
    row: float,
    point: Point,
    span: tuple[float, float],
    colours: Palette,
) -> None:
    """Add the line and the markers of a point to those of its style."""

    def mark(x: float, marker: str, face: str, edge: str, size: float) -> None:
        marks.setdefault((marker, face, edge, size), []).append((x, row))

    if point.baseline:
        mark(1.0, "D", colours["ground"], colours["ink"], POINT - 1)
        return
    code = point.verdict.value if point.verdict else ""
    colour = colours[VERDICT_TOKENS.get(code, "muted")]
    lo, hi = span
    if point.x_lo is not None and point.x_hi is not None:
        line = [(max(point.x_lo, lo), row), (min(point.x_hi, hi), row)]
        lines.setdefault((colour, 1.3), []).append(line)
        for bound, edge, arrow in ((point.x_lo, lo, "<"), (point.x_hi, hi, ">")):
            inside = lo <= bound <= hi
            mark(bound if inside else edge, "|" if inside else arrow, colour, colour, POINT - 2)
    marker, filled = MARKERS.get(code, ("o", False))
    mark(point.x, marker, colour if filled else colours["ground"], colour, POINT)


def _texts(ax: Axes, row: int, point: Point, name: str, colours: Palette, *, narrow: bool) -> None:
    """Draw name and figures: left and right of the marks, or above them."""
    weight = "bold" if point.strong else "normal"
    style = {"transform": ax.get_yaxis_transform(), "fontsize": frame.TEXT}
    if narrow:
        style["bbox"] = {"facecolor": colours["ground"], "edgecolor": "none", "pad": 1.5}
    code = point.verdict.value if point.verdict else ""
    colour = colours[VERDICT_TOKENS.get(code, "muted")]
    left, right, y = -0.015, 1.02, row - BELOW * narrow
    outer, inner = "right", "left"
    if narrow:
        left, right, outer, inner = 0.0, 1.0, "left", "right"
    frame.words(ax, (left, y), name, colours["ink"], ha=outer, fontweight=weight, **style)
    frame.words(ax, (right, y), point.text, colour, ha=inner, **style)
