"""Peak memory against time, with the Pareto front."""

import math
from collections.abc import Sequence
from typing import Final

from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan.plan import Cell as PlanCell, Input, Role
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table, numeric
from bench_framework.report.charts import Axes, Palette, frame
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import format_duration, format_size

HEIGHT: Final = 330.0
MOST_LABEL: Final = 180.0
"""Room of a line of a name."""
PAD: Final = 1.25
"""Factor of the space around the estimates."""
EDGE: Final = 1.04
"""Factor of the space around the ends of intervals."""
REACH: Final = 2.0
"""Largest distance beyond the outermost estimates, as a factor. Longer intervals end in an arrow.
"""

NEAR: Final = 13
OFFSETS: Final = tuple(
    (side * dx, dy, ("center", "left", "right")[side])
    for dx, dy in (
        *((9, 0), (0, 13), (0, -13), (9, 12), (9, -12)),
        *((16, dy) for dy in (22, -22, 34, -34, 46, -46, 58, -58, 70, -70)),
    )
    for side in ((1, -1) if dx else (0,))
)
"""Places of a label relative to its point, and its alignment: next to it first."""


def memory_time(
    data: ReportData, item: Input, cells: Sequence[PlanCell], name: str
) -> Figure | None:
    """Return the plot of an input, or `None` for fewer than two configurations."""
    family = data.plan.unit_family
    points = []
    for cell in cells:
        time, peak = data.summary(cell.id, WALL), data.summary(cell.id, PEAK_RSS)
        # Bounds do different work.
        if cell.role is Role.BOUND or time is None or peak is None or peak.median <= 0:
            continue
        ends = (time.lo, time.hi, peak.lo, peak.hi)
        text = f"{format_duration(time.median)}, {format_size(peak.median, family)}"
        base = cell.role is Role.BASELINE
        point = Point(
            data.label(cell.id), time.median, peak.median, *ends, text=text, baseline=base
        )
        points.append(point)
    if len(points) < 2:  # noqa: PLR2004 -- one point shows no trade
        return None
    rows = tuple(
        Row.build(
            p.label,
            Cell(format_duration(p.x), p.x),
            Cell(format_size(p.y, family), p.y),
            baseline=p.baseline,
        )
        for p in points
    )
    columns = (Column("Variant"), *numeric("Time", "Peak RSS"))
    table = Table(name + "-plot-data", "Data of the plot", columns, rows, sortable=False)
    desc = (
        f"Peak memory against time{data.on_input(item, ' on ')}: medians with 95 % CIs, logarithmic "
        "axes. Step line: Pareto front of time and memory, which has the names, with the baseline."
    )
    return Figure(
        name + "-plot",
        "memory-time",
        f"Pareto front of time and memory{data.on_input(item, ', input ')}",
        desc,
        tuple(points),
        table,
        (("x", "time"), ("y", "peak RSS"), ("family", family)),
    )


