"""Plot of system counters: a line per counter, on the same time axis as the drift plot."""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bench_framework.model.record.contention import TICK_S
from bench_framework.model.record.run import Block
from bench_framework.model.record.sensors import Sensors
from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table, numeric
from bench_framework.report.charts import Axes, Palette, frame
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import fixed, format_size, percent, shortest, significant
from bench_framework.units import THIN_SPACE

FEWEST: Final = 8
"""Fewest samples in the plot."""
MOST_SLICES: Final = 60
MICRO: Final = 1e-6

ROW: Final = 44.0
TALL: Final = 20.0
BOTTOM: Final = 38.0
LEFT, RIGHT = 58.0, 706.0


@dataclass(frozen=True, slots=True)
class _Counter:
    """A row of the plot; with the unit's length in `seconds`, a share of the samples' time."""

    name: str
    read: Callable[[Sensors], float | None]
    show: Callable[[float], str]
    seconds: float | None = None


def _counters(family: str) -> tuple[_Counter, ...]:
    return (
        _Counter("CPU time of other processes", lambda s: s.other_cpu_us, percent, MICRO),
        _Counter("CPU pressure", lambda s: s.psi_cpu_us, percent, MICRO),
        _Counter("CPU steal", lambda s: s.steal_ticks, percent, TICK_S),
        _Counter("memory pressure", lambda s: s.psi_memory_us, percent, MICRO),
        _Counter("I/O pressure", lambda s: s.psi_io_us, percent, MICRO),
        _Counter("load average (1 min)", lambda s: s.load1, lambda n: significant(n, 2)),
        _Counter("clock frequency", lambda s: s.cpu_mhz, lambda n: f"{fixed(n, 0)}{THIN_SPACE}MHz"),
        _Counter(
            "available memory", lambda s: s.mem_available_bytes, lambda n: format_size(n, family)
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
            (block, value if counter.seconds is None else value * counter.seconds)
            for block in blocks
            if (value := counter.read(block.sensors)) is not None
        ]
        if len(values) < FEWEST:
            unread.append(counter.name)
            continue
        levels = [_level(counter, [pair]) for pair in values]
        figures = (min(levels), statistics.median(levels), max(levels))
        cells = (Cell(counter.show(value), value) for value in figures)
        rows.append(Row.build(counter.name, Cell(str(len(levels)), len(levels)), *cells))
        parts = []
        for part in frame.slices(values, MOST_SLICES):  # of equal numbers of samples
            begin, end = (data.minutes(block) for block in (part[0][0], part[-1][0]))
            middle, level = (begin + end) / 2, _level(counter, part)
            parts.append(Point("", middle, level, begin, end, series=counter.name))
        lowest, highest = (counter.show(end(p.y for p in parts)) for end in (min, max))
        if lowest == highest:
            still.append(f"{counter.name} ({lowest})")
        else:
            points += [replace(p, text=f"{lowest} to {highest}") for p in parts]
    if not points:
        return None
    desc = (
        "Kernel counters from just before to just after each sample: means over time slices. Each "
        "scale goes from zero to the highest mean. Pressure: time in which any process waited, the "
        "measured program included, as a share of the sample's time. Steal and other processes: of all "
        "CPUs together, per second of the sample."
    )
    desc += f" The same in every slice: {', '.join(still)}." if still else ""
    desc += f" Not available on this machine: {', '.join(unread)}." if unread else ""
    columns = (Column("Counter"), *numeric("Samples", "Minimum", "Median", "Maximum"))
    caption = "Counters of single samples"
    table = Table("sensors-plot-data", caption, columns, tuple(rows), sortable=False)
    labels = (("x", "minutes since the first measured sample"),)
    return Figure("sensors-plot", "sensors", "System counters", desc, tuple(points), table, labels)


def _level(counter: _Counter, values: Sequence[tuple[Block, float]]) -> float:
    """Return counted seconds ÷ seconds of the samples for a share, else the mean."""
    if counter.seconds is not None:
        return math.fsum(v for _, v in values) / math.fsum(math.fsum(b.wall_s) for b, _ in values)
    return statistics.fmean(value for _, value in values)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw a row per counter: its name, its range (`text`), and its mean per time slice.

    A point is a slice: `x` is its middle, `x_lo` and `x_hi` are its ends in minutes, and `y` is the
    mean. The vertical range of every row starts at zero, which keeps small changes small.
    """
    rows = figure.by_series()
    height = ROW * len(rows) + BOTTOM
    frame.sheet(ax, frame.WIDTH, height)
    first = min(p.x_lo if p.x_lo is not None else p.x for p in figure.points)
    last = max(p.x_hi if p.x_hi is not None else p.x for p in figure.points)
    scale = (RIGHT - LEFT) / ((last - first) or 1.0)
    for row, (name, points) in enumerate(rows.items()):
        floor = height - ROW * (row + 1)
        frame.words(ax, (LEFT, floor + TALL + 11), name, colours["ink"])
        frame.words(ax, (RIGHT, floor + TALL + 11), points[0].text, colours["muted"], ha="right")
        frame.strokes(ax, [[(LEFT, floor), (RIGHT, floor)]], colours["rule"])
        tall = TALL / (max(p.y for p in points) or 1.0)
        line = [(LEFT + (p.x - first) * scale, floor + p.y * tall) for p in points]
        frame.strokes(ax, [line], colours["ink"], 1.2)
    for tick in frame.nice_between(0.0, last - first, 6):
        frame.words(
            ax, (LEFT + tick * scale, BOTTOM - 11), shortest(tick), colours["muted"], ha="center"
        )
    frame.words(ax, ((LEFT + RIGHT) / 2, 8), figure.label("x"), colours["muted"], ha="center")
