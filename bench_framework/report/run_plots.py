"""What the runs look like, and in which order they were: of the input that the summary is about, the last."""

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
"""Blocks of a cell below which its distribution shows nothing."""
FENCE: Final = 1.5
MOST_PANELS: Final = 12
MOST_RUNS: Final = 40
"""Of a cell in a panel; beyond this every k-th one is drawn, and the table is of all."""
MOST_TURNS: Final = 260
MOST_ROWS: Final = 24


def runs_plot(data: ReportData) -> Figure | None:
    """Up to twelve cells of the last input: baseline, best group, then by time. The table has every cell."""
    item, walls = _walls(data)
    if item is None or len(walls) < 2:  # noqa: PLR2004 -- one alone has nothing to stand beside it
        return None
    order = sorted(walls, key=lambda cell: _rank(data, item, cell, walls[cell]))
    points = [
        Point(
            "",
            wall,
            float(turn),
            series=data.label(cell),
            baseline=_is_baseline(data, item, cell),
            strong=is_far(wall, walls[cell]),
        )
        for cell in order[:MOST_PANELS]
        for turn, wall in enumerate(walls[cell][:: -(-len(walls[cell]) // MOST_RUNS)], 1)
    ]
    rows = tuple(_run_row(data, cell, walls[cell], item) for cell in order)
    columns = (
        Column("Variant"),
        Column("Blocks", "right"),
        Column("Least", "right"),
        Column("First quarter", "right"),
        Column("Median", "right"),
        Column("Third quarter", "right"),
        Column("Most", "right"),
        Column("Far out", "right"),
    )
    more = f" {len(order) - MOST_PANELS} more are in the table." if len(order) > MOST_PANELS else ""
    desc = (
        "Share of the blocks at or below each time; grey: the baseline. Below, the blocks themselves, "
        "the first half of the record in one colour and the second in another; thick: more than 1.5 times the width of "
        f"the middle half away from it, and never left out.{more}"
    )
    table = Table(
        "runs-plot-data", "The spread of each cell in numbers", columns, rows, sortable=False
    )
    title = f"The runs themselves{data.on_input(item, ', input ')}"
    return Figure("runs-plot", "runs", title, desc, tuple(points), table)


def order_strip(data: ReportData) -> Figure | None:
    """The first turns on the last input, in the order in which they were taken. The table is of all of them."""
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
        Column("Turns", "right"),
        Column("Mean place in its round", "right"),
    )
    first = (
        f"The first {MOST_TURNS} of {len(blocks)} turns"
        if len(blocks) > MOST_TURNS
        else f"All {len(blocks)} turns"
    )
    desc = f"{first} in the order in which they were taken; every second round has a grey ground."
    if len(names) > len(drawn):
        desc += f" {len(names) - len(drawn)} more variants are in the table."
    size = fmean(len(_round(blocks, number)) for number in {b.round for b in blocks})
    caption = f"Mean place of each variant in its rounds, from 1; chance alone makes it about {(size + 1) / 2:.3g}"
    table = Table("order-strip-data", caption, columns, rows, sortable=False)
    title = f"The order of the turns{data.on_input(item, ', input ')}"
    return Figure(
        "order-strip", "order", title, desc, points, table, (("x", "turns, one after the other"),)
    )


def _walls(data: ReportData) -> tuple[Input | None, dict[str, list[float]]]:
    """The last input with enough blocks, and the times of its cells in order."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for block in data.measured_blocks:
        if block.wall is not None:
            times[block.cell_id].append(block.wall)
    for item in reversed(data.plan.inputs):
        arms = {
            c.id: times[c.id]
            for c in data.arms(item.id)
            if len(times[c.id]) >= FEWEST and not c.role.apart
        }
        if arms:
            return item, arms
    return None, {}


def is_far(wall: float, walls: Sequence[float]) -> bool:
    """Whether a time lies outside the fences of Tukey's Exploratory Data Analysis (1977).

    They stand 1.5 times the distance of the quartiles below the first and above the third one.
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
    far = sum(is_far(wall, walls) for wall in walls)
    return Row(
        (
            Cell(data.label(cell)),
            Cell(str(len(walls)), len(walls)),
            *(Cell(format_duration(value), value) for value in figures),
            Cell(str(far), far),
        ),
        baseline=_is_baseline(data, item, cell),
    )


def _places(blocks: list[Block], names: dict[str, str]) -> tuple[Row, ...]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number in sorted({b.round for b in blocks}):
        for place, block in enumerate(_round(blocks, number), 1):
            places[block.cell_id].append(place)
    return tuple(
        Row(
            (
                Cell(name),
                Cell(str(len(found)), len(found)),
                Cell(significant(fmean(found), 3), fmean(found)),
            )
        )
        for cell, name in names.items()
        if (found := places[cell])
    )


def _round(blocks: list[Block], number: int) -> list[Block]:
    return [b for b in blocks if b.round == number]
