"""Waterfall plot: contribution of each change on a logarithmic axis, and the interaction."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from bench_framework.report.charts.forest import kept_ticks
from bench_framework.report.charts.frame import (
    UNITS_PER_COLUMN,
    label_columns,
    sheet,
    shorts,
    strokes,
    words,
)
from bench_framework.report.palette import VERDICT_TOKENS

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure, Point
    from bench_framework.report.charts import Axes, Palette

WIDTH: Final = 720.0
ROW: Final = 26.0
BAR: Final = 7.0
"""Half of a bar's height."""
TOP: Final = 10.0
BOTTOM: Final = 46.0
RIGHT: Final = 176.0
MOST_LABEL: Final = 32


def size(figure: Figure) -> tuple[float, float]:
    """Return width and height in units."""
    return WIDTH, TOP + BOTTOM + ROW * len(figure.points)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a bar with its interval from the start of a step (`y`) to its end (`y` × `x`).

    The `strong` point is the whole. A point without a verdict is the remaining interaction and is
    hatched. With the mark ``alone``, each change is a dot, and the interaction is a hollow dot.
    """
    width, height = size(figure)
    sheet(ax, width, height)
    left = 14 + UNITS_PER_COLUMN * label_columns([p.label for p in figure.points], MOST_LABEL)
    ends = [end for p in figure.points for end in _ends(p)] + [1.0]
    lo, hi = min(ends) * 0.97, max(ends) * 1.03
    scale = (width - RIGHT - left) / math.log2(hi / lo)

    def at(ratio: float) -> float:
        return left + math.log2(min(max(ratio, lo), hi) / lo) * scale

    floor = BOTTOM - 6
    for tick in kept_ticks(lo, hi, width - RIGHT - left):
        strokes(
            ax,
            [[(at(tick), floor), (at(tick), height - TOP)]],
            colours["muted" if tick == 1 else "rule"],
        )
        words(ax, (at(tick), floor - 12), f"{tick:g}", colours["muted"], ha="center")
    words(ax, ((left + width - RIGHT) / 2, 10), figure.label("x"), colours["muted"], ha="center")
    dots = bool(figure.mark("alone"))
    names = shorts([p.label for p in figure.points], MOST_LABEL)
    for row, point in enumerate(figure.points):
        y = height - TOP - ROW * (row + 0.5)
        token = VERDICT_TOKENS.get(point.verdict.value if point.verdict else "", "muted")
        if dots:
            _dot(
                ax,
                (at(point.x), y),
                colours[token],
                colours["ground"],
                strong=point.verdict is not None,
            )
        else:
            _bar(
                ax,
                (at(point.y), at(point.y * point.x)),
                y,
                colours[token],
                hatched=point.verdict is None,
            )
        if point.x_lo is not None and point.x_hi is not None:
            strokes(
                ax,
                [[(at(point.y * point.x_lo), y), (at(point.y * point.x_hi), y)]],
                colours["muted" if dots else "ink"],
                1.6,
            )
        words(ax, (left - 8, y), names[point.label], colours["ink"], ha="right")
        words(ax, (width - RIGHT + 10, y), point.text, colours[token])


def _dot(ax: Axes, place: tuple[float, float], colour: str, ground: str, *, strong: bool) -> None:
    ax.plot(
        [place[0]],
        [place[1]],
        "o",
        markersize=8,
        markerfacecolor=colour if strong else ground,
        markeredgecolor=colour,
        zorder=4,
    )


def _ends(point: Point) -> tuple[float, ...]:
    """Return the start and the end of a bar, and its interval."""
    factors = (1.0, point.x, point.x_lo or point.x, point.x_hi or point.x)
    return tuple(point.y * factor for factor in factors if math.isfinite(factor) and factor > 0)


def _bar(ax: Axes, ends: tuple[float, float], y: float, colour: str, *, hatched: bool) -> None:
    ax.fill_between(
        ends,
        y - BAR,
        y + BAR,
        facecolor="none" if hatched else colour,
        edgecolor=colour,
        linewidth=1,
        alpha=None if hatched else 0.35,
        hatch="////" if hatched else None,
    )
