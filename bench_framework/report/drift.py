"""Data of the drift plot: difference of each sample from its median, over time."""

from __future__ import annotations

import statistics
from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING, Final

from bench_framework.model import contention
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table
from bench_framework.report.charts.drift import MOST_DOTS, every, ringed
from bench_framework.report.numbers import significant
from bench_framework.units import MINUS, THIN_SPACE

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData

FEWEST: Final = 8
"""Fewest samples in the plot."""
MINUTE: Final = 60.0


def drift(data: ReportData) -> Figure | None:
    """Return the drift plot: x in minutes, y in percent from the configuration's median."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for block in data.measured_blocks:
        wall = block.wall
        if wall is not None:
            values[block.cell_id].append(wall)
    if sum(map(len, values.values())) < FEWEST:
        return None
    medians = {cell: statistics.median(walls) for cell, walls in values.items()}
    origin = _seconds(data.measured_blocks[0].started_at)
    points = []
    for block in data.measured_blocks:
        centre = medians.get(block.cell_id)
        if block.wall is None or not centre:
            continue
        minutes = (_seconds(block.started_at) - origin) / MINUTE
        cell = data.plan.cell(block.cell_id)
        points.append(
            Point(
                "",
                minutes,
                100 * (block.wall / centre - 1),
                series=data.input_name(data.plan.input(cell.input_id)),
                strong=bool(contention.flags(block)),
            )
        )
    desc = (
        "Difference of each sample from the median of its configuration, in percent, over time; "
        f"the line is a rolling median. {_drawn(tuple(points))}"
    )
    labels = (
        ("x", "minutes since the first measured sample"),
        ("y", "difference from the median, %"),
    )
    return Figure("drift-plot", "drift", "Drift", desc, tuple(points), _table(points), labels)


def _drawn(points: tuple[Point, ...]) -> str:
    """Return which samples have a dot or a ring."""
    flagged = sum(point.strong for point in points)
    if not flagged:
        rings = "No sample was disturbed by other load."
    elif (rings_drawn := len(ringed(points))) == flagged:
        rings = f"Rings: the {flagged} samples that were disturbed by other load."
    else:
        rings = (
            f"{flagged} of {len(points)} samples were disturbed by other load; "
            f"{rings_drawn} of them have a ring."
        )
    step = every(len(points), MOST_DOTS)
    return rings if step == 1 else f"One dot per {step} samples. {rings}"


def _table(points: list[Point]) -> Table:
    """Return the plot as ten time slices, which are easier to read than hundreds of points."""
    slices = min(10, len(points))
    rows = []
    for index in range(slices):
        part = points[index * len(points) // slices : (index + 1) * len(points) // slices]
        deviations = sorted(p.y for p in part)
        rows.append(
            Row(
                (
                    Cell(f"{part[0].x:.1f} to {part[-1].x:.1f}", part[0].x),
                    Cell(str(len(part)), len(part)),
                    Cell(str(sum(p.strong for p in part)), sum(p.strong for p in part)),
                    _percent(statistics.median(deviations)),
                    _percent(deviations[0]),
                    _percent(deviations[-1]),
                )
            )
        )
    columns = (
        Column("Minutes"),
        Column("Samples", "right"),
        Column("Flagged", "right"),
        Column("Median", "right"),
        Column("Lowest", "right"),
        Column("Highest", "right"),
    )
    return Table(
        "drift-plot-data", "Drift in ten time slices", columns, tuple(rows), sortable=False
    )


def _percent(value: float) -> Cell:
    sign = MINUS if value < 0 else "+"
    return Cell(f"{sign}{significant(abs(value), 2)}{THIN_SPACE}%", value)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
