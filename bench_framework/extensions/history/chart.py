"""History of a scenario: one row per configuration, with records, levels and changes."""

from typing import Final

from bench_framework.report.blocks import Figure, Point
from bench_framework.report.charts import Axes, Palette, frame

ROW: Final = 62.0
TOP: Final = 8.0
BOTTOM: Final = 34.0
PAD: Final = 9.0
MOST_ROWS: Final = 24
MOST_LABEL: Final = 28
LEAST_RANGE: Final = 4.0
"""Smallest range of a row in percent, so that noise does not fill it."""
MOST_DOTS: Final = 400
"""Largest number of dots in a row. Of more records, every k-th is drawn."""


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw the rows.

    A point has its place as `x`, and in percent of the first level its level as `y` and the mean
    level as `y_lo`, or none for an outlier. `text` is the size of a change, which begins at this point.
    """
    rows = figure.by_series()
    width, height = frame.WIDTH, TOP + BOTTOM + ROW * len(rows)
    frame.sheet(ax, width, height)
    left = frame.label_room(list(rows), MOST_LABEL) + 6
    first, last = (end(p.x for p in figure.points) for end in (min, max))
    scale = (width - left - 14) / max(1.0, last - first)
    labels = frame.shorts(list(rows), MOST_LABEL)
    for number, (name, points) in enumerate(rows.items()):
        base = height - TOP - ROW * (number + 1)
        frame.strokes(ax, [[(left, base), (width - 8, base)]], colours["rule"], 0.8)
        frame.words(ax, (left - 12, base + ROW / 2), labels[name], colours["ink"], ha="right")
        places = [(left + (p.x - first) * scale, p) for p in points]
        _row(ax, places, base, colours)
    for x, label, side in ((left, "first", "left"), (width - 8, "last", "right")):
        frame.words(ax, (x, 22), figure.label(label), colours["muted"], ha=side)
    frame.words(ax, ((left + width) / 2, 8), figure.label("x"), colours["muted"], ha="center")


def _row(ax: Axes, places: list[tuple[float, Point]], base: float, colours: Palette) -> None:
    ends = [y for _, p in places if p.y_lo is not None for y in (p.y, p.y_lo)]
    low, high = min(ends), max(ends)
    middle, reach = (low + high) / 2, max(high - low, LEAST_RANGE)

    def at(percent: float) -> float:
        inside = min(max((percent - middle) / reach, -0.5), 0.5)
        return base + ROW / 2 + inside * (ROW - 2 * PAD)

    step = -(-len(places) // MOST_DOTS)
    dots = [(x, at(p.y)) for x, p in places[::step] if p.y_lo is not None]
    frame.marks(
        ax, dots, "o", color=colours["series-1"], markersize=3, alpha=0.55, linestyle="none"
    )
    rings = [(x, at(p.y)) for x, p in places if p.y_lo is None]
    ring = {"markerfacecolor": "none", "markeredgecolor": colours["muted"]}
    frame.marks(ax, rings, "o", markersize=5, linestyle="none", **ring)
    line: list[tuple[float, float]] = []
    for x, p in places:
        if p.y_lo is None:
            continue
        if p.text and line:
            colour = colours["series-2" if p.strong else "series-1"]
            frame.strokes(ax, [line], colours["ink"], 1.6)
            frame.strokes(ax, [[(x, base + 2), (x, base + ROW - 4)]], colour, 1.0, linestyle=":")
            frame.words(ax, (x - 4, base + ROW - 9), p.text, colour, ha="right")
            line = []
        y = at(p.y_lo)
        if len(line) > 1 and line[-2][1] == y:  # the same level: keep only its ends
            line.pop()
        line.append((x, y))
    frame.strokes(ax, [line], colours["ink"], 1.6)
