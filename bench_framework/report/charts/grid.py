"""Heat map of ratios over two axes: blue is better, vermilion is worse, and signs repeat it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from bench_framework.report.charts.frame import (
    UNITS_PER_COLUMN,
    label_columns,
    sheet,
    shorts,
    words,
)

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure
    from bench_framework.report.charts import Axes, Palette

WIDTH: Final = 720.0
ROW: Final = 34.0
TOP: Final = 26.0
BOTTOM: Final = 24.0
MOST_LABEL: Final = 24
WIDEST: Final = 130.0
STRONGEST: Final = 0.75
"""Opacity at a ratio of 0.5 or less or of 2 or more. Text remains readable on it."""


def size(figure: Figure) -> tuple[float, float]:
    """Return width and height in units."""
    return WIDTH, TOP + BOTTOM + ROW * len({p.y for p in figure.points})


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a field per combination.

    `x` and `y` are its place, `x_lo` is the ratio that sets its colour, and `text` is its label.
    Inconclusive fields are hatched, and fields without a ratio are white. A `strong` point is a
    mean at the edge, without a frame.
    """
    width, height = size(figure)
    sheet(ax, width, height)
    rows = {p.y: p.label for p in figure.points}
    columns = {p.x: p.series for p in figure.points}
    left = 14 + UNITS_PER_COLUMN * label_columns(list(rows.values()), MOST_LABEL)
    wide = min(WIDEST, (width - left - 6) / len(columns))
    heads = shorts(list(columns.values()), int(wide / UNITS_PER_COLUMN))
    for place, name in columns.items():
        middle = (left + (place + 0.5) * wide, height - 12)
        words(ax, middle, heads[name], colours["ink"], ha="center")
    stubs = shorts(list(rows.values()), MOST_LABEL)
    for place, name in rows.items():
        words(
            ax,
            (left - 8, height - TOP - (place + 0.5) * ROW),
            stubs[name],
            colours["ink"],
            ha="right",
        )
    for point in figure.points:
        middle = (left + (point.x + 0.5) * wide, height - TOP - (point.y + 0.5) * ROW)
        words(ax, middle, point.text, colours["muted" if point.strong else "ink"], ha="center")
    for point in (p for p in figure.points if not p.strong):
        ends = (left + point.x * wide + 1, left + (point.x + 1) * wide - 1)
        top = height - TOP - point.y * ROW
        shade = _shade(point.x_lo)
        token = "better" if (point.x_lo or 1.0) < 1 else "worse"
        inconclusive = point.verdict is not None and point.verdict.value == "inconclusive"
        if shade and not inconclusive:
            ax.fill_between(
                ends,
                top - ROW + 1,
                top - 1,
                facecolor=colours[token],
                edgecolor="none",
                alpha=shade,
            )
        ax.fill_between(
            ends,
            top - ROW + 1,
            top - 1,
            facecolor="none",
            edgecolor=colours["rule"],
            linewidth=0.8,
            hatch="////" if inconclusive else None,
        )
    words(ax, (left, 10), figure.label("x"), colours["muted"])


def _shade(ratio: float | None) -> float:
    """Return the opacity of a ratio by its distance from 1 on the log scale."""
    if ratio is None or ratio <= 0 or not math.isfinite(ratio):
        return 0.0
    # Drawings are written in tenths. The lightest shade must be visible.
    return max(0.1, round(STRONGEST * min(1.0, abs(math.log2(ratio))), 1)) if ratio != 1 else 0.0
