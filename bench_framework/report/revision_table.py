"""The table of two revisions: time, change and memory of every configuration."""

from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.plan import Cell as PlanCell
from bench_framework.model.plan import Role
from bench_framework.model.words import noun
from bench_framework.report.blocks import Cell, Column, Row, Table
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import REFUSED, effects_note, metric_name, order
from bench_framework.report.main_table import (
    CI,
    FEW_MORE,
    MANY_ROWS,
    change_cell,
    in_times,
    row_note,
)
from bench_framework.report.scales import scale_of, titled
from bench_framework.units import counted


def revision_cells(data: ReportData) -> tuple[PlanCell, ...]:
    """Return the configurations at the newer revision, the largest increase first.

    Configurations without a comparison are last.
    """

    def key(cell: PlanCell) -> tuple[int, float]:
        rank, ratio = order(data, cell, data.plan.baseline_cell(cell.input_id))
        return rank, -ratio

    arms = (cell for item in data.plan.inputs for cell in data.arms(item.id))
    return tuple(sorted((cell for cell in arms if cell.role is Role.CANDIDATE), key=key))


def revision_table(data: ReportData, cells: tuple[PlanCell, ...]) -> tuple[Table, list[PlanCell]]:
    """Return a table with one row per configuration, and the cells of its rows."""
    assert data.plan.revisions is not None
    base, head = data.plan.revisions.names
    rows_of = list(cells if len(cells) <= MANY_ROWS + FEW_MORE else cells[:MANY_ROWS])
    compared = [data.comparison(cell.id, data.metric) for cell in rows_of]
    times = in_times(compared)
    bases = {item.id: data.plan.baseline_cell(item.id) for item in data.plan.inputs}
    family = data.plan.unit_family
    scales = {}
    for metric in dict.fromkeys((data.metric, PEAK_RSS)):
        both = data.summaries(
            [c for cell in rows_of for c in (bases[cell.input_id], cell) if c is not None], metric
        )
        if both or metric == data.metric:
            scales[metric] = scale_of(metric, None, both, family, data.own_unit(metric))
    rows = []
    for cell, comparison in zip(rows_of, compared, strict=True):
        refused = REFUSED.get(data.state(cell.id).state)
        reference = bases[cell.input_id]
        before, after = (
            scales[data.metric].cell(data.summary(c.id, data.metric) if c and not refused else None)
            for c in (reference, cell)
        )
        peak = [
            scale.cell(None if refused else data.summary(cell.id, metric))
            for metric, scale in scales.items()
            if metric != data.metric
        ]
        verdict = refused or (comparison.verdict if comparison else None)
        name = data.input_name(data.plan.input(cell.input_id))
        change = change_cell(data, cell, times=times)
        note = Cell(row_note(data, cell, comparison))
        rows.append(Row((Cell(name), after, change, before, *peak, note), verdict))
    unit = scales[data.metric].unit
    columns = (
        Column("Configuration"),
        Column(titled(f"{metric_name(data.metric)} at {head}", unit), "decimal"),
        Column(f"vs {base} [{CI}]"),
        Column(titled(f"{metric_name(data.metric)} at {base}", unit), "decimal", drop=2),
        *(
            Column(titled("Peak memory", scale.unit), "decimal", drop=1)
            for metric, scale in scales.items()
            if metric != data.metric
        ),
        Column("Note", drop=3, prose=True),
    )
    caption = (
        f"{metric_name(data.metric)} at both revisions: median over rounds; ordered by the change "
        f"of {noun(data.metric)} in the same rounds, the largest increase first."
    )
    rest = len(cells) - len(rows)
    line = effects_note(compared)
    line += f" The appendix has {counted(rest, 'more configuration')}." if rest else ""
    return Table("results-table", caption, columns, tuple(rows), note=line.strip()), rows_of
