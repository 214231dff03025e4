"""Distribution of runs: each configuration's cumulative distribution and its runs in order."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import quantiles
from typing import Final

from bench_framework.model.plan.plan import Input, Role
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table, numeric
from bench_framework.report.charts import Axes, Palette, Scale, frame
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import format_duration
from bench_framework.units import counted

FEWEST: Final = 6
"""Fewest samples of a configuration in the plots."""
FENCE: Final = 1.5
MOST_PANELS: Final = 12
MOST_RUNS: Final = 40
"""Largest number of samples per panel. Of more, every k-th is drawn. The table has all."""
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
MOST_LABEL: Final = int(PANEL / frame.UNITS_PER_COLUMN)


def runs_plot(data: ReportData) -> Figure | None:
    """Return the distribution of runs of the last input.

    The plot has up to twelve configurations: baseline, best group, then by time. The table has all.
    """
    item, walls = run_times(data)
    if item is None or len(walls) < 2:  # noqa: PLR2004 -- a single one has no comparison
        return None
    best, base = data.best(item.id), data.plan.baseline_cell(item.id)
    baseline = base.id if base is not None else ""

    def rank(cell: str) -> tuple[bool, bool, float]:
        in_best = best is not None and cell in best.cell_ids
        return cell != baseline, not in_best, quantiles(walls[cell], n=2)[0]

    order = sorted(walls, key=rank)
    points = [
        Point(
            "",
            wall,
            float(turn),
            series=data.label(cell),
            baseline=cell == baseline,
            strong=is_outlier(wall, walls[cell]),
        )
        for cell in order[:MOST_PANELS]
        for turn, wall in enumerate(walls[cell][:: -(-len(walls[cell]) // MOST_RUNS)], 1)
    ]
    rows = []
    for cell in order:
        times = walls[cell]
        figures = (min(times), *quantiles(times, n=4, method="inclusive"), max(times))
        outliers = sum(is_outlier(wall, times) for wall in times)
        row = Row.build(
            data.label(cell),
            Cell(str(len(times)), len(times)),
            *(Cell(format_duration(value), value) for value in figures),
            Cell(str(outliers), outliers),
            baseline=cell == baseline,
        )
        rows.append(row)
    quartiles = ("First quartile", "Median", "Third quartile")
    columns = (Column("Variant"), *numeric("Samples", "Minimum", *quartiles, "Maximum", "Outliers"))
    rest = len(order) - MOST_PANELS
    configurations = counted(rest, "more configuration")
    more = f" The table also contains {configurations}." if rest > 0 else ""
    desc = (
        "Upper part: share of the samples at or below each time; grey: the baseline. Lower part: "
        "the samples, with the first and the second half of the record in different colours. "
        "Thick: outliers, more than 1.5 interquartile ranges outside the quartiles; they are not "
        f"excluded.{more}"
    )
    caption = "Distribution of each configuration"
    table = Table("runs-plot-data", caption, columns, tuple(rows), sortable=False)
    title = f"Distribution of runs{data.on_input(item, ', input ')}"
    return Figure("runs-plot", "runs", title, desc, tuple(points), table)


def run_times(data: ReportData) -> tuple[Input | None, dict[str, list[float]]]:
    """Return the last input with enough samples, and the times per configuration."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for block in data.measured_blocks:
        if block.wall is not None:
            times[block.cell_id].append(block.wall)
    for item in reversed(data.plan.inputs):
        arms = {
            c.id: times[c.id]
            for c in data.arms(item.id)
            if len(times[c.id]) >= FEWEST and c.role is not Role.BOUND
        }
        if arms:
            return item, arms
    return None, {}


def is_outlier(wall: float, walls: Sequence[float]) -> bool:
    """Return whether a time is outside Tukey's fences, 1.5 interquartile ranges (Tukey 1977)."""
    first, _, third = quantiles(walls, n=4, method="inclusive")
    reach = FENCE * (third - first)
    return not first - reach <= wall <= third + reach


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw panels in reading order with a shared horizontal axis.

    A point is a run: `x` is its time, `y` its position. The baseline behind the others has only
    every second of its steps, because it serves only as a reference.
    """
    panels = figure.by_series()
    height = ROW * -(-len(panels) // COLUMNS) + BOTTOM
    frame.sheet(ax, frame.WIDTH, height)
    lo, hi = min(p.x for p in figure.points), max(p.x for p in figure.points)
    span = (hi - lo) or 1.0
    base = next((points for points in panels.values() if points[0].baseline), None)
    names = frame.shorts(list(panels), MOST_LABEL)
    for number, (name, points) in enumerate(panels.items()):
        left = (number % COLUMNS) * (PANEL + GAP)
        floor = height - ROW * (number // COLUMNS + 1) + BOTTOM + STRIP

        def at(value: float, left: float = left) -> float:
            return left + PANEL * (value - lo) / span

        frame.strokes(ax, [[(left, floor), (left + PANEL, floor)]], colours["rule"])
        if base is not None and points is not base:
            frame.strokes(ax, [_steps(base, at, floor)[1::4]], colours["muted"], 1.0)
        frame.strokes(ax, [_steps(points, at, floor)], colours["ink"], 1.6)
        half = len(points) / 2
        for late, colour in ((False, "series-3"), (True, "series-4")):
            for far, width in ((False, NEAR), (True, FAR)):
                chosen = [p for p in points if (p.y > half) == late and p.strong == far]
                ticks = [[(at(p.x), floor - 3), (at(p.x), floor - STRIP)] for p in chosen]
                frame.strokes(ax, ticks, colours[colour], width)
        frame.words(ax, (left, floor + TALL + 14), names[name], colours["ink"])
        for value, ha in ((lo, "left"), (hi, "right")):
            text, below = frame.duration_label(value), floor - STRIP - 9
            frame.words(ax, (at(value), below), text, colours["muted"], ha=ha)


def _steps(points: list[Point], at: Scale, floor: float) -> list[tuple[float, float]]:
    """Return the share of runs at or below each value, from 0 at the floor to 1."""
    steps: list[tuple[float, float]] = []
    last = floor
    for rank, value in enumerate(sorted(p.x for p in points), 1):
        x, y = at(value), floor + TALL * rank / len(points)
        steps += [(x, last), (x, y)]
        last = y
    return steps
