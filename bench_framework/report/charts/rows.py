"""Rows of a chart: a name, a mark on a shared axis, and its figures next to the mark.

A wide drawing has the names on the left. A drawing for phones has name and figures above the mark.
Long names and figures wrap; nothing is cut.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bench_framework.report.blocks import Figure, Point
from bench_framework.report.charts import Axes, Palette, Scale, frame, token

ROW: Final = 22.0
LINE: Final = 14.0
"""Distance of two lines of text."""
BAR: Final = 7.0
"""Half of a bar's height."""
TOP: Final = 22.0
"""Room of the labels of the axis."""
BOTTOM: Final = 4.0
GAP: Final = 7.0
"""Room between a mark, or the bold part of its figures, and what follows."""
MOST_NAME: Final = 190.0
"""Most room of the names of a wide drawing."""
MOST_TEXT: Final = 265.0
"""Most room of the figures after a mark."""
FAINT: Final = 0.5
STRONG: Final = 0.9
"""Opacity of a bar."""
LEAST_AXIS: Final = 0.42
"""Least share of the width for the axis if the figures have their own column."""
Tick = tuple[float, str]
"""Value and label."""
Line = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class RowPlace:
    """A row: its point, the middle of its mark, and the lines of its texts."""

    point: Point
    y: float
    name: tuple[str, ...]
    text: tuple[str, ...]
    """The first line follows the bold part."""
    begin: float = 0.0
    """Left end of the figures; of a drawing for phones, of figures below the name."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The places of all rows on a sheet, from top to bottom, and of the axis."""

    width: float
    height: float
    left: float
    right: float
    narrow: bool
    places: tuple[RowPlace, ...]

    @property
    def top(self) -> float:
        """Return the upper end of the axis."""
        return self.height - TOP

    def boxes(self) -> list[frame.Box]:
        """Return the boxes of the figures that stand in the area of the axis."""
        return [] if self.narrow else [_box(place) for place in self.places]


def after_marks(figure: Figure, share: Callable[[Point], float]) -> Rows:
    """Return rows whose figures follow their marks.

    `share` returns where a mark ends, as a share of the axis. The axis is as long as all figures
    permit.
    """
    if figure.narrow:
        return _narrow(figure)
    left = _name_room(figure, MOST_NAME)
    width = frame.drawn_width(figure)
    texts = [_wrapped(point, MOST_TEXT) for point in figure.points]
    length = width - left - 10
    for point, lines in zip(figure.points, texts, strict=True):
        room = width - 4 - left - GAP - _text_width(point, lines)
        length = min(length, room / max(0.05, share(point)))
    # A row whose mark is short has more room than the least.
    texts = [
        _wrapped(point, max(MOST_TEXT, width - 4 - left - GAP - share(point) * length))
        for point in figure.points
    ]
    right = left + length
    return _wide(figure, (left, right), texts, lambda p: left + share(p) * length + GAP)


def with_column(figure: Figure) -> Rows:
    """Return rows whose figures have a column at the right of the axis."""
    if figure.narrow:
        return _narrow(figure)
    width = frame.drawn_width(figure)
    texts = [_wrapped(point, 0.32 * width) for point in figure.points]
    room = max(_text_width(p, t) for p, t in zip(figure.points, texts, strict=True)) + 18
    left = _name_room(figure, min(MOST_NAME, (1 - LEAST_AXIS) * width - room - 10))
    return _wide(figure, (left, width - room), texts, lambda _: width - room + 14)


def _name_room(figure: Figure, most: float) -> float:
    """Return the room of the names, which wrap if they are wider than `most`."""
    widest = max(frame.text_width(p.label, bold=p.strong) for p in figure.points)
    return 10 + min(most, widest)


def _wrapped(point: Point, room: float) -> list[str]:
    lead = frame.text_width(point.lead, bold=True) + GAP if point.lead else 0.0
    return frame.text_lines(point.text, room, first=room - lead)


def _text_width(point: Point, lines: Sequence[str]) -> float:
    lead = frame.text_width(point.lead, bold=True) + GAP if point.lead else 0.0
    first, *rest = lines
    return max([lead + frame.text_width(first), *map(frame.text_width, rest)])


def _wide(
    figure: Figure,
    axis: tuple[float, float],
    texts: Sequence[Sequence[str]],
    begin: Callable[[Point], float],
) -> Rows:
    left, right = axis
    places: list[RowPlace] = []
    used = 0.0
    for point, text in zip(figure.points, texts, strict=True):
        name = frame.text_lines(point.label, left - 9, bold=point.strong)
        high = max(ROW, LINE * max(len(name), len(text)) + 6)
        places.append(RowPlace(point, used + high / 2, tuple(name), tuple(text), begin(point)))
        used += high
    height = TOP + used + BOTTOM
    placed = (replace(place, y=height - TOP - place.y) for place in places)
    return Rows(frame.drawn_width(figure), height, left, right, narrow=False, places=tuple(placed))


