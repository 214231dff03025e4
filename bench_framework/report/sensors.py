"""Data of the plot of system counters, by time slices."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from bench_framework.model.contention import TICK_S
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table
from bench_framework.report.numbers import percent, show_size, significant
from bench_framework.units import THIN_SPACE

if TYPE_CHECKING:
    from bench_framework.model.run import Block, Sensors
    from bench_framework.report.context import ReportData

FEWEST: Final = 8
"""Fewest samples in the plot."""
MOST_SLICES: Final = 60
MINUTE: Final = 60.0
MICRO: Final = 1e-6

Read = Callable[["Sensors"], float | None]


@dataclass(frozen=True, slots=True)
class _Counter:
    """A row of the plot. A `share` is relative to the time of the sample."""

    name: str
    read: Read
    show: Callable[[float], str]
    share: bool = False


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _counters(family: str) -> tuple[_Counter, ...]:
    return (
        _Counter("CPU pressure", lambda s: _scaled(s.psi_cpu_us, MICRO), percent, share=True),
        _Counter("CPU steal", lambda s: _scaled(s.steal_ticks, TICK_S), percent, share=True),
        _Counter("memory pressure", lambda s: _scaled(s.psi_memory_us, MICRO), percent, share=True),
        _Counter("I/O pressure", lambda s: _scaled(s.psi_io_us, MICRO), percent, share=True),
        _Counter("load average (1 min)", lambda s: s.load1, lambda value: significant(value, 2)),
        _Counter(
            "clock frequency", lambda s: s.cpu_mhz, lambda value: f"{value:.0f}{THIN_SPACE}MHz"
        ),
        _Counter(
            "available memory",
            lambda s: s.mem_available_bytes,
            lambda value: show_size(value, family),
        ),
    )


def sensors(data: ReportData) -> Figure | None:
    """Return a row per counter that changed. The description lists constant and missing ones."""
    blocks = [b for b in data.measured_blocks if sum(b.wall_s) > 0]
    if len(blocks) < FEWEST:
        return None
    points: list[Point] = []
    rows: list[Row] = []
    still: list[str] = []
    unread: list[str] = []
    for counter in _counters(data.plan.unit_family):
        values = [
            (block, value) for block in blocks if (value := counter.read(block.sensors)) is not None
        ]
        if len(values) < FEWEST:
            unread.append(counter.name)
            continue
        levels = [_level(counter, [pair]) for pair in values]
        rows.append(_row(counter, levels))
        slices = _points(counter, values, _seconds(data.measured_blocks[0]))
        lowest, highest = (counter.show(end(p.y for p in slices)) for end in (min, max))
        if lowest == highest:
            still.append(f"{counter.name} ({lowest})")
        else:
            points += [replace(p, text=f"{lowest} to {highest}") for p in slices]
    if not points:
        return None
    desc = (
        "Kernel counters from just before to just after each sample: means over time slices. Each "
        "scale goes from zero to the highest mean. Pressure: time in which any process waited, as "
        "a share of the sample's time. Steal: of all CPUs together, per second of the sample."
    )
    desc += f" The same in every slice: {', '.join(still)}." if still else ""
    desc += f" Not available on this machine: {', '.join(unread)}." if unread else ""
    columns = (
        Column("Counter"),
        Column("Samples", "right"),
        Column("Minimum", "right"),
        Column("Median", "right"),
        Column("Maximum", "right"),
    )
    table = Table(
        "sensors-plot-data", "Counters of single samples", columns, tuple(rows), sortable=False
    )
    labels = (("x", "minutes since the first measured sample"),)
    return Figure("sensors-plot", "sensors", "System counters", desc, tuple(points), table, labels)


def _level(counter: _Counter, values: list[tuple[Block, float]]) -> float:
    """Return counted seconds ÷ seconds of the samples for a share, else the mean."""
    if counter.share:
        return math.fsum(v for _, v in values) / math.fsum(math.fsum(b.wall_s) for b, _ in values)
    return statistics.fmean(value for _, value in values)


def _points(counter: _Counter, values: list[tuple[Block, float]], origin: float) -> list[Point]:
    """Return slices with equal numbers of samples, as many as the plot can show."""
    count = min(MOST_SLICES, len(values))
    parts = [
        values[n * len(values) // count : (n + 1) * len(values) // count] for n in range(count)
    ]
    points = []
    for part in parts:
        begin, end = ((_seconds(block) - origin) / MINUTE for block in (part[0][0], part[-1][0]))
        points.append(
            Point("", (begin + end) / 2, _level(counter, part), begin, end, series=counter.name)
        )
    return points


def _row(counter: _Counter, levels: list[float]) -> Row:
    figures = (min(levels), statistics.median(levels), max(levels))
    return Row(
        (
            Cell(counter.name),
            Cell(str(len(levels)), len(levels)),
            *(Cell(counter.show(value), value) for value in figures),
        )
    )


def _seconds(block: Block) -> float:
    return datetime.fromisoformat(block.started_at).timestamp()