def layout(figure: Figure) -> tuple[tuple[float, float], frame.Box]:
    """Return width and height, and left, bottom, right and top of the plotting area, in units."""
    width = frame.drawn_width(figure)
    return (width, HEIGHT), (74.0, 46.0, width - 14.0, HEIGHT - 16.0)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw intervals as crosses, the Pareto front as a step line, and its names where they fit.

    The front and the baseline have a name. The table has all.
    """
    points = figure.points
    family = figure.label("family") or "iec"
    ax.set_xscale("log")
    ax.set_yscale("log", base=2)
    frame.calm(ax, figure, colours)
    ax.set_xlim(*limits([p.x for p in points], [(p.x_lo, p.x_hi) for p in points]))
    ax.set_ylim(*limits([p.y for p in points], [(p.y_lo, p.y_hi) for p in points]))
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    xs = frame.nice_steps(left, right, 4 if figure.narrow else 8)
    ys = frame.nice_sizes(low, high, 7, family)
    ax.set_xticks(xs, [frame.duration_label(x) for x in xs])
    ax.set_yticks(ys, [frame.size_label(y, family) for y in ys])
    ax.grid(color=colours["rule"], linewidth=0.6)
    ax.set_axisbelow(True)
    edge = front(points)
    heights = [high, *(p.y for p in edge)]
    steps = [(p.x, y) for n, p in enumerate(edge) for y in heights[n : n + 2]]
    steps.append((right, heights[-1]))
    frame.strokes(ax, [steps], colours["muted"], linestyle="--", zorder=1, clip_on=True)
    for point in points:
        _cross(ax, point, colours, beaten=dominated(point, points))
    _names(ax, figure, [*edge, *(p for p in points if p.baseline and p not in edge)], colours)


def limits(
    values: Sequence[float], bounds: Sequence[tuple[float | None, float | None]]
) -> tuple[float, float]:
    """Return the range of an axis: every estimate, and the readable part of the intervals."""
    low, high = min(values), max(values)
    lows = [lo for lo, _ in bounds if lo is not None and lo > 0]
    highs = [hi for _, hi in bounds if hi is not None and math.isfinite(hi)]
    least = min([low / PAD, *(lo / EDGE for lo in lows)])
    most = max([high * PAD, *(hi * EDGE for hi in highs)])
    return max(least, low / REACH), min(most, high * REACH)


def dominated(point: Point, points: tuple[Point, ...]) -> bool:
    """Return whether another point uses less time and memory, with disjoint intervals in both."""

    def bound(bound: float | None, estimate: float) -> float:
        return estimate if bound is None else bound

    x, y = bound(point.x_lo, point.x), bound(point.y_lo, point.y)
    return any(bound(q.x_hi, q.x) < x and bound(q.y_hi, q.y) < y for q in points)


def front(points: tuple[Point, ...]) -> list[Point]:
    """Return the points on the Pareto front of the estimates, ordered by time."""
    optimal = (
        p
        for p in points
        if not any(q.x <= p.x and q.y <= p.y and (q.x < p.x or q.y < p.y) for q in points)
    )
    return sorted(optimal, key=lambda p: (p.x, p.y))


def _cross(ax: Axes, point: Point, colours: Palette, *, beaten: bool) -> None:
    colour = colours["muted" if beaten else "ink"]
    across = (point.x_lo, point.x_hi, ax.get_xlim(), "<>", lambda end: (end, point.y))
    upright = (point.y_lo, point.y_hi, ax.get_ylim(), "v^", lambda end: (point.x, end))
    for lo, hi, (low, high), arrows, place in (across, upright):
        if lo is None or hi is None:
            continue
        ends = (max(lo, low), min(hi, high))
        frame.marks(ax, [place(end) for end in ends], "", color=colour, linewidth=1.2, zorder=2)
        for end, outside, sign in zip(ends, (lo < low, hi > high), arrows, strict=True):
            if outside:
                frame.marks(ax, [place(end)], sign, markersize=5, color=colour, clip_on=False)
    marker = "D" if point.baseline else "o"
    face = colours["ground"] if point.baseline or beaten else colour
    edge = colours["ink"] if point.baseline else colour
    style = {"markersize": 6, "markerfacecolor": face, "markeredgecolor": edge}
    frame.marks(ax, [(point.x, point.y)], marker, zorder=3, **style)


def _names(ax: Axes, figure: Figure, labelled: list[Point], colours: Palette) -> None:
    """Draw labels by importance, with a line to a distant point, where there is a free place."""
    (width, height), (left, bottom, _, _) = layout(figure)
    taken: list[frame.Box] = []
    for point in figure.points:
        x, y = ax.transData.transform((point.x, point.y))
        taken.append((x - 6, y - 6, x + 6, y + 6))
    leader = {"arrowstyle": "-", "color": colours["muted"], "linewidth": 0.6, "shrinkB": 4}
    ground = {"facecolor": colours["ground"], "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
    for point in labelled:
        x, y = ax.transData.transform((point.x, point.y))
        text = "\n".join(frame.text_lines(point.label, MOST_LABEL))
        lines = text.split("\n")
        wide = max(frame.text_width(line, frame.SMALL) for line in lines)
        half = 7 * len(lines)
        for dx, dy, ha in OFFSETS:
            begin = x + dx - wide * {"left": 0, "right": 1, "center": 0.5}[ha]
            box = (begin, y + dy - half, begin + wide, y + dy + half)
            inside = box[0] >= left and box[2] <= width and box[1] >= bottom and box[3] <= height
            if not inside or any(frame.overlap(box, other) for other in taken):
                continue
            taken.append(box)
            style = {"ha": ha, "va": "center", "fontsize": frame.SMALL, "zorder": 2.5}
            ax.annotate(
                text,
                (point.x, point.y),
                xytext=(dx, dy),
                textcoords="offset points",
                color=colours["muted" if dominated(point, figure.points) else "ink"],
                arrowprops=leader if max(abs(dx), abs(dy)) > NEAR else None,
                bbox=ground,
                **style,
            )
            break
