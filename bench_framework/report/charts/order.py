"""Execution order: one row per variant with a tick per sample. A random order has no pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.report.charts.frame import (
    UNITS_PER_COLUMN,
    label_columns,
    sheet,
    shorts,
    strokes,
    words,
)

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure
    from bench_framework.report.charts import Axes, Palette

WIDTH: Final = 720.0
ROW: Final = 15.0
TOP: Final = 6.0
BOTTOM: Final = 30.0
MOST_LABEL: Final = 32
HALF: Final = 5.0
"""Half of a tick's height."""


def size(figure: Figure) -> tuple[float, float]:
    """Return width and height in units."""
    return WIDTH, TOP + BOTTOM + ROW * len(list(figure.by_series()))


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw ticks at the positions (`x`), with a band behind every second round (`y`)."""
    width, height = size(figure)
    sheet(ax, width, height)
    names = list(figure.by_series())
    left = 14 + UNITS_PER_COLUMN * label_columns(names, MOST_LABEL)
    last = max(p.x for p in figure.points) + 1
    scale = (width - left - 6) / last
    for number in sorted({p.y for p in figure.points if p.y % 2 == 0}):
        turns = [p.x for p in figure.points if p.y == number]
        ends = (left + min(turns) * scale, left + (max(turns) + 1) * scale)
        ax.fill_between(ends, BOTTOM, height - TOP, facecolor=colours["band"], edgecolor="none")
    labels = shorts(names, MOST_LABEL)
    for row, name in enumerate(names):
        y = height - TOP - ROW * (row + 0.5)
        words(ax, (left - 8, y), labels[name], colours["ink"], ha="right")
        turns = [left + (p.x + 0.5) * scale for p in figure.points if p.series == name]
        strokes(
            ax,
            [[(x, y - HALF), (x, y + HALF)] for x in turns],
            colours["series-1"],
            min(2.0, max(0.8, scale / 2)),
        )
    words(ax, ((left + width) / 2, 12), figure.label("x"), colours["muted"], ha="center")
