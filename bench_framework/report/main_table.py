"""The tables of the report: time, change, peak memory and a note per variant or configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Final

from bench_framework.compare.derived_values import limit_shares
from bench_framework.model.metrics import ANONYMOUS, PEAK_RSS, is_exact
from bench_framework.model.plan.plan import Cell as PlanCell, Input, Role
from bench_framework.model.result.judgement import BY_ROUND, Comparison, Summary
from bench_framework.model.result.mapped_files import maps_files
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.report.blocks import Cell, Column, Drawn, Row, Table
from bench_framework.report.charts import amounts
from bench_framework.report.context import ReportData
from bench_framework.report.failed_runs import failures
from bench_framework.report.headline_table import (
    by_variant,
    effects_note,
    metric_name,
    order,
    reason_of,
    scale_on,
    stopped,
)
from bench_framework.report.table_cells import CI, Scale, at_level, scale_of, titled
from bench_framework.text.differences import page_factor
from bench_framework.text.names import capital
from bench_framework.text.numbers import DASH, format_size, show_change, show_factor, signed_percent
from bench_framework.text.words import change, glyph, noun, word
from bench_framework.text.write import render
from bench_framework.units import counted

MANY_ROWS: Final = 14
"""Most rows of a table that leaves out no variant."""
FEWEST_ROWS: Final = 6
"""Rows of a longer table, if the page talks about no more variants than these."""
INTERVAL: Final = "less\u00a0←\u00a0→\u00a0more"
"""Title of the drawn intervals."""
BY_RATIO: Final = "≈: baseline × the typical ratio."
"""Statistics that compare runs of the same round."""
FAR: Final = 0.1
"""Difference between a median and its estimate by the ratio that a note states, as a share."""
MOST_DESCRIBED: Final = 8
"""Most rows with descriptions. The appendix describes the variants of longer tables."""


def main_table(data: ReportData, item: Input, name: str) -> Table:
    """Return the results of an input, ordered by ratio. Bounds follow, then refused rows."""
    arms = data.arms(item.id)
    time = scale_on(data, item, data.metric)
    further = {metric: scale_on(data, item, metric) for metric in _further(data, arms)}
    described, listed = len(arms) <= MOST_DESCRIBED, in_report(data, arms)
    ahead = data.ahead(item.id)
    rows = []
    for cell in listed:
        state, variant = data.state(cell.id), data.variant_of(cell)
        comparison = data.comparison(cell.id, data.metric)
        refused = state.refusal
        cells = (
            Cell(variant.label, about=variant.describe if described else ""),
            _value_cell(data, cell, time),
            change_cell(data, cell),
            drawn(None if refused else comparison),
            *_further_cells(data, cell, further),
            Cell(row_note(data, cell, comparison)),
        )
        verdict = refused or (comparison.verdict if comparison else None)
        reason = reason_of(state, comparison)
        rows.append(Row(cells, verdict, cell.id in ahead, _is_base(cell), reason))
    columns = (
        Column("Variant"),
        Column(titled(metric_name(data.metric), time.unit), "decimal"),
        Column(f"vs baseline [{CI}]"),
        Column(INTERVAL, drawn=True),
        *_further_columns(further),
        Column("Note", drop=2, prose=True),
    )
    estimated = any(value_by_ratio(data, cell) is not None for cell in listed)
    bold = "the best; which of them is best is not shown" if len(ahead) > 1 else "best"
    parts = (
        f"{by_variant(data, item)}.",
        BY_RATIO if estimated else "",
        f"Bold: {bold}." if ahead else "",
    )
    caption = " ".join(filter(None, parts))
    compared = [data.comparison(c.id, data.metric) for c in listed if not data.state(c.id).refusal]
    described = described or not any(data.variant_of(cell).describe for cell in listed)
    note = _note(compared, len(arms) - len(rows), "more variant", described=described)
    return Table(
        name + "-table",
        caption,
        columns,
        tuple(rows),
        stub=data.on_input(item),
        note=note,
        terminal=tuple(failures(data, item)),
    )


def drawn(comparison: Comparison | None) -> Cell:
    """Return the drawing of a ratio with its interval; an empty cell without one."""
    interval = plain_interval(comparison)
    if comparison is None or interval is None:
        return Cell("")
    margin, verdict = comparison.thresholds.margin, comparison.verdict
    return Cell("", drawn=Drawn(interval.ratio, interval.lo, interval.hi, margin, verdict))


def _value_cell(data: ReportData, cell: PlanCell, scale: Scale) -> Cell:
    """Return the main metric of a configuration: that of `value_by_ratio`, or its median without one."""
    if data.state(cell.id).refusal:
        return Cell(DASH)
    value = value_by_ratio(data, cell)
    if value is None:
        return scale.cell(data.summary(cell.id, data.metric))
    summary, about = data.summary(cell.id, data.metric), ""
    if summary is not None and abs(summary.median - value) > FAR * value:
        about = f"median as measured: {scale.text(summary.median)} {scale.unit}"
    return Cell(f"≈ {scale.text(value)}", value, about=about)


def value_by_ratio(data: ReportData, cell: PlanCell) -> float | None:
    """Return the median of the baseline × the ratio of a configuration; `None` if it was not compared.

    The median of a configuration itself can contradict its ratio: the ratio compares runs of the same
    round, and a configuration may have fewer rounds. It is in the appendix.
    """
    comparison = data.comparison(cell.id, data.metric)
    if comparison is None or comparison.statistic not in BY_ROUND:
        return None
    other, interval = data.summary(comparison.ref_cell_id, data.metric), comparison.of_values
    return None if other is None or interval is None else other.median * interval.ratio


def _further(data: ReportData, cells: Sequence[PlanCell]) -> list[str]:
    """Return the further metrics of a table: exact ones that the report or the gate judges, and memory."""
    judge = data.plan.judge
    judged = (*judge.metrics, *(metric for metric, _ in judge.gate.margins))
    exact = dict.fromkeys(metric for metric in judged if is_exact(metric))
    further = (metric for metric in (*exact, PEAK_RSS) if metric != data.metric)
    return [metric for metric in further if data.summaries(cells, metric)]


def _further_columns(scales: Mapping[str, Scale]) -> Iterator[Column]:
    for metric, scale in scales.items():
        name = "Peak memory" if metric == PEAK_RSS else metric_name(metric)
        yield Column(titled(name, scale.unit), "decimal", drop=1)


def _further_cells(data: ReportData, cell: PlanCell, scales: Mapping[str, Scale]) -> Iterator[Cell]:
    """Yield the cells of further metrics; an exact one with its change against the baseline."""
    refused = data.state(cell.id).refusal
    for metric, scale in scales.items():
        summary = None if refused else data.summary(cell.id, metric)
        base = data.baseline_summary(cell.input_id, metric)
        if metric == PEAK_RSS:
            yield _peak(data, cell, summary, scale)
        elif summary is None or base is None or not base.median or _is_base(cell):
            yield scale.cell(summary)
        else:
            text = f"{scale.text(summary.median)} ({signed_percent(summary.median / base.median)})"
            yield Cell(text, summary.median)


def _peak(data: ReportData, cell: PlanCell, peak: Summary | None, scale: Scale) -> Cell:
    """Return the peak memory, which includes the pages of mapped files where it says so."""
    anonymous = data.summary(cell.id, ANONYMOUS)
    if peak is None or anonymous is None or not is_mapped(data, cell):
        return scale.cell(peak)
    text = f"with mapped pages; {format_size(anonymous.median, data.plan.unit_family)} without"
    return replace(scale.cell(peak), about=text)


def _note(
    compared: list[Comparison | None], rest: int, noun: str, *, described: bool = True
) -> str:
    more = ["" if described else "descriptions", counted(rest, noun) if rest else ""]
    appendix = capital(" and ".join(filter(None, more)))
    return f"{effects_note(compared)} {appendix and f'{appendix} in the appendix.'}".strip()


def by_input_table(data: ReportData, first: Input) -> Table:
    """Return the changes of all variants on all inputs, in the order of the first input.

    Variants that were measured on other inputs only are last.
    """
    arms = [c for item in data.plan.inputs for c in data.arms(item.id)]
    cells = {(c.variant_id, c.input_id): c for c in arms}
    on_others = (c for c in arms if (c.variant_id, first.id) not in cells)
    rows = []
    for variant_id in dict.fromkeys(
        c.variant_id for c in (*in_report(data, data.arms(first.id)), *on_others)
    ):
        row = [cells.get((variant_id, item.id)) for item in data.plan.inputs]
        texts = (change_cell(data, c) if c else DASH for c in row)
        base = all(c is None or _is_base(c) for c in row)
        rows.append(Row.build(data.plan.variant(variant_id).label, *texts, baseline=base))
    others = [item for item in data.plan.inputs if item is not first]
    # A narrow terminal shows the first input only in the table above.
    drops = {item.id: n for n, item in enumerate((*others, first))}
    columns = (
        Column("Variant"),
        *(Column(data.input_name(item), drop=drops[item.id]) for item in data.plan.inputs),
    )
    what = f"Change of {noun(data.metric)} relative to the baseline by input, with {CI}s"
    return Table("results-table", f"{what}.", columns, tuple(rows), cards=True)


def plain_interval(comparison: Comparison | None) -> Interval | None:
    """Return the ratio of the values with its interval, `None` without a bounded one."""
    return None if comparison is None else comparison.of_values


def change_cell(data: ReportData, cell: PlanCell) -> Cell:
    """Return mark, change and 95 % CI of a configuration: ``▼ 1.82× faster [1.65, 2.01]``."""
    if _is_base(cell):
        return Cell("baseline", 1.0)
    if cell.role is Role.BOUND:
        return Cell(f"{cell.role.value}, not compared")
    state = data.state(cell.id).refusal
    comparison = data.comparison(cell.id, data.metric)
    if state is not None or comparison is None:
        return Cell(f"{glyph(state)} {word(state, data.metric)}" if state else DASH, verdict=state)
    text = change_text(comparison, times=data.in_times)
    interval = comparison.of_values
    ratio = interval.ratio if interval else None
    claim = data.claim_id(cell.id, data.metric)
    return Cell(f"{mark(comparison)} {text}", ratio, claim, comparison.verdict)


def mark(comparison: Comparison) -> str:
    """Return the mark of a comparison: ``▼`` if the value is smaller, whether or not that is better."""
    return amounts.mark(comparison.verdict, higher=comparison.direction == "higher")


def change_text(comparison: Comparison, *, times: bool) -> str:
    """Return the change of a comparison with its 95 % CI: a factor or a percentage."""
    return " ".join(part for part in change_parts(comparison, times=times) if part)


def change_parts(comparison: Comparison, *, times: bool) -> tuple[str, str]:
    """Return the change of a comparison and its 95 % CI, which is empty if there is no interval."""
    interval = comparison.of_values
    if interval is None:
        return DASH, ""
    keep = comparison.verdict is not Verdict.INCONCLUSIVE
    if not times:
        text = show_change(*interval.figures, comparison.thresholds.margin, keep=keep)
        return text.estimate, text.bounds + at_level(interval)
    less, more = change(comparison.metric)
    factor = page_factor(interval.figures, comparison.thresholds.margin, keep=keep)
    if Decimal(factor.estimate) == 1:  # neither less nor more: the factor relative to the reference
        text = show_factor(*interval.figures, comparison.thresholds.margin, keep=keep)
        return f"{text.estimate}×", text.bounds + at_level(interval)
    bounds = factor.bounds + at_level(interval)
    return f"{factor.estimate}× {less if factor.less else more}", bounds


def row_note(data: ReportData, cell: PlanCell, comparison: Comparison | None) -> str:
    """Return what the figures of a row do not show, such as ``"inconclusive"``."""
    state = data.state(cell.id)
    reason, left = reason_of(state, comparison), stopped(data, cell.id)
    parts = [reason, left]
    if comparison is not None and not state.refusal and comparison.verdict is Verdict.INCONCLUSIVE:
        claim = data.claim_of(cell.id, data.metric)
        if claim is not None and claim.phases is not None:
            parts = [render("phase_estimates", claim), left]
        parts[:0] = [word(comparison.verdict, data.metric)]
    if cell.id in data.other_outputs:
        parts.append(f"{glyph(Verdict.OTHER_OUTPUT)} {word(Verdict.OTHER_OUTPUT, data.metric)}")
    return "; ".join(dict.fromkeys(part for part in parts if part))


def is_mapped(data: ReportData, cell: PlanCell) -> bool:
    """Return whether the peak memory of a configuration includes many pages of mapped files."""
    peak, anonymous = (
        summary.median if (summary := data.summary(cell.id, metric)) is not None else None
        for metric in (PEAK_RSS, ANONYMOUS)
    )
    values = dict(data.variant_of(cell).values)
    return maps_files(data.state(cell.id), values, peak, anonymous)


def in_report(data: ReportData, arms: tuple[PlanCell, ...]) -> list[PlanCell]:
    """Return all configurations of a short table.

    A long table has those of the answer, the best group and the baseline, and those that the lines and a figure of
    shares name, without the changes that have a table of their own. If these are few, it has more: first those of
    steps and published figures, bounds, and what the scenario names, then the fastest.
    """
    plan = data.plan
    ordered = sorted(arms, key=partial(order, data))
    if len(arms) <= MANY_ROWS:
        return ordered
    answer = data.claims("answer") or data.claims("main")[:1]
    derived, structure = data.judgement.derived, data.judgement.structure
    first = {*data.ahead(arms[0].input_id), *(i for claim in answer for i in claim.cells)}
    first |= {cell.id for cell in arms if _is_base(cell)}
    changes = {e.variant_id for e in plan.experiments}
    limits = limit_shares(derived, arms[0].input_id)[:1]
    lines = {i for group in limits for share in group for i in share.rate.cell_ids}
    lines |= {i for claim in data.claims("takeaway") for i in claim.cells}
    by_scenario = {plan.baseline_id, *plan.further_baselines, *(c.variant_id for c in plan.named)}
    by_scenario |= {i for c in plan.contrasts for i in (c.reference_id, c.variant_id)}
    others = {i for claim in data.claims("published") for i in claim.cells}
    others |= {step.cell_id or "" for c in structure.contributions for step in c.steps}
    others |= {c.id for c in arms if c.role is Role.BOUND or c.variant_id in by_scenario}

    def rank(cell: PlanCell) -> int:
        if cell.id in first:
            return 0
        if cell.variant_id in changes:
            return 4
        return 1 if cell.id in lines else 2 if cell.id in others else 3

    most = max(FEWEST_ROWS, sum(rank(cell) < 2 for cell in ordered))  # noqa: PLR2004 -- those of the lines
    chosen = {*sorted(ordered, key=rank)[:most]}
    return [cell for cell in ordered if cell in chosen]


def _is_base(cell: PlanCell) -> bool:
    return cell.role is Role.BASELINE


def revision_cells(data: ReportData) -> tuple[PlanCell, ...]:
    """Return the configurations at the newer revision, the largest increase first.

    Configurations without a comparison are last.
    """

    def key(cell: PlanCell) -> tuple[int, float]:
        rank, ratio = order(data, cell)
        return rank, ratio if data.higher else -ratio

    arms = (cell for item in data.plan.inputs for cell in data.arms(item.id))
    return tuple(sorted((cell for cell in arms if cell.role is Role.CANDIDATE), key=key))


def revision_table(data: ReportData, cells: tuple[PlanCell, ...]) -> tuple[Table, list[PlanCell]]:
    """Return a table with one row per configuration, and the cells of its rows."""
    assert data.plan.revisions is not None
    base, head = data.plan.revisions.names
    rows_of = list(cells if len(cells) <= MANY_ROWS else cells[:MANY_ROWS])
    compared = [data.comparison(cell.id, data.metric) for cell in rows_of]
    bases = [data.plan.baseline_cell(cell.input_id) for cell in rows_of]
    both = [c for pair in zip(bases, rows_of, strict=True) for c in pair if c is not None]
    time = scale_of(data, data.metric, data.summaries(both, data.metric))
    further = {m: scale_of(data, m, data.summaries(both, m)) for m in _further(data, both)}
    rows = []
    for before, cell, comparison in zip(bases, rows_of, compared, strict=True):
        refused = data.state(cell.id).refusal
        old = data.summary(before.id, data.metric) if before and not refused else None
        row = (
            Cell(data.input_name(data.plan.input(cell.input_id))),
            _value_cell(data, cell, time),
            change_cell(data, cell),
            drawn(None if refused else comparison),
            time.cell(old),
            *_further_cells(data, cell, further),
            Cell(row_note(data, cell, comparison)),
        )
        rows.append(Row(row, refused or (comparison.verdict if comparison else None)))
    columns = (
        Column("Configuration"),
        Column(titled(f"{metric_name(data.metric)} at {head}", time.unit), "decimal"),
        Column(f"vs {base} [{CI}]"),
        Column(INTERVAL, drawn=True),
        Column(titled(f"{metric_name(data.metric)} at {base}", time.unit), "decimal", drop=2),
        *_further_columns(further),
        Column("Note", drop=3, prose=True),
    )
    caption = (
        f"{metric_name(data.metric)} at both revisions: median over rounds; ordered by the change "
        f"of {noun(data.metric)} in the same rounds, the largest increase first."
    )
    if any(value_by_ratio(data, cell) is not None for cell in rows_of):
        caption += f" {BY_RATIO}"
    note = _note(compared, len(cells) - len(rows), "more configuration")
    return Table("results-table", caption, columns, tuple(rows), note=note), rows_of
