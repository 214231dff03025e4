"""Drift plot: difference of each sample from the median of its configuration, over time."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final

from bench_framework.report.charts.frame import SMALL, calm

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure, Point
    from bench_framework.report.charts import Axes, Palette

WIDTH: Final = 720.0
HEIGHT: Final = 220.0
PLACE: Final = (58.0, 44.0, 706.0, 206.0)
MOST_DOTS: Final = 500
"""Largest number of dots. Of more samples, every k-th is drawn. Line and table use all samples."""
MOST_RINGS: Final = 300
"""Largest number of rings around flagged samples.

Of more flagged samples, every k-th has a ring. The table counts all.
"""
SHARE_IN_RANGE: Final = 0.98
"""Share of the samples within the vertical range. The others are drawn at its edge."""
DOT: Final = 3.0


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw dots, rings around flagged samples, the rolling median, and a line at zero."""
    points = figure.points
    reach = _reach(points)
    calm(ax, colours)
    ax.set_xlim(points[0].x, max(p.x for p in points) or 1.0)
    ax.set_ylim(-reach * 1.08, reach * 1.08)
    ax.grid(axis="y", color=colours["rule"], linewidth=0.6)
    ax.set_axisbelow(True)
    ax.axhline(0, color=colours["muted"], linewidth=1)
    step = every(len(points), MOST_DOTS)
    _dots(ax, [p for p in points[::step] if abs(p.y) <= reach], colours["series-1"])
    flagged = [p for p in ringed(points) if abs(p.y) <= reach]
    ax.plot(
        [p.x for p in flagged],
        [p.y for p in flagged],
        "o",
        markersize=6,
        markerfacecolor="none",
        markeredgecolor=colours["series-2"],
        linestyle="none",
    )
    for sign, marker in ((1, "^"), (-1, "v")):
        outside = [p for p in points[::step] if p.y * sign > reach]
        ax.plot(
            [p.x for p in outside],
            [sign * reach] * len(outside),
            marker,
            markersize=5,
            color=colours["series-2"],
            linestyle="none",
            clip_on=False,
        )
    xs, ys = rolling_median(points)
    ax.plot(xs, [max(-reach, min(reach, y)) for y in ys], color=colours["ink"], linewidth=1.6)
    ax.set_xlabel(figure.label("x"), color=colours["muted"], fontsize=SMALL)
    ax.set_ylabel(figure.label("y"), color=colours["muted"], fontsize=SMALL)


def every(count: int, most: int) -> int:
    """Return the smallest k for which every k-th of `count` items is at most `most` items."""
    return max(1, -(-count // most))


def ringed(points: tuple[Point, ...]) -> list[Point]:
    """Return the flagged samples that get a ring: all, or an evenly spaced subset."""
    flagged = [p for p in points if p.strong]
    return flagged[:: every(len(flagged), MOST_RINGS)]


def rolling_median(points: tuple[Point, ...]) -> tuple[list[float], list[float]]:
    """Return rolling medians at about 60 times, each of about a twentieth of the samples."""
    half = max(3, len(points) // 40)
    step = max(1, len(points) // 60)
    centres = range(0, len(points), step)
    xs = [points[i].x for i in centres]
    ys = [statistics.median(p.y for p in points[max(0, i - half) : i + half + 1]) for i in centres]
    return xs, ys


def _reach(points: tuple[Point, ...]) -> float:
    sizes = sorted(abs(p.y) for p in points)
    return max(1.0, sizes[min(len(sizes) - 1, int(SHARE_IN_RANGE * len(sizes)))])


def _dots(ax: Axes, points: list[Point], colour: str) -> None:
    """Draw dots as one path of round-capped strokes of zero length.

    The path has a fifth of the bytes of markers.
    """
    gap = float("nan")
    xs = [value for p in points for value in (p.x, p.x, gap)]
    ys = [value for p in points for value in (p.y, p.y, gap)]
    ax.plot(xs, ys, color=colour, linewidth=DOT, solid_capstyle="round", alpha=0.55)
