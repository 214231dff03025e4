"""The drift plot's data: each block's distance from its cell's median over the time of the record."""

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
"""Blocks below which a plot over time shows nothing."""
MINUTE: Final = 60.0


def drift(data: ReportData) -> Figure | None:
    """Points: x minutes since the first block, y percent from the cell's own median."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for block in data.measured_blocks:
        wall = block.wall
        if wall is not None:
            values[block.cell_id].append(wall)
    if sum(map(len, values.values())) < FEWEST:
        return None
    medians = {cell: statistics.median(found) for cell, found in values.items()}
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
        "Each block's distance from the median of its own cell, in percent, over the time of the record; "
        f"the line is the median of neighbouring blocks. {_drawn(tuple(points))}"
    )
    labels = (("x", "minutes since the first measured block"), ("y", "from the cell's median, %"))
    return Figure(
        "drift-plot", "drift", "The machine over time", desc, tuple(points), _table(points), labels
    )


def _drawn(points: tuple[Point, ...]) -> str:
    """What has a dot and a ring: where not all have, how many."""
    flagged = sum(point.strong for point in points)
    if not flagged:
        rings = "No block was flagged: the machine was in the way of none."
    elif (shown := len(ringed(points))) == flagged:
        rings = f"Rings: the {flagged} blocks that the machine was in the way of."
    else:
        rings = f"The machine was in the way of {flagged} of {len(points)} blocks; {shown} of them have a ring."
    step = every(len(points), MOST_DOTS)
    return rings if step == 1 else f"One dot for {step} blocks. {rings}"


def _table(points: list[Point]) -> Table:
    """Ten slices of the record: the plot's hundreds of points would hide what the table is for."""
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
        Column("Blocks", "right"),
        Column("Flagged", "right"),
        Column("Median", "right"),
        Column("Lowest", "right"),
        Column("Highest", "right"),
    )
    return Table(
        "drift-plot-data", "The plot in ten slices of time", columns, tuple(rows), sortable=False
    )


def _percent(value: float) -> Cell:
    sign = MINUS if value < 0 else "+"
    return Cell(f"{sign}{significant(abs(value), 2)}{THIN_SPACE}%", value)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
