"""Sections "Results" of the report, and "All results" and "All pairs" of the appendix."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from bench_framework.model.plan.plan import Input, Role
from bench_framework.model.result.judgement import Comparison
from bench_framework.report.blocks import Block, Cell, Column, Row, Table, numeric
from bench_framework.report.charts.grid import grid
from bench_framework.report.charts.sweep import further_sweeps
from bench_framework.report.claim_blocks import key_claim, leading_input
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import headline_table, metric_name, order
from bench_framework.report.main_table import (
    by_input_table,
    main_table,
    mark,
    plain_interval,
    revision_cells,
    revision_table,
)
from bench_framework.report.sections.figure import measured_inputs, result_input
from bench_framework.report.sections.kind import SectionKind, per_input
from bench_framework.report.table_cells import finding
from bench_framework.text.numbers import DASH, fixed

MOST_PAIRED: Final = 12
"""Most variants of the table of pairs; the fastest ones."""
LEGEND: Final = (
    "Cells: row ÷ column, the typical ratio; below 1, the row has the smaller value. The numbers of the "
    "columns are those of the rows. Pairs without a baseline or a named contrast are a family of "
    "their own in the correction for multiple comparisons. `comparisons.csv` has the intervals and "
    "all variants."
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the table of the input that the answer is about, and a table of all inputs.

    For two revisions, return the table of all configurations.
    """
    item = result_input(data)
    if item is None:
        return ()
    others = None
    if data.plan.revisions is not None and len(changed := revision_cells(data)) > 1:
        table, _ = revision_table(data, changed)
    else:
        table = main_table(data, item, f"results-{data.plan.inputs.index(item) + 1}")
        others = by_input_table(data, item) if len(measured_inputs(data)) > 1 else None
    return (table, others) if others is not None else (table,)


def in_full(data: ReportData) -> tuple[Block, ...]:
    """Return per input every figure of time, CPU time and memory, and plots of axes."""

    def parts(item: Input, name: str) -> Iterator[Block | None]:
        if item in measured_inputs(data):
            table = headline_table(data, item, name)
            yield table
            # Without a special answer, the summary begins with the claim of its input.
            stated = item == leading_input(data) and not data.claims("answer")
            yield from finding(None if stated else key_claim(data, item))
            yield grid(data, item, table)
            yield from further_sweeps(data, item, name)

    return per_input(data, "all", parts)


HEADLINE = SectionKind(
    "S03",
    "results",
    "Results",
    "a table of time, change with its interval, and memory",
    build,
    "nothing was measured",
    place="report",
    terminal="all",
)
ALL_RESULTS = SectionKind(
    "S29",
    "all-results",
    "All results",
    "time, CPU time, cores, throughput and memory of every configuration, with adjusted CIs",
    in_full,
)


def pairs(data: ReportData) -> tuple[Block, ...]:
    """Return a table for each input with enough variants."""
    return per_input(data, "pairs", lambda item, name: (_pair_table(data, item, f"{name}-table"),))


def _pair_table(data: ReportData, item: Input, name: str) -> Table | None:
    references = {data.plan.baseline_id, *data.plan.further_baselines}
    measured = data.measured(item.id)
    others = {cell.id for cell in measured if cell.variant_id not in references}
    compared = {cell_id for pair in data.pairs if others.issuperset(pair) for cell_id in pair}
    cells = [c for c in measured if c.id in compared or c.variant_id in references]
    if not compared:  # the other tables have every pair
        return None
    cells = sorted(cells, key=partial(order, data))[:MOST_PAIRED]
    rows = tuple(
        Row.build(
            f"{number} {data.label(row.id)}",
            *(_ratio(data.pairs.get((row.id, column.id))) for column in cells),
            baseline=row.role is Role.BASELINE,
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
    text = f"{fixed(interval.ratio, 2)} {mark(comparison)}"
    return Cell(text, interval.ratio, verdict=comparison.verdict)


PAIRS = SectionKind(
    "S33", "pairs", "All pairs", "the ratio of every two variants, of at most the 12 fastest", pairs
)
