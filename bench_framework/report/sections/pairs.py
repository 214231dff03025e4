"""Section "All pairs": the ratio of every two variants."""

from collections.abc import Mapping
from typing import Final

from bench_framework.compare.decide import judged_pairs
from bench_framework.model.judgement import Comparison
from bench_framework.model.plan import Input
from bench_framework.model.words import glyph
from bench_framework.report.blocks import Block, Cell, Column, Row, Table, numeric
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import metric_name, order
from bench_framework.report.main_table import plain_interval
from bench_framework.report.numbers import DASH
from bench_framework.report.sections.kind import SectionKind, input_heading

MOST: Final = 12
"""Most variants of the table; the fastest ones."""
LEGEND: Final = (
    "Cells: row ÷ column, the typical ratio; below 1, the row takes less. The numbers of the "
    "columns are those of the rows. Pairs without a baseline or a named contrast are a family of "
    "their own in the correction for multiple comparisons. `comparisons.csv` has the intervals and "
    "all variants."
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table for each input with enough variants."""
    best = (c for group in data.judgement.best for c in group.comparisons)
    pairs = judged_pairs((*data.judgement.comparisons, *best), data.metric)
    blocks: list[Block] = []
    for number, item in enumerate(data.plan.inputs, 1):
        table = _table(data, item, pairs, f"pairs-{number}-table")
        if table is not None:
            blocks += [*input_heading(data, item, f"pairs-{number}"), table]
    return tuple(blocks)


def _table(
    data: ReportData, item: Input, pairs: Mapping[tuple[str, str], Comparison], name: str
) -> Table | None:
    references = {data.plan.baseline_id, *data.plan.further_baselines}
    measured = data.measured(item.id)
    others = {cell.id for cell in measured if cell.variant_id not in references}
    compared = {cell_id for pair in pairs if others.issuperset(pair) for cell_id in pair}
    cells = [c for c in measured if c.id in compared or c.variant_id in references]
    if not compared:  # the other tables have every pair
        return None
    baseline = data.plan.baseline_cell(item.id)
    cells = sorted(cells, key=lambda cell: order(data, cell, baseline))[:MOST]
    rows = tuple(
        Row.build(
            f"{number} {data.label(row.id)}",
            *(_ratio(pairs.get((row.id, column.id))) for column in cells),
            baseline=baseline is not None and row.id == baseline.id,
        )
        for number, row in enumerate(cells, 1)
    )
    columns = (Column("Variant"), *numeric(*(str(n) for n in range(1, len(cells) + 1))))
    caption = f"{metric_name(data.metric)} of each pair{data.on_input(item, ', input ')}."
    return Table(name, caption, columns, rows, (LEGEND,), stub=data.on_input(item))


def _ratio(comparison: Comparison | None) -> Cell:
    interval = plain_interval(comparison)
    if comparison is None or interval is None:
        return Cell(DASH)
    verdict = comparison.verdict
    return Cell(f"{interval.ratio:.2f} {glyph(verdict)}".strip(), interval.ratio, verdict=verdict)


PAIRS = SectionKind(
    "S33", "pairs", "All pairs", "the ratio of every two variants, of at most the 12 fastest", build
)
