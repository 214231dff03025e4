"""Line of the main metric over the values of one axis, with a band: the interval of each change."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Cell as PlanCell, Input, Role
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table
from bench_framework.report.charts import OTHER, Axes, Palette, Scale, amounts, frame, token
from bench_framework.report.charts.amounts import Unit
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import change_text, mark, plain_interval, value_by_ratio
from bench_framework.report.table_cells import CI, titled
from bench_framework.text.names import capital
from bench_framework.text.numbers import DASH, significant
from bench_framework.text.words import noun

FEWEST: Final = 4
"""Fewest values of an axis for a line."""
LOG_FROM: Final = 20.0
"""Factor between the smallest and the largest value from which the axis is logarithmic."""
HEIGHT: Final = 214.0
LEFT: Final = 60.0
RIGHT: Final = 18.0
BOTTOM: Final = 36.0
TOP: Final = 22.0
LABEL: Final = 13.0
"""Height of a label."""
PARTS: Final = 40
"""Parts of a line between two marks that a label must not cover."""


@dataclass(frozen=True, slots=True)
class AxisSweep:
    """The configurations of an input that differ in the value of one axis, smallest value first."""

    axis: Axis
    cells: tuple[tuple[float, AxisValue, PlanCell], ...]


def sweeps_of(data: ReportData, item: Input) -> Iterator[AxisSweep]:
    """Yield the sweep of each axis with enough numbers, and otherwise the values of the baseline."""
    baseline = data.baseline_on(item).values
    for axis in data.plan.axes:
        levels = {level.name: level for level in axis.values}
        cells: list[tuple[float, AxisValue, PlanCell]] = []
        for cell in data.plan.compared_cells(item.id):
            variant = data.variant_of(cell)
            rest = {pair for pair in variant.values if pair[0] != axis.name}
            level = levels.get(dict(variant.values).get(axis.name, ""))
            number = number_of(level) if level is not None else None
            # An experiment on a key of `fixed` has the baseline's values.
            same = rest <= {*baseline} and not (variant.experiment and variant.values == baseline)
            summary = data.summary(cell.id, data.metric)
            measured = data.state(cell.id).state == "measured" and summary is not None
            if level is not None and number is not None and same and measured:
                cells.append((number, level, cell))
        cells.sort(key=lambda entry: entry[0])
        if len({number for number, *_ in cells}) >= FEWEST:
            yield AxisSweep(axis, tuple(cells))


def sweep_of(data: ReportData, item: Input) -> AxisSweep | None:
    """Return the sweep of all variants of an input, or `None` if they differ in anything else."""
    every = {cell.id for cell in data.plan.compared_cells(item.id)}
    refused = {i for i in every if data.state(i).state != "measured"}
    return next(
        (s for s in sweeps_of(data, item) if {c.id for *_, c in s.cells} | refused == every), None
    )


def lowered(label: str) -> str:
    """Return a label inside a sentence: ``maximum of threads``, but ``CPU``."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def number_of(level: AxisValue) -> float | None:
    """Return the number that the name of a level states, or `None`."""
    if level.size_bytes is not None:
        return float(level.size_bytes)
    try:
        number = float(level.name)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def sweep(data: ReportData, item: Input) -> Figure | None:
    """Return the line of an input whose variants differ only in a number, else `None`."""
    line = sweep_of(data, item)
    return _figure(data, item, line, "answer-figure") if line is not None else None


def further_sweeps(data: ReportData, item: Input, name: str) -> Iterator[Figure]:
    """Yield the lines of those numeric axes of an input that are only a part of the scenario."""
    answer = sweep_of(data, item)
    for number, line in enumerate(sweeps_of(data, item), 1):
        figure = _figure(data, item, line, f"{name}-sweep-{number}") if line != answer else None
        if figure is not None:
            yield figure


