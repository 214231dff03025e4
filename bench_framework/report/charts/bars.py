"""Rates with the bounds derived from them, and contributions of changes (waterfall)."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from bench_framework.model.judgement import Derived
from bench_framework.model.plan import Input
from bench_framework.report.blocks import Figure, Point, Table
from bench_framework.report.charts import Axes, Palette, Scale, direction, frame
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import shortest, size_unit

FEWEST: Final = 2
"""Fewest rates of a bar plot."""
ROW: Final = 26.0
BAR: Final = 7.0
"""Half of a bar's height."""
TOP: Final = 10.0
BOTTOM: Final = 46.0
NARROW_ROW: Final = 44.0
ABOVE: Final = 18.0
"""Distance of the texts of a narrow drawing above the middle of their bar."""
DECADE: Final = 10.0
MOST_LABEL: Final = 32


def bars(data: ReportData, item: Input, rows: Sequence[Derived], table: Table) -> Figure | None:
    """Return one mark per rate, in the order and with the texts of the table, if there are two."""
    rates = [(row, row.value) for row in rows if row.unit == "bytes/s" and row.value is not None]
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
    left, right = _span(figure)
    most = max(max(p.x, p.x_hi or p.x) for p in figure.points) * 1.04
    least = min(p.x for p in figure.points)
    log = least > 0 and most / least > DECADE
    lo = least / 1.5
    scale = (right - left) / (math.log10(most / lo) if log else most)

    def at(rate: float) -> float:
        return left + (math.log10(max(rate, lo) / lo) if log else rate) * scale

    ticks = frame.nice_steps(lo, most, 6) if log else frame.nice_rates(most)
    _axis(ax, figure, colours, at, ticks, origin=0)
    for point, y in _rows(figure):
        colour = colours["ink" if point.strong else "muted"]
        if log:
            _dot(ax, at(point.x), y, colour, colours["ground"], filled=point.strong)
        else:
            _bar(ax, (left, at(point.x)), y, colour, filled=point.strong)
        frame.interval(ax, point.x_lo, point.x_hi, at, y, colours["ink"])
        _texts(ax, figure, point, y, colours, colours["ink"])


def draw_changes(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a bar with its interval from the start of a step (`y`) to its end (`y` × `x`).

    The axis is linear. A point without a verdict is the remaining interaction and is hatched. With
    the mark ``alone``, each change is a dot, and the interaction is a hollow dot.
    """
    left, right = _span(figure)
    ends = [end for p in figure.points for end in _ends(p)] + [1.0]
    room = 0.04 * (max(ends) - min(ends)) or 0.1
    lo, hi = max(0.0, min(ends) - room), max(ends) + room
    scale = (right - left) / (hi - lo)

    def at(ratio: float) -> float:
        return left + (min(max(ratio, lo), hi) - lo) * scale

    _axis(ax, figure, colours, at, frame.nice_between(lo, hi, 6), origin=1)
    dots = bool(figure.mark("alone"))
    for point, y in _rows(figure):
        colour = colours[direction(point.verdict).token]
        if dots:
            _dot(ax, at(point.x), y, colour, colours["ground"], filled=point.verdict is not None)
        else:
            span = (at(point.y), at(point.y * point.x))
            hatch = "" if point.verdict else "////"
            _bar(ax, span, y, colour, filled=not hatch, hatch=hatch)
        lo_end, hi_end = (end and end * point.y for end in (point.x_lo, point.x_hi))
        frame.interval(ax, lo_end, hi_end, at, y, colours["muted" if dots else "ink"])
        _texts(ax, figure, point, y, colours, colour)


def _span(figure: Figure) -> tuple[float, float]:
    """Return left and right of the plotting area, next to the texts of the rows."""
    if figure.narrow:
        return 10.0, frame.drawn_width(figure) - 10.0
    left = frame.label_room([p.label for p in figure.points], MOST_LABEL)
    return left, frame.WIDTH - frame.text_room(p.text for p in figure.points)


def _texts(ax: Axes, figure: Figure, point: Point, y: float, colours: Palette, colour: str) -> None:
    """Draw name and figures: left and right of a bar, or above it."""
    left, right = _span(figure)
    labels = [p.label for p in figure.points]
    if figure.narrow:
        most = int((right - left - frame.text_room([point.text])) / frame.UNITS_PER_COLUMN)
        frame.words(ax, (left, y + ABOVE), frame.shorts(labels, most)[point.label], colours["ink"])
        frame.words(ax, (right, y + ABOVE), point.text, colour, ha="right")
    else:
        name = frame.shorts(labels, MOST_LABEL)[point.label]
        frame.words(ax, (left - 8, y), name, colours["ink"], ha="right")
        frame.words(ax, (right + 10, y), point.text, colour)


def _axis(
    ax: Axes, figure: Figure, colours: Palette, at: Scale, ticks: list[float], *, origin: float
) -> None:
    """Draw a line per tick, with that of the origin in a darker colour, and the title."""
    height = _height(figure)
    frame.sheet(ax, frame.drawn_width(figure), height)
    for tick in ticks:
        line = [(at(tick), BOTTOM - 6), (at(tick), height - TOP)]
        frame.strokes(ax, [line], colours["muted" if tick == origin else "rule"])
        frame.words(ax, (at(tick), BOTTOM - 18), shortest(tick), colours["muted"], ha="center")
    left, right = _span(figure)
    frame.words(ax, ((left + right) / 2, 10), figure.label("x"), colours["muted"], ha="center")


def _rows(figure: Figure) -> Iterator[tuple[Point, float]]:
    """Yield each point with the middle of its bar."""
    top, row = _height(figure) - TOP, NARROW_ROW if figure.narrow else ROW
    for number, point in enumerate(figure.points):
        yield point, top - row * (number + 0.5) - ABOVE / 2 * figure.narrow


def _height(figure: Figure) -> float:
    return TOP + BOTTOM + (NARROW_ROW if figure.narrow else ROW) * len(figure.points)


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
    ax.fill_between(ends, y - BAR, y + BAR, **face, **line)
