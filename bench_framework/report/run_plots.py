"""Data of the plots of run distribution and execution order, for the last input."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean, quantiles
from typing import TYPE_CHECKING, Final

from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table
from bench_framework.report.numbers import significant
from bench_framework.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.model.plan import Cell as PlanCell
    from bench_framework.model.plan import Input
    from bench_framework.model.run import Block
    from bench_framework.report.context import ReportData

FEWEST: Final = 6
"""Fewest samples of a configuration in the plots."""
FENCE: Final = 1.5
MOST_PANELS: Final = 12
MOST_RUNS: Final = 40
"""Largest number of samples per panel. Of more, every k-th is drawn. The table has all."""
MOST_TURNS: Final = 260
MOST_ROWS: Final = 24


def runs_plot(data: ReportData) -> Figure | None:
    """Return the distribution of runs of the last input.

    The plot has up to twelve configurations: baseline, best group, then by time. The table has all.
    """
    item, walls = _walls(data)
    if item is None or len(walls) < 2:  # noqa: PLR2004 -- a single one has no comparison
        return None
    order = sorted(walls, key=lambda cell: _rank(data, item, cell, walls[cell]))
    points = [
        Point(
            "",
            wall,
            float(turn),
            series=data.label(cell),
            baseline=_is_baseline(data, item, cell),
            strong=is_outlier(wall, walls[cell]),
        )
        for cell in order[:MOST_PANELS]
        for turn, wall in enumerate(walls[cell][:: -(-len(walls[cell]) // MOST_RUNS)], 1)
    ]
    rows = tuple(_run_row(data, cell, walls[cell], item) for cell in order)
    columns = (
        Column("Variant"),
        Column("Samples", "right"),
        Column("Minimum", "right"),
        Column("First quartile", "right"),
        Column("Median", "right"),
        Column("Third quartile", "right"),
        Column("Maximum", "right"),
        Column("Outliers", "right"),
    )
    rest = len(order) - MOST_PANELS
    more = f" The table has {rest} more." if rest > 0 else ""
    desc = (
        "Upper part: share of the samples at or below each time; grey: the baseline. Lower part: "
        "the samples, with the first and the second half of the record in different colours. "
        "Thick: outliers, more than 1.5 interquartile ranges outside the quartiles; they are not "
        f"excluded.{more}"
    )
    table = Table(
        "runs-plot-data", "Distribution of each configuration", columns, rows, sortable=False
    )
    title = f"Distribution of runs{data.on_input(item, ', input ')}"
    return Figure("runs-plot", "runs", title, desc, tuple(points), table)


def order_strip(data: ReportData) -> Figure | None:
    """Return the execution order of the first samples on the last input. The table has all."""
    item, walls = _walls(data)
    if item is None or len(walls) < 2:  # noqa: PLR2004 -- as above
        return None
    cells = {cell.id: cell for cell in data.plan.cells_of(item.id)}
    blocks = [b for b in data.measured_blocks if b.cell_id in cells]
    names = {
        cell: "control" if cells[cell].role.value == "control" else data.label(cell)
        for cell in cells
    }
    drawn = list(names)[:MOST_ROWS]
    points = tuple(
        Point("", float(turn), float(b.round), series=names[cell])
        for cell in drawn
        for turn, b in enumerate(blocks[:MOST_TURNS])
        if b.cell_id == cell
    )
    rows = _places(blocks, names)
    columns = (
        Column("Variant"),
        Column("Samples", "right"),
        Column("Mean position in its round", "right"),
    )
    first = (
        f"The first {MOST_TURNS} of {len(blocks)} samples"
        if len(blocks) > MOST_TURNS
        else f"All {len(blocks)} samples"
    )
    desc = f"{first} in execution order; every second round has a grey background."
    if len(names) > len(drawn):
        desc += f" {len(names) - len(drawn)} more variants are in the table."
    size = fmean(len(_round(blocks, number)) for number in {b.round for b in blocks})
    caption = (
        "Mean position of each variant in its rounds, from 1; a random order gives about "
        f"{(size + 1) / 2:.3g}"
    )
    table = Table("order-strip-data", caption, columns, rows, sortable=False)
    title = f"Execution order{data.on_input(item, ', input ')}"
    return Figure(
        "order-strip", "order", title, desc, points, table, (("x", "samples in execution order"),)
    )


def _walls(data: ReportData) -> tuple[Input | None, dict[str, list[float]]]:
    """Return the last input with enough samples, and the times per configuration."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for block in data.measured_blocks:
        if block.wall is not None:
            times[block.cell_id].append(block.wall)
    for item in reversed(data.plan.inputs):
        arms = {
            c.id: times[c.id]
            for c in data.arms(item.id)
            if len(times[c.id]) >= FEWEST and not c.role.separate
        }
        if arms:
            return item, arms
    return None, {}


def is_outlier(wall: float, walls: Sequence[float]) -> bool:
    """Return whether a time is an outlier by Tukey's fences (Exploratory Data Analysis, 1977).

    The fences are 1.5 interquartile ranges below the first and above the third quartile.
    """
    first, _, third = quantiles(walls, n=4, method="inclusive")
    reach = FENCE * (third - first)
    return not first - reach <= wall <= third + reach


def _rank(data: ReportData, item: Input, cell: str, walls: list[float]) -> tuple[bool, bool, float]:
    best = data.best(item.id)
    in_best = best is not None and cell in best.cell_ids
    return not _is_baseline(data, item, cell), not in_best, quantiles(walls, n=2)[0]


def _is_baseline(data: ReportData, item: Input, cell: str) -> bool:
    base: PlanCell | None = data.plan.baseline_cell(item.id)
    return base is not None and base.id == cell


def _run_row(data: ReportData, cell: str, walls: list[float], item: Input) -> Row:
    cuts = quantiles(walls, n=4, method="inclusive")
    figures = (min(walls), *cuts, max(walls))
    outliers = sum(is_outlier(wall, walls) for wall in walls)
    return Row(
        (
            Cell(data.label(cell)),
            Cell(str(len(walls)), len(walls)),
            *(Cell(format_duration(value), value) for value in figures),
            Cell(str(outliers), outliers),
        ),
        baseline=_is_baseline(data, item, cell),
    )


def _places(blocks: list[Block], names: dict[str, str]) -> tuple[Row, ...]:
    by_cell: defaultdict[str, list[int]] = defaultdict(list)
    for number in sorted({b.round for b in blocks}):
        for place, block in enumerate(_round(blocks, number), 1):
            by_cell[block.cell_id].append(place)
    return tuple(
        Row(
            (
                Cell(name),
                Cell(str(len(positions)), len(positions)),
                Cell(significant(fmean(positions), 3), fmean(positions)),
            )
        )
        for cell, name in names.items()
        if (positions := by_cell[cell])
    )


def _round(blocks: list[Block], number: int) -> list[Block]:
    return [b for b in blocks if b.round == number]
