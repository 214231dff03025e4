"""The results table of an input: one row per variant, ordered by ratio."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.plan.plan import Cell as PlanCell, Input, Role
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.result.judgement import CellState, Comparison
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Cell, Column, Row, Table
from bench_framework.report.context import ReportData
from bench_framework.report.table_cells import (
    CI,
    Scale,
    comparison_cells,
    cores_cell,
    rate_cell,
    scale_of,
    titled,
    verdict_cell,
)
from bench_framework.rounding import up_to_two_digits
from bench_framework.text.names import capital
from bench_framework.text.numbers import (
    DASH,
    SIZES,
    column_size,
    format_percent,
    percent_up,
    rate_unit,
)
from bench_framework.text.reasons import phrase
from bench_framework.text.words import glyph, noun


def headline_table(data: ReportData, item: Input, name: str) -> Table:
    """Return the results table, ordered by ratio. Rows without a comparison are last."""
    arms = data.arms(item.id)
    metrics = [m for m in (CPU, PEAK_RSS) if m != data.metric and data.summaries(arms, m)]
    scales = {m: scale_on(data, item, m) for m in (data.metric, *metrics)}
    size = data.handled_bytes(item.id) if data.metric == WALL else None
    best, unit = data.ahead(item.id), scales[data.metric].unit
    # A narrow output drops the columns with the highest `drop` first.
    columns = [
        Column("Variant"),
        Column(titled(metric_name(data.metric), unit), "decimal"),
        Column("vs baseline", "decimal"),
        Column(CI, drop=1),
        Column("Verdict"),
    ]
    if size is not None:
        columns.append(Column(rate_unit(data.plan.unit_family)[0], "right", drop=3))
    if CPU in metrics:
        columns.append(Column(titled("CPU time", scales[CPU].unit), "decimal", drop=5))
        columns.append(Column("CPU vs baseline", "decimal", drop=5))
        columns.append(Column("Cores", "decimal", drop=6))
    if PEAK_RSS in metrics:
        columns.append(Column(titled("Peak RSS", scales[PEAK_RSS].unit), "decimal", drop=2))
    columns += [Column(titled(name, unit), "right", drop=7) for name in ("Mean (SD)", "Min–max")]
    columns += [Column("n", "right", drop=4), Column("Notes", drop=8, prose=True)]
    rows = tuple(
        _row(data, cell, scales, size, strong=cell.id in best)
        for cell in sorted(arms, key=partial(order, data))
    )
    caption = (
        f"{by_variant(data, item)}; mean, standard deviation (SD), smallest and largest value over "
        f"the same; ratios are variant ÷ {data.baseline_on(item).label}."
    )
    return Table(name + "-table", caption, tuple(columns), rows, stub=data.on_input(item))


def by_variant(data: ReportData, item: Input) -> str:
    """Return the begin of a caption: ``Time by variant, input 1 MiB: median over rounds``."""
    median = "median over rounds" if data.metric != PEAK_RSS else "median over runs"
    where = f"{data.on_input(item, ', input ')}{data.cold(item)}"
    return f"{metric_name(data.metric)} by variant{where}: {median}"


def scale_on(data: ReportData, item: Input, metric: str) -> Scale:
    """Return the scale of a metric, chosen from the row of the baseline."""
    first = data.baseline_summary(item.id, metric)
    summaries = data.summaries(data.arms(item.id), metric)
    size = next((s.median for s in (first, *summaries) if s is not None), 1.0)
    if metric in SIZES:
        size = column_size(size, (s.median for s in summaries), data.plan.unit_family)
    return scale_of(data, metric, summaries, size)


def metric_name(metric: str) -> str:
    """Return the name of a metric as the title of a column."""
    return "Peak RSS" if metric == PEAK_RSS else capital(noun(metric))


def _row(
    data: ReportData, cell: PlanCell, scales: dict[str, Scale], size: int | None, *, strong: bool
) -> Row:
    state, variant = data.state(cell.id), data.variant_of(cell)
    baseline = cell.role is Role.BASELINE
    refused = state.refusal
    summary, cpu, peak = (
        None if refused else data.summary(cell.id, m) for m in (data.metric, CPU, PEAK_RSS)
    )
    comparison, by_cpu = (
        None if refused or baseline else data.comparison(cell.id, m) for m in (data.metric, CPU)
    )
    verdict = refused or (comparison.verdict if comparison and state.state == "measured" else None)
    reason = reason_of(state, comparison)
    notes = (reason, stopped(data, cell.id), effect_note(comparison))
    time = scales[data.metric]
    judged = comparison_cells(comparison, data.claim_id(cell.id, data.metric))
    if baseline or cell.role is Role.BOUND:  # neither has an interval
        judged = Cell(cell.role.value, 1.0 if baseline else None), Cell("")
    cells = [
        Cell(
            variant.label,
            about=variant.describe if cell.input_id == data.plan.inputs[0].id else "",
        ),
        time.cell(summary),
        *judged,
        verdict_cell(verdict, data.metric)
        if verdict is not None
        else Cell("not started" if state.state == "not-started" else ""),
    ]
    if size is not None:
        cells.append(rate_cell(size, summary, data.plan.unit_family))
    if CPU in scales and data.metric != CPU:
        ratio, _ = comparison_cells(by_cpu, data.claim_id(cell.id, CPU))
        if by_cpu is not None and by_cpu.shown is not None:
            text = f"{ratio.text} {glyph(by_cpu.verdict)}"
            ratio = replace(ratio, text=text, verdict=by_cpu.verdict)
        ratio = Cell("baseline", 1.0) if baseline else ratio
        elapsed = None if refused else data.summary(cell.id, WALL)
        cells += [scales[CPU].cell(cpu), ratio, cores_cell(cpu, elapsed)]
    if PEAK_RSS in scales and data.metric != PEAK_RSS:
        cells.append(scales[PEAK_RSS].cell(peak))
    cells += [
        time.spread(summary),
        time.extremes(summary),
        Cell(data.replication([cell.id]) if summary else DASH),
        Cell("; ".join(filter(None, notes))),
    ]
    return Row(tuple(cells), verdict, strong and summary is not None, baseline, reason)


def reason_of(state: CellState, comparison: Comparison | None) -> str:
    """Return the reason why a row has no verdict or an inconclusive one."""
    if state.state == "not-started":
        return phrase(state.reason or Reason(ReasonCode.NOT_STARTED))
    if state.refusal:
        return phrase(state.reason)
    return phrase(comparison.reason) if comparison else ""


def stopped(data: ReportData, cell_id: str) -> str:
    """Return ``"dropped after round 18: worse than B"``; empty if measured to the end."""
    race = data.judgement.race
    lost = next((lost for lost in race.lost if lost.cell_id == cell_id), None) if race else None
    if lost is None:
        return ""
    if not lost.beaten:
        return f"measured up to round {lost.round}"
    to = f": worse than {data.label(lost.to_cell_id)}" if lost.to_cell_id else ""
    return f"dropped after round {lost.round}{to}"


def order(data: ReportData, cell: PlanCell) -> tuple[int, float]:
    """Return the sort key of a row: its ratio.

    Rows that were not compared follow, such as bounds. Refused rows are last.
    """
    if data.state(cell.id).refusal:
        return 2, 0.0
    if cell.role is Role.BASELINE:
        return 0, 1.0
    comparison = data.comparison(cell.id, data.metric)
    if comparison is not None and comparison.shown is not None:
        return 0, comparison.shown.ratio
    mine = data.summary(cell.id, data.metric)
    other = data.baseline_summary(cell.input_id, data.metric)
    if cell.role is not Role.BOUND and mine is not None and other is not None:
        values = (mine.median, other.median)
        above, below = reversed(values) if data.higher else values
        return 0, above / below if below > 0 else math.inf
    return 1, mine.median if mine else 0.0


def effect_note(comparison: Comparison | None) -> str:
    """Return a note such as ``"MDE 6.1 %; detecting 2 % needs about 370 rounds"``.

    It is empty for a conclusive comparison. If more than 1000 rounds are needed, only the line
    under the table states so.
    """
    if comparison is None or not _is_open(comparison):
        return ""
    needed = "" if comparison.rounds_needed is None else _needed([comparison])
    return "; ".join(filter(None, (f"MDE {percent_up(comparison.mde or 0.0)}", needed)))


def effects_note(comparisons: Sequence[Comparison | None]) -> str:
    """Return one line about all inconclusive comparisons of a table, or nothing without any."""
    open_ = [c for c in comparisons if c is not None and _is_open(c)]
    if not open_:
        return ""
    sizes = sorted(c.mde or 0.0 for c in open_)
    least, most = percent_up(sizes[0]), percent_up(sizes[-1])
    span = least if least == most else f"{least} to {most}, depending on the variant"
    needed = capital(_needed(open_))
    limit = f"the smallest difference that this run could detect (MDE) is {span}."
    return f"Inconclusive rows: {limit} {needed}{'.' if needed else ''}".strip()


def _is_open(comparison: Comparison) -> bool:
    return comparison.verdict is Verdict.INCONCLUSIVE and bool(comparison.mde)


def _needed(comparisons: Sequence[Comparison]) -> str:
    """Return the rounds that detect a difference of the margin, "" if they were measured."""
    head = f"detecting {format_percent(comparisons[0].thresholds.margin)} needs"
    known = [c.rounds_needed for c in comparisons if c.rounds_needed is not None]
    if len(known) < len(comparisons):
        return f"{head} more than 1000 rounds"
    if max(known) <= max(c.rounds for c in comparisons):
        return ""
    unit = "runs per command" if comparisons[0].statistic == "welch" else "rounds"
    return f"{head} about {int(up_to_two_digits(float(max(known))))} {unit}"
