"""Bar plot of rates: measured stages, the bounds derived from them, and the achieved rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.report.charts.frame import (
    UNITS_PER_COLUMN,
    label_columns,
    nice_rates,
    sheet,
    shorts,
    strokes,
    words,
)

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure
    from bench_framework.report.charts import Axes, Palette

WIDTH: Final = 720.0
ROW: Final = 26.0
BAR: Final = 7.0
"""Half of a bar's height."""
TOP: Final = 10.0
BOTTOM: Final = 46.0
RIGHT: Final = 190.0
MOST_LABEL: Final = 32


def size(figure: Figure) -> tuple[float, float]:
    """Return width and height in units."""
    return WIDTH, TOP + BOTTOM + ROW * len(figure.points)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw bars from zero: filled if measured, outlined if derived. Lines are intervals."""
    width, height = size(figure)
    sheet(ax, width, height)
    left = 14 + UNITS_PER_COLUMN * label_columns([p.label for p in figure.points], MOST_LABEL)
    most = max(max(p.x, p.x_hi or p.x) for p in figure.points) * 1.04
    scale = (width - RIGHT - left) / most
    floor = BOTTOM - 6
    for tick in nice_rates(most):
        x = left + tick * scale
        strokes(ax, [[(x, floor), (x, height - TOP)]], colours["muted" if tick == 0 else "rule"])
        words(ax, (x, floor - 12), f"{tick:g}", colours["muted"], ha="center")
    words(ax, ((left + width - RIGHT) / 2, 10), figure.label("x"), colours["muted"], ha="center")
    names = shorts([p.label for p in figure.points], MOST_LABEL)
    for row, point in enumerate(figure.points):
        y = height - TOP - ROW * (row + 0.5)
        colour = colours["series-1" if point.strong else "muted"]
        ax.fill_between(
            (left, left + point.x * scale),
            y - BAR,
            y + BAR,
            facecolor=colour if point.strong else "none",
            edgecolor=colour,
            linewidth=1,
            alpha=0.35 if point.strong else None,
        )
        if point.x_lo is not None and point.x_hi is not None:
            strokes(
                ax,
                [[(left + point.x_lo * scale, y), (left + point.x_hi * scale, y)]],
                colours["ink"],
                1.6,
            )
        words(ax, (left - 8, y), names[point.label], colours["ink"], ha="right")
        words(ax, (width - RIGHT + 10, y), point.text, colours["ink"])