def _figure(data: ReportData, item: Input, line: AxisSweep, anchor: str) -> Figure | None:
    base = data.baseline_summary(item.id, data.metric)
    if base is None or base.median <= 0:
        return None
    unit = Unit.for_metric(data, base.median)
    pairs = [
        _point(data, cell, (number, level.label), base.median, unit)
        for number, level, cell in line.cells
    ]
    name, axis = noun(data.metric), lowered(line.axis.label or line.axis.name)
    points = tuple(point for point, _ in pairs)
    what = f"Median {name}{data.on_input(item, ' on ')}"
    changes = f"changes relative to {data.baseline_on(item).label}"
    desc = amounts.caption(data, what, changes, f"band: their {CI}s")
    columns = (
        Column(axis),
        Column(titled(capital(name), unit.name), "decimal"),
        Column(f"Change [{CI}]"),
    )
    title = f"{capital(name)} by {axis}"
    rows = tuple(row for _, row in pairs)
    table = Table(f"{anchor}-data", f"Data of the figure: {title}", columns, rows, sortable=False)
    labels = (("x", axis), ("unit", unit.name))
    return Figure(anchor, "sweep", title, desc, points, table, labels)


def _point(
    data: ReportData,
    cell: PlanCell,
    level: tuple[float, str],
    base: float,
    unit: Unit,
) -> tuple[Point, Row]:
    number, label = level
    comparison = data.comparison(cell.id, data.metric)
    i = plain_interval(comparison)
    is_base = cell.role is Role.BASELINE
    summary = data.summary(cell.id, data.metric)
    assert summary is not None
    value = base if is_base else value_by_ratio(data, cell) or summary.median
    lo, hi = (base * i.lo, base * i.hi) if i is not None else (value, value)
    verdict = comparison.verdict if comparison is not None else None
    change = "baseline" if is_base else DASH
    if comparison is not None and i is not None:
        change = f"{mark(comparison)} {change_text(comparison, times=data.in_times)}"
    lead = "baseline" if is_base else ""
    if i is not None and not is_base:
        lead = amounts.lead(data, i.ratio, verdict)
    point = Point(
        label,
        number,
        value * unit.factor,
        y_lo=lo * unit.factor,
        y_hi=hi * unit.factor,
        verdict=verdict,
        lead=lead,
        text=unit.text(value),
        baseline=is_base,
    )
    time = Cell(significant(value * unit.factor, 3), value)
    row = Row.build(label, time, Cell(change, verdict=verdict), baseline=is_base)
    return point, row


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw the band, the line, a mark for each value, and the changes that have room."""
    points = figure.points
    width = frame.drawn_width(figure)
    frame.sheet(ax, width, HEIGHT)
    across = _across([p.x for p in points], (LEFT + 26, width - RIGHT - 26))
    low = min(min(p.y, p.y_lo or p.y) for p in points)
    high = max(max(p.y, p.y_hi or p.y) for p in points)
    pad = 0.12 * (high - low) or 0.1 * high or 1.0
    low, high = max(0.0, low - 1.5 * pad), high + pad
    up = frame.linear_scale(low, high, (BOTTOM, HEIGHT - TOP))
    _axes(ax, figure, (low, high), across, up, colours)
    xs = [across(p.x) for p in points]
    band = ([up(p.y_lo or p.y) for p in points], [up(p.y_hi or p.y) for p in points])
    ax.fill_between(xs, *band, facecolor=colours["band"], edgecolor="none", zorder=0)
    frame.strokes(
        ax, [[(x, up(p.y)) for x, p in zip(xs, points, strict=True)]], colours["muted"], 1.6
    )
    base = next((p for p in points if p.baseline), None)
    if base is not None:
        line = [(LEFT, up(base.y)), (width - RIGHT, up(base.y))]
        frame.strokes(ax, [line], colours["muted"], linestyle=(0, (2, 2)), zorder=1)
    for x, p in zip(xs, points, strict=True):
        colour = colours["ink" if p.baseline else token(p.verdict)]
        hollow = p.baseline or token(p.verdict) == OTHER
        face = colours["ground"] if hollow else colour
        style = {"markerfacecolor": face, "markeredgecolor": colour, "markeredgewidth": 1.6}
        frame.marks(ax, [(x, up(p.y))], "D" if p.baseline else "o", markersize=7, zorder=4, **style)
    _labels(ax, points, xs, up, width, colours)


def _across(values: Sequence[float], ends: tuple[float, float]) -> Scale:
    lo, hi = min(values), max(values)
    scale = frame.log_scale if lo > 0 and hi > LOG_FROM * lo else frame.linear_scale
    return scale(lo, hi, ends)


def _axes(
    ax: Axes,
    figure: Figure,
    span: tuple[float, float],
    across: Scale,
    up: Scale,
    colours: Palette,
) -> None:
    """Draw ticks: round values of the metric, and each value of the axis that has room."""
    width = frame.drawn_width(figure)
    unit = Unit(figure.label("unit"), 1.0)
    lines = []
    for tick in frame.nice_between(*span, 5):
        lines.append([(LEFT, up(tick)), (width - RIGHT, up(tick))])
        frame.words(ax, (LEFT - 6, up(tick)), unit.tick(tick), colours["muted"], ha="right")
    frame.strokes(ax, lines, colours["rule"], zorder=0)
    taken: list[frame.Box] = []
    order = sorted(figure.points, key=lambda p: not p.baseline)
    for point in order:
        x, half = across(point.x), frame.text_width(point.label, frame.SMALL) / 2
        box = (x - half - 3, 0.0, x + half + 3, 1.0)
        if not any(frame.overlap(box, other) for other in taken):
            taken.append(box)
            frame.words(ax, (x, BOTTOM - 10), point.label, colours["muted"], ha="center")
    middle = ((LEFT + width - RIGHT) / 2, 9)
    frame.words(ax, middle, figure.label("x"), colours["muted"], ha="center")


def _labels(
    ax: Axes,
    points: Sequence[Point],
    xs: Sequence[float],
    up: Scale,
    width: float,
    colours: Palette,
) -> None:
    """Draw the change above or below each mark: of the extremes and the baseline first."""
    ends = {id(min(points, key=lambda p: p.y)), id(max(points, key=lambda p: p.y))}
    taken = [(x - 6, up(p.y) - 6, x + 6, up(p.y) + 6) for x, p in zip(xs, points, strict=True)]
    line = list(zip(xs, (up(p.y) for p in points), strict=True))
    for (x0, y0), (x1, y1) in itertools.pairwise(line):
        for part in range(PARTS):
            x, y = (a + (b - a) * part / PARTS for a, b in ((x0, x1), (y0, y1)))
            taken.append((x - 1, y - 1, x + 1, y + 1))
    pairs = sorted(
        zip(xs, points, strict=True), key=lambda e: (id(e[1]) not in ends, not e[1].baseline)
    )
    for x, p in pairs:
        half = frame.text_width(p.lead, frame.SMALL, bold=True) / 2
        far = LABEL + 6
        aside = half + 9
        places = (
            *((0, LABEL), (0, -LABEL), (aside, 4), (-aside, 4), (aside, 10), (-aside, -10)),
            *((0, -far), (0, far)),
        )
        for dx, dy in places:
            middle, y = min(max(x + dx, LEFT + half), width - half - 2), up(p.y) + dy
            box = (middle - half, y - LABEL / 2, middle + half, y + LABEL / 2)
            inside = box[1] >= BOTTOM - 2 and box[3] <= HEIGHT
            if inside and not any(frame.overlap(box, other) for other in taken):
                taken.append(box)
                colour = colours["ink" if p.baseline else token(p.verdict)]
                frame.words(ax, (middle, y), p.lead, colour, ha="center", fontweight="bold")
                break
