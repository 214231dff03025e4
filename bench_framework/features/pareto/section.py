"""Section "Trade-offs (Pareto front)": costs of the variants, and which are Pareto-optimal."""

from typing import Final

from bench_framework.model.metrics import CPU, LEAST_BYTES, PEAK_RSS, WALL
from bench_framework.model.plan.policies import Metric
from bench_framework.model.record.run import Build
from bench_framework.model.result.structure import MEASURED_COSTS, Front, Standing
from bench_framework.report.blocks import Block, Cell, Column, Row, Table
from bench_framework.report.claim_blocks import leading_input
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import metric_name
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import Scale, scale_of, value_cell
from bench_framework.text import words
from bench_framework.text.names import listed
from bench_framework.text.numbers import DASH, column_size, format_clock, format_size

_MEASURED: Final = (PEAK_RSS, CPU, WALL)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the table for the input of the summary."""
    fronts = {front.input_id: front for front in data.judgement.structure.fronts}
    if not fronts:
        return ()
    leading = leading_input(data)
    last = data.judgement.structure.fronts[-1]
    return (_table(data, fronts.get(leading.id, last) if leading is not None else last),)


def _table(data: ReportData, front: Front) -> Table:
    item = data.plan.input(front.input_id)
    ids = [s.cell_id for s in front.standings]
    measured: list[tuple[Metric, Scale]] = []
    for metric in _MEASURED:
        summaries = [s for i in ids if (s := data.summary(i, metric)) is not None]
        if summaries:
            size = summaries[0].median
            if metric == PEAK_RSS:
                size = column_size(size, (s.median for s in summaries), data.plan.unit_family)
            measured.append((metric, scale_of(data, metric, summaries, size)))
    rows = []
    for standing in front.standings:
        variant = data.variant_of(data.plan.cell(standing.cell_id))
        cells = (
            Cell(variant.label),
            *_build_cells(data.build_of(variant)),
            *(scale.cell(data.summary(standing.cell_id, metric)) for metric, scale in measured),
            Cell(_place(standing, data)),
            Cell(data.replication([standing.cell_id])),
        )
        rows.append(Row(cells, baseline=data.is_baseline(variant.id), strong=standing.on_front))
    columns = (
        Column("Variant"),
        Column("Binary size", "right"),
        Column("Build time", "right", drop=3),
        Column("Dependencies", "right", drop=2),
        *(Column(f"{metric_name(m)}, {scale.unit}", "decimal") for m, scale in measured),
        Column("Pareto front", prose=True),
        Column("n", "right", drop=4),
    )
    caption = (
        f"Trade-offs{data.on_input(item, ', input ')}: medians of rounds, and exact figures of the "
        "binaries."
    )
    legend = (_legend(front),)
    return Table("tradeoffs-table", caption, columns, tuple(rows), legend, sortable=False)


def _build_cells(build: Build | None) -> tuple[Cell, Cell, Cell]:
    if build is None:
        return Cell(DASH), Cell(DASH), Cell(DASH)
    return (
        value_cell(build.size_bytes or None, format_size),
        value_cell(build.build_s, format_clock),
        value_cell(build.dependencies, str),
    )


def _place(standing: Standing, data: ReportData) -> str:
    """Return the metrics in which a variant is best, or the variant that dominates it."""
    if not standing.on_front:
        first, *more = standing.beaten_by
        return f"dominated by {data.label(first)}{f' and {len(more)} more' if more else ''}"
    return ", ".join(map(words.least, standing.least)) or "Pareto-optimal"


def _legend(front: Front) -> str:
    clear = " or ".join(words.noun(m) for m in front.metrics if m in MEASURED_COSTS)
    others = listed(words.noun(m) for m in front.metrics)
    least = format_size(LEAST_BYTES, digits=1)
    return (
        f"Bold: Pareto-optimal. Dominated: another variant is lower in {clear}, and not higher in {others}, "
        f"where memory may be up to {least} higher. Least, smallest, fewest: no other "
        "variant is shown to be lower, so several variants can have this mark. Time and memory are compared by the "
        "verdicts of the results; pairs without a verdict by non-overlapping 95 % CIs of their "
        "medians (unpaired, not adjusted); sizes and dependencies by their values. Build times "
        "are not compared: a later build can use packages that an earlier one compiled."
    )


TRADEOFFS = SectionKind(
    "S20",
    "tradeoffs",
    "Trade-offs (Pareto front)",
    "time, CPU time, memory, binary size, build time and dependencies; Pareto-optimal variants",
    build,
    "fewer than two variants have both a time and another cost",
)
