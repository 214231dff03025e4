"""Drift plot: difference of each sample from the median of its configuration, over time."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from bench_framework.model.plan.plan import Role
from bench_framework.model.record import contention
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table, numeric
from bench_framework.report.charts import Axes, Palette, frame
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import fixed, significant
from bench_framework.units import MINUS, THIN_SPACE

FEWEST: Final = 8
"""Fewest samples in the plot."""
HEIGHT: Final = 220.0
MOST_DOTS: Final = 500
"""Largest number of dots. Of more samples, every k-th is drawn. Line and table use all samples."""
MOST_RINGS: Final = 300
"""Largest number of rings around flagged samples.

Of more flagged samples, every k-th has a ring. The table counts all.
"""
SHARE_IN_RANGE: Final = 0.98
"""Share of the samples within the vertical range. The others are drawn at its edge."""
DOT: Final = 3.0
OTHERS: Final = "all others"
NAMES: Final = {Role.BASELINE: "baseline", Role.CONTROL: "its A/A copy"}
"""Series of a line by the role of its configurations."""
LINES: Final = {
    "baseline": ("ink", "-"),
    "its A/A copy": ("ink", (0, (2, 2))),
    OTHERS: ("series-4", "-"),
}
"""Colour and style of each line."""
LEAST_RUNS: Final = 6
"""Fewest samples of a line."""
LEGEND: Final = 18.0
"""Room of the legend above the plot."""


def drift(data: ReportData) -> Figure | None:
    """Return the drift plot: x in minutes, y in percent from the configuration's median."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for block in data.measured_blocks:
        if block.wall is not None:
            values[block.cell_id].append(block.wall)
    if sum(map(len, values.values())) < FEWEST:
        return None
    medians = {cell: statistics.median(walls) for cell, walls in values.items()}
    points = []
    for block in data.measured_blocks:
        centre = medians.get(block.cell_id)
        if block.wall is None or not centre:
            continue
        name = NAMES.get(data.plan.cell(block.cell_id).role, OTHERS)
        flagged, deviation = bool(contention.flags(block)), 100 * (block.wall / centre - 1)
        points.append(Point("", data.minutes(block), deviation, series=name, strong=flagged))
    desc = (
        "Difference of each sample from the median of its configuration, in percent, over time. The "
        "lines are rolling medians: of the baseline, of its copy (A/A), and of all others. "
        f"{_drawn(points)}"
    )
    labels = (
        ("x", "minutes since the first measured sample"),
        ("y", "difference from the median, %"),
    )
    return Figure("drift-plot", "drift", "Drift", desc, tuple(points), _table(points), labels)


def _drawn(points: list[Point]) -> str:
    """Return which samples have a dot or a ring."""
    flagged, drawn = sum(point.strong for point in points), len(ringed(points))
    rings = "No sample was disturbed by other load."
    if drawn < flagged:
        rings = (
            f"{flagged} of {len(points)} samples were disturbed by other load; "
            f"{drawn} of them have a ring."
        )
    elif flagged:
        rings = f"Rings: samples that were disturbed by other load ({flagged})."
    step = every(len(points), MOST_DOTS)
    return rings if step == 1 else f"One dot per {step} samples. {rings}"


def _table(points: list[Point]) -> Table:
    """Return the plot as ten time slices, which are easier to read than hundreds of points."""
    rows = []
    for part in frame.slices(points, 10):
        deviations = [p.y for p in part]
        counts = (len(part), sum(p.strong for p in part))
        figures = (statistics.median(deviations), min(deviations), max(deviations))
        row = Row.build(
            Cell(f"{fixed(part[0].x, 1)} to {fixed(part[-1].x, 1)}", part[0].x),
            *(Cell(str(count), count) for count in counts),
            *map(_percent, figures),
        )
        rows.append(row)
    columns = (Column("Minutes"), *numeric("Samples", "Flagged", "Median", "Lowest", "Highest"))
    caption = "Drift in ten time slices"
    return Table("drift-plot-data", caption, columns, tuple(rows), sortable=False)


