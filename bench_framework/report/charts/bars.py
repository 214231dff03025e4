"""Rates with the bounds derived from them, and contributions of changes (waterfall)."""

import math
from collections.abc import Sequence
from typing import Final

from bench_framework.model.plan.plan import Input
from bench_framework.model.result.judgement import Derived
from bench_framework.report.blocks import Figure, Point, Table
from bench_framework.report.charts import Axes, Palette, frame, rows, token
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import shortest, size_unit
from bench_framework.units import THIN_SPACE

FEWEST: Final = 2
"""Fewest rates of a bar plot."""
DECADE: Final = 10.0


def bars(data: ReportData, item: Input, derived: Sequence[Derived], table: Table) -> Figure | None:
    """Return one mark per rate, in the order and with the texts of the table, if there are two."""
    rates = [(row, row.value) for row in derived if row.unit == "bytes/s" and row.value is not None]
    if len(rates) < FEWEST:
        return None
    unit, scale = size_unit(min(value for _, value in rates), data.plan.unit_family)
    cells = ([cell.text for cell in row.cells] for row in table.rows)
    texts = {name: f"{value} {bounds}".strip() for name, value, bounds, *_ in cells}
    points = tuple(
        Point(
            name,
            value * scale,
            x_lo=None if row.lo is None else row.lo * scale,
            x_hi=None if row.hi is None else row.hi * scale,
            text=texts.get(name, ""),
            strong=row.measured,
        )
        for row, value in rates
        if (name := row.name.replace("_", " "))
    )
    desc = "Filled: measured. Outlined: derived from measured rates. Lines: 95 % CIs."
    title = f"What bounds the work{data.on_input(item, ', input ')}"
    name, labels = f"{table.anchor}-plot", (("x", f"{unit}/s"),)
    return Figure(name, "bars", title, desc, points, table, labels, with_table=True)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw marks: filled if measured, hollow or outlined if derived. Lines are intervals.

    The marks are bars on an axis that begins at zero. If the rates span more than one decade, the
    axis is logarithmic, and the marks are dots: a bar on it would have no meaning.
    """
    laid = rows.with_column(figure)
    most = max(max(p.x, p.x_hi or p.x) for p in figure.points) * 1.04
    least = min(p.x for p in figure.points)
    log = least > 0 and most / least > DECADE
    ends = laid.left, laid.right
    at = frame.log_scale(least / 1.5, most, ends) if log else frame.linear_scale(0.0, most, ends)
    ticks = frame.nice_steps(least / 1.5, most, 6) if log else frame.nice_between(0.0, most, 6)
    labels = [(tick, _tick(figure, tick)) for tick in ticks]
    rows.draw_axis(ax, laid, at, labels, colours, even=not log)
    for place in laid.places:
        point = place.point
        colour = colours["ink" if point.strong else "muted"]
        if log:
            _dot(ax, at(point.x), place.y, colour, colours["ground"], filled=point.strong)
        else:
            _bar(ax, (laid.left, at(point.x)), place.y, colour, filled=point.strong)
        frame.interval(ax, point.x_lo, point.x_hi, at, place.y, colours["ink"])
    rows.draw_texts(ax, laid, colours)


def _tick(figure: Figure, tick: float) -> str:
    return f"{shortest(tick)}{THIN_SPACE}{figure.label('x')}"


def draw_changes(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a bar with its interval from the start of a step (`y`) to its end (`y` × `x`).

    The axis is linear. A point without a verdict is the remaining interaction and is hatched. With
    the mark ``alone``, each change is a dot, and the interaction is a hollow dot.
    """
    laid = rows.with_column(figure)
    ends = [end for p in figure.points for end in _ends(p)] + [1.0]
    room = 0.04 * (max(ends) - min(ends)) or 0.1
    lo, hi = max(0.0, min(ends) - room), max(ends) + room
    at = frame.linear_scale(lo, hi, (laid.left, laid.right))
    ticks = [(tick, f"{shortest(tick)}×") for tick in frame.nice_between(lo, hi, 6)]
    rows.draw_axis(ax, laid, at, ticks, colours)
    frame.strokes(ax, rows.upright(laid, at(1.0)), colours["muted"], zorder=1)
    dots = bool(figure.mark("alone"))
    for place in laid.places:
        point, y = place.point, place.y
        colour = colours[token(point.verdict)]
        if dots:
            _dot(ax, at(point.x), y, colour, colours["ground"], filled=point.verdict is not None)
        else:
            span = (at(point.y), at(point.y * point.x))
            hatch = "" if point.verdict else "////"
            _bar(ax, span, y, colour, filled=not hatch, hatch=hatch)
        lo_end, hi_end = (end and end * point.y for end in (point.x_lo, point.x_hi))
        frame.interval(ax, lo_end, hi_end, at, y, colours["muted" if dots else "ink"])
    rows.draw_texts(ax, laid, colours)


def _ends(point: Point) -> tuple[float, ...]:
    """Return the start and the end of a bar, and its interval."""
    factors = (1.0, point.x, point.x_lo or point.x, point.x_hi or point.x)
    return tuple(point.y * factor for factor in factors if math.isfinite(factor) and factor > 0)


def _dot(ax: Axes, x: float, y: float, colour: str, ground: str, *, filled: bool) -> None:
    face = colour if filled else ground
    style = {"markersize": 8, "markerfacecolor": face, "markeredgecolor": colour}
    frame.marks(ax, [(x, y)], "o", zorder=4, **style)


def _bar(
    ax: Axes, ends: tuple[float, float], y: float, colour: str, *, filled: bool, hatch: str = ""
) -> None:
    face = {"facecolor": colour, "alpha": 0.35} if filled else {"facecolor": "none"}
    line = {"edgecolor": colour, "linewidth": 1, "hatch": hatch or None}
    ax.fill_between(ends, y - rows.BAR, y + rows.BAR, **face, **line)
