"""Distribution of runs: each configuration's cumulative distribution and its runs in order.

The baseline's distribution is drawn behind each of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.report.charts.frame import (
    SMALL,
    UNITS_PER_COLUMN,
    duration_label,
    sheet,
    shorts,
    strokes,
    words,
)

if TYPE_CHECKING:
    from bench_framework.report.blocks import Figure, Point
    from bench_framework.report.charts import Axes, Palette

WIDTH: Final = 720.0
COLUMNS: Final = 3
PANEL: Final = 220.0
GAP: Final = 30.0
TALL: Final = 64.0
STRIP: Final = 16.0
NEAR: Final = 0.8
FAR: Final = 2.6
"""Width of a run's tick, and of the tick of an outlier (`strong`)."""
ROW: Final = 134.0
BOTTOM: Final = 22.0
MOST_LABEL: Final = int(PANEL / UNITS_PER_COLUMN)


def size(figure: Figure) -> tuple[float, float]:
    """Return width and height in units."""
    rows = -(-len(figure.by_series()) // COLUMNS)
    return WIDTH, ROW * rows + BOTTOM


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw panels in reading order with a shared horizontal axis.

    A point is a run: `x` is its time, `y` its position. The baseline behind the others has only
    every second of its steps, because it serves only as a reference.
    """
    width, height = size(figure)
    sheet(ax, width, height)
    panels = figure.by_series()
    lo, hi = min(p.x for p in figure.points), max(p.x for p in figure.points)
    span = (hi - lo) or 1.0
    base = next((points for points in panels.values() if points[0].baseline), None)
    names = shorts(list(panels), MOST_LABEL)
    for number, (name, points) in enumerate(panels.items()):
        left = (number % COLUMNS) * (PANEL + GAP)
        floor = height - ROW * (number // COLUMNS + 1) + BOTTOM + STRIP

        def at(value: float, left: float = left) -> float:
            return left + PANEL * (value - lo) / span

        strokes(ax, [[(left, floor), (left + PANEL, floor)]], colours["rule"])
        if base is not None and points is not base:
            strokes(ax, [_steps(base, at, floor)[1::4]], colours["muted"], 1.0)
        strokes(ax, [_steps(points, at, floor)], colours["series-1"], 1.6)
        half = len(points) / 2
        for late, colour in ((False, "series-1"), (True, "series-2")):
            for far, width in ((False, NEAR), (True, FAR)):
                chosen = [p for p in points if (p.y > half) == late and p.strong == far]
                ticks = [[(at(p.x), floor - 3), (at(p.x), floor - STRIP)] for p in chosen]
                strokes(ax, ticks, colours[colour], width)
        words(ax, (left, floor + TALL + 14), names[name], colours["ink"])
        for value, ha in ((lo, "left"), (hi, "right")):
            words(
                ax,
                (at(value), floor - STRIP - 9),
                duration_label(value),
                colours["muted"],
                ha=ha,
                size=SMALL,
            )


def _steps(points: list[Point], at: object, floor: float) -> list[tuple[float, float]]:
    """Return the share of runs at or below each value, from 0 at the floor to 1."""
    assert callable(at)
    steps: list[tuple[float, float]] = []
    last = floor
    for rank, value in enumerate(sorted(p.x for p in points), 1):
        x, y = at(value), floor + TALL * rank / len(points)
        steps += [(x, last), (x, y)]
        last = y
    return steps