def _percent(value: float) -> Cell:
    sign = MINUS if value < 0 else "+"
    return Cell(f"{sign}{significant(abs(value), 2)}{THIN_SPACE}%", value)


def layout(figure: Figure) -> tuple[tuple[float, float], tuple[float, float, float, float]]:
    """Return width and height, and left, bottom, right and top of the plotting area, in units."""
    width = frame.drawn_width(figure)
    return (width, HEIGHT + LEGEND), (58.0, 44.0, width - 14.0, HEIGHT - 14.0)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw dots, rings around flagged samples, the rolling medians, and a line at zero."""
    points = figure.points
    sizes = sorted(abs(p.y) for p in points)
    reach = max(1.0, sizes[min(len(sizes) - 1, int(SHARE_IN_RANGE * len(sizes)))])
    frame.calm(ax, figure, colours)
    ax.set_xlim(points[0].x, max(p.x for p in points) or 1.0)
    ax.set_ylim(-reach * 1.08, reach * 1.08)
    ax.grid(axis="y", color=colours["rule"], linewidth=0.6)
    ax.set_axisbelow(True)
    ax.axhline(0, color=colours["muted"], linewidth=1)
    step = every(len(points), MOST_DOTS)
    # Round-capped strokes of zero length have a fifth of the bytes of markers.
    dots = [[(p.x, p.y), (p.x, p.y)] for p in points[::step] if abs(p.y) <= reach]
    round_ = {"solid_capstyle": "round", "alpha": 0.4, "clip_on": True}
    frame.strokes(ax, dots, colours["muted"], DOT, **round_)
    rings = [(p.x, p.y) for p in ringed(points) if abs(p.y) <= reach]
    ring = {"markerfacecolor": "none", "markeredgecolor": colours["series-5"]}
    frame.marks(ax, rings, "o", markersize=6, linestyle="none", **ring)
    for sign, marker in ((1, "^"), (-1, "v")):
        edge = [(p.x, sign * reach) for p in points[::step] if p.y * sign > reach]
        arrow = {"color": colours["muted"], "linestyle": "none", "clip_on": False}
        frame.marks(ax, edge, marker, markersize=5, **arrow)
    series, x = figure.by_series(), 0.0
    room = layout(figure)[1][2] - layout(figure)[1][0]
    for name, (token, style) in LINES.items():
        runs = tuple(series.get(name, ()))
        if len(runs) < LEAST_RUNS:
            continue
        xs, ys = rolling_median(runs)
        inside = [max(-reach, min(reach, y)) for y in ys]
        ax.plot(xs, inside, color=colours[token], linewidth=1.8, linestyle=style)
        above = {"transform": ax.transAxes, "clip_on": False}
        ends, y = [x / room, (x + 22) / room], 1 + 12 / (HEIGHT - 58.0)
        ax.plot(ends, [y, y], color=colours[token], linewidth=1.8, linestyle=style, **above)
        frame.words(ax, ((x + 27) / room, y), name, colours["ink"], **above)
        x += 45 + frame.text_width(name, frame.SMALL)


def every(count: int, most: int) -> int:
    """Return the smallest k for which every k-th of `count` items is at most `most` items."""
    return max(1, -(-count // most))


def ringed(points: Sequence[Point]) -> list[Point]:
    """Return the flagged samples that get a ring: all, or an evenly spaced subset."""
    flagged = [p for p in points if p.strong]
    return flagged[:: every(len(flagged), MOST_RINGS)]


def rolling_median(points: tuple[Point, ...]) -> tuple[list[float], list[float]]:
    """Return rolling medians at about 60 times, each of about a twentieth of the samples."""
    half = max(3, len(points) // 40)
    centres = range(0, len(points), max(1, len(points) // 60))
    xs = [points[i].x for i in centres]
    ys = [statistics.median(p.y for p in points[max(0, i - half) : i + half + 1]) for i in centres]
    return xs, ys
