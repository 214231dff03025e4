"""Execution order: one row per variant with a tick per sample. A random order has no pattern."""

from collections import Counter, defaultdict
from statistics import fmean
from typing import Final

from bench_framework.report.blocks import Cell, Column, Figure, Point, Row, Table, numeric
from bench_framework.report.charts import Axes, Palette, frame
from bench_framework.report.charts.runs import run_times
from bench_framework.report.context import ReportData
from bench_framework.text.numbers import shortest, significant

ROW: Final = 15.0
MOST_TURNS: Final = 260
"""Largest number of samples in the plot."""
MOST_ROWS: Final = 24
TOP: Final = 6.0
BOTTOM: Final = 30.0
MOST_LABEL: Final = 32
HALF: Final = 5.0
"""Half of a tick's height."""


def order_strip(data: ReportData) -> Figure | None:
    """Return the execution order of the first samples on the last input. The table has all."""
    item, walls = run_times(data)
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
    taken: Counter[int] = Counter()
    places: defaultdict[str, list[int]] = defaultdict(list)
    for block in blocks:
        taken[block.round] += 1
        places[block.cell_id].append(taken[block.round])
    rows = tuple(
        Row.build(
            name,
            Cell(str(len(places[cell])), len(places[cell])),
            Cell(significant(fmean(places[cell]), 3), fmean(places[cell])),
        )
        for cell, name in names.items()
        if cell in places
    )
    columns = (Column("Variant"), *numeric("Samples", "Mean position in its round"))
    all_drawn = len(blocks) <= MOST_TURNS
    first = f"{'All' if all_drawn else f'The first {MOST_TURNS} of'} {len(blocks)} samples"
    desc = f"{first} in execution order; every second round has a grey background."
    if len(names) > len(drawn):
        desc += f" {len(names) - len(drawn)} more variants are in the table."
    size = fmean(taken.values())
    caption = (
        "Mean position of each variant in its rounds, from 1; a random order gives about "
        f"{shortest((size + 1) / 2, 3)}"
    )
    table = Table("order-strip-data", caption, columns, rows, sortable=False)
    title = f"Execution order{data.on_input(item, ', input ')}"
    labels = (("x", "samples in execution order"),)
    return Figure("order-strip", "order", title, desc, points, table, labels)


def draw(ax: Axes, figure: Figure, colours: Palette) -> None:
    """Draw ticks at the positions (`x`), with a band behind every second round (`y`)."""
    names = list(figure.by_series())
    width, height = frame.WIDTH, TOP + BOTTOM + ROW * len(names)
    frame.sheet(ax, width, height)
    left = frame.label_room(names, MOST_LABEL)
    scale = (width - left - 6) / (max(p.x for p in figure.points) + 1)
    for number in sorted({p.y for p in figure.points if p.y % 2 == 0}):
        turns = [p.x for p in figure.points if p.y == number]
        ends = (left + min(turns) * scale, left + (max(turns) + 1) * scale)
        ax.fill_between(ends, BOTTOM, height - TOP, facecolor=colours["band"], edgecolor="none")
    labels = frame.shorts(names, MOST_LABEL)
    for row, name in enumerate(names):
        y = height - TOP - ROW * (row + 0.5)
        frame.words(ax, (left - 8, y), labels[name], colours["ink"], ha="right")
        turns = [left + (p.x + 0.5) * scale for p in figure.points if p.series == name]
        ticks = [[(x, y - HALF), (x, y + HALF)] for x in turns]
        frame.strokes(ax, ticks, colours["muted"], min(2.0, max(0.8, scale / 2)))
    frame.words(ax, ((left + width) / 2, 12), figure.label("x"), colours["muted"], ha="center")
