"""Heat map: ratios over two axes; blue is better, vermillion worse, and the sign says it without colour."""

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
"""Opacity at a ratio of 0.5 or 2 and beyond, where text still stands out."""


def size(figure: Figure) -> tuple[float, float]:
    """Width and height in units."""
    return WIDTH, TOP + BOTTOM + ROW * len({p.y for p in figure.points})


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """A field per combination: `x` and `y` its places, `x_lo` the ratio that colours it, `text` what it says.

    Inconclusive fields are hatched; those without a ratio are left white. A point that is `strong` is no field but a
    mean at the edge, and has no frame.
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
    """Opacity by distance from 1 on the log scale, the same to either side."""
    if ratio is None or ratio <= 0 or not math.isfinite(ratio):
        return 0.0
    # In tenths, as drawings are written; the faintest shade is one that can be seen.
    return max(0.1, round(STRONGEST * min(1.0, abs(math.log2(ratio))), 1)) if ratio != 1 else 0.0