def _narrow(figure: Figure) -> Rows:
    width, left = frame.drawn_width(figure), 2.0
    room = width - 2 * left
    places: list[RowPlace] = []
    used = 0.0
    for point in figure.points:
        name = frame.text_lines(point.label, room, bold=point.strong)
        text, begin = _wrapped(point, room), left
        together = frame.text_width(name[-1], bold=point.strong) + 14 + _text_width(point, text)
        lines = len(name) + len(text)
        if len(text) == 1 and together <= room:
            begin, lines = width - left - _text_width(point, text), lines - 1
        places.append(
            RowPlace(point, used + LINE * lines + BAR + 3, tuple(name), tuple(text), begin)
        )
        used += LINE * lines + 2 * BAR + 11
    height = TOP + used + BOTTOM
    placed = (replace(place, y=height - TOP - place.y) for place in places)
    return Rows(width, height, left, width - left, narrow=True, places=tuple(placed))


def _box(place: RowPlace) -> frame.Box:
    wide, half = _text_width(place.point, place.text), max(ROW, LINE * len(place.text) + 6) / 2
    return place.begin - 3, place.y - half, place.begin + wide, place.y + half


def draw_texts(ax: Axes, rows: Rows, colours: Palette) -> None:
    """Draw the names and figures of all rows."""
    for place in rows.places:
        lines = len(place.name)
        for number, line in enumerate(place.name):
            weight = {"fontweight": "bold"} if place.point.strong else {}
            style = {"fontsize": frame.TEXT, **weight}
            if rows.narrow:
                begin, y = rows.left, _head(rows, place) - LINE * number
            else:
                style["ha"] = "right"
                begin, y = rows.left - 8, place.y + LINE * ((lines - 1) / 2 - number)
            frame.words(ax, (begin, y), line, colours["ink"], **style)
        _draw_figures(ax, rows, place, colours)


def _head(rows: Rows, place: RowPlace) -> float:
    """Return the height of the first line above the mark of a drawing for phones."""
    one_line = place.begin > rows.left
    lines = len(place.name) + (0 if one_line else len(place.text))
    return place.y + BAR + 3 + LINE * (lines - 0.5)


def _draw_figures(ax: Axes, rows: Rows, place: RowPlace, colours: Palette) -> None:
    point, x = place.point, place.begin
    y = place.y + LINE * (len(place.text) - 1) / 2
    if rows.narrow:
        above = len(place.name) - (1 if place.begin > rows.left else 0)
        y = _head(rows, place) - LINE * above
    if point.lead:
        colour = colours[token(point.verdict)]
        bold = {"fontsize": frame.TEXT, "fontweight": "bold"}
        frame.words(ax, (x, y), point.lead, colour, **bold)
    for number, line in enumerate(place.text):
        after = frame.text_width(point.lead, bold=True) + GAP if point.lead and not number else 0.0
        place_ = (x + after, y - LINE * number)
        frame.words(ax, place_, line, colours["muted"], fontsize=frame.TEXT)


def draw_axis(
    ax: Axes,
    rows: Rows,
    at: Scale,
    ticks: Sequence[Tick],
    colours: Palette,
    *,
    even: bool = True,
) -> None:
    """Draw the sheet, and a labelled line for each tick that has room; the distances are `even`."""
    frame.sheet(ax, rows.width, rows.height)
    labels = [(at(value), label, frame.text_width(label, frame.SMALL)) for value, label in ticks]
    while _crowded(labels):  # of an even axis every second tick stays, of another one what has room
        labels = labels[::2] if even else _with_room(labels)
    lines: list[Line] = []
    for x, label, wide in labels:
        lines += upright(rows, x)
        inside = min(max(x, wide / 2 + 1), rows.width - wide / 2 - 1)
        frame.words(ax, (inside, rows.top + 10), label, colours["muted"], ha="center")
    frame.strokes(ax, lines, colours["rule"], zorder=0)


Label = tuple[float, str, float]
"""Place, text and width."""


def _crowded(labels: Sequence[Label]) -> bool:
    return any(b[0] - a[0] < (a[2] + b[2]) / 2 + 6 for a, b in itertools.pairwise(labels))


def _with_room(labels: Sequence[Label]) -> list[Label]:
    with_space: list[Label] = []
    for label in labels:
        if not with_space or not _crowded([with_space[-1], label]):
            with_space.append(label)
    return with_space


def upright(rows: Rows, x: float) -> list[Line]:
    """Return the parts of an upright line over all rows that cover no text."""
    if rows.narrow:
        return [((x, p.y - BAR - 2), (x, p.y + BAR + 2)) for p in rows.places]
    covered = sorted((box[3], box[1]) for box in rows.boxes() if box[0] <= x <= box[2])[::-1]
    parts: list[Line] = []
    above = rows.top
    for high, low in covered:
        if high < above:
            parts.append(((x, above), (x, high)))
        above = min(above, low)
    return [*parts, ((x, above), (x, BOTTOM))] if above > BOTTOM else parts


def draw_bar(
    ax: Axes, ends: tuple[float, float], y: float, colour: str, colours: Palette, *, faint: bool
) -> None:
    """Draw a bar between two places; a faint one is no change."""
    low, high = min(ends), max(ends)
    high = max(high, low + 1.0)  # a bar of no length stays visible
    span = ((low, high), y - BAR, y + BAR)
    ax.fill_between(*span, facecolor=colours["ground"], edgecolor="none", zorder=1.5)
    style = {"edgecolor": "none", "alpha": FAINT if faint else STRONG, "zorder": 2}
    ax.fill_between(*span, facecolor=colour, **style)
