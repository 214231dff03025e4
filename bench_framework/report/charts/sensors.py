"""Plot of system counters: a line per counter, on the same time axis as the drift plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.report.charts.drift import PLACE
from bench_framework.report.charts.frame import nice_rates, sheet, strokes, words

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure
    from bench_framework.report.charts import Axes, Palette

WIDTH: Final = 720.0
ROW: Final = 44.0
TALL: Final = 20.0
BOTTOM: Final = 38.0
LEFT: Final = PLACE[0]
RIGHT: Final = PLACE[2]


def size(figure: Figure) -> tuple[float, float]:
    """Return width and height in units."""
    return WIDTH, ROW * len(figure.by_series()) + BOTTOM


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a row per counter: its name, its range (`text`), and its mean per time slice.

    A point is a slice: `x` is its middle, `x_lo` and `x_hi` are its ends in minutes, and `y` is the
    mean. The vertical range of every row starts at zero, which keeps small changes small.
    """
    width, height = size(figure)
    sheet(ax, width, height)
    first = min(p.x_lo if p.x_lo is not None else p.x for p in figure.points)
    last = max(p.x_hi if p.x_hi is not None else p.x for p in figure.points)
    scale = (RIGHT - LEFT) / ((last - first) or 1.0)
    for row, (name, points) in enumerate(figure.by_series().items()):
        floor = height - ROW * (row + 1)
        words(ax, (LEFT, floor + TALL + 11), name, colours["ink"])
        words(ax, (RIGHT, floor + TALL + 11), points[0].text, colours["muted"], ha="right")
        strokes(ax, [[(LEFT, floor), (RIGHT, floor)]], colours["rule"])
        tall = TALL / (max(p.y for p in points) or 1.0)
        line = [(LEFT + (p.x - first) * scale, floor + p.y * tall) for p in points]
        strokes(ax, [line], colours["series-1"], 1.4)
    for tick in nice_rates(last - first):
        words(ax, (LEFT + tick * scale, BOTTOM - 11), f"{tick:g}", colours["muted"], ha="center")
    words(ax, ((LEFT + RIGHT) / 2, 8), figure.label("x"), colours["muted"], ha="center")
