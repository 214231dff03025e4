"""Section "Memory": peak RSS against the baseline and against the input."""

from collections.abc import Iterator

from bench_framework.model.facts import Claim
from bench_framework.model.metrics import ANONYMOUS, LEAST_BYTES, PEAK_RSS
from bench_framework.model.plan.plan import Cell as PlanCell, Input, Role
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.report.blocks import Block, Cell, Column, Row, Table
from bench_framework.report.charts.memory_time import memory_time
from bench_framework.report.claim_blocks import key_claim
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import is_mapped
from bench_framework.report.sections.kind import SectionKind, per_input
from bench_framework.report.table_cells import (
    CI,
    Scale,
    comparison_cells,
    finding,
    scale_of,
    value_cell,
    verdict_cell,
)
from bench_framework.text.numbers import (
    DASH,
    column_size,
    format_percent,
    format_size,
    replication,
    significant,
)
from bench_framework.text.reasons import phrase
from bench_framework.units import THIN_SPACE

MAPPED_NOTE = "includes mapped file pages"


def build(data: ReportData) -> tuple[Block, ...]:
    """Return plot, table and key finding per input."""

    def parts(item: Input, name: str) -> Iterator[Block | None]:
        cells = [c for c in data.measured(item.id) if data.summary(c.id, PEAK_RSS)]
        if cells:
            yield memory_time(data, item, cells, name)
            yield _table(data, item, cells, name)
            yield from finding(_main_claim(data, item))

    return per_input(data, "memory", parts)


def _main_claim(data: ReportData, item: Input) -> Claim | None:
    """Return the memory claim of the leading variant, else the first conclusive one."""
    main = key_claim(data, item)
    leading = data.claim_of(main.cells[0], PEAK_RSS) if main is not None and main.cells else None
    if leading is not None and leading.verdict is not None and leading.verdict.settled:
        return leading
    claims = (c for c in data.claims("memory", item=item) if c.verdict and c.verdict.settled)
    return next((c for c in claims if c.reason != ONE_PROGRAM), None)


def _table(data: ReportData, item: Input, cells: list[PlanCell], name: str) -> Table:
    reference = data.baseline_summary(item.id, PEAK_RSS)
    summaries = data.summaries(cells, PEAK_RSS)
    preferred = reference.median if reference else max(s.median for s in summaries)
    family = data.plan.unit_family
    size = column_size(preferred, (s.median for s in summaries), family)
    scale = scale_of(data, PEAK_RSS, summaries, size)
    medians = {s.cell_id: s.median for s in summaries}
    ordered = sorted(cells, key=lambda c: medians[c.id])
    rows = tuple(_row(data, item, cell, scale) for cell in ordered)
    columns = (
        Column("Variant"),
        Column(f"Peak RSS, {scale.unit}", "decimal"),
        Column("vs baseline", "decimal"),
        Column(CI, drop=4),
        Column("Verdict"),
        Column("% of input", "right", drop=2),
        Column(f"Anonymous, {scale.unit}", "decimal", drop=3),
        Column("n", "right", drop=1),
        Column("Notes", drop=5, prose=True),
    )
    of_input = data.on_input(item, ", input ")
    if input_size := data.input_bytes(item.id):
        text = format_size(input_size, family)
        of_input = f"{of_input} ({text})" if of_input else f", input of {text}"
    caption = f"Peak resident memory by variant{of_input}: median over runs."
    legend = (
        "Anonymous: heap, stacks and shared memory (RssAnon, RssShmem) at the peak of one further run, "
        "which is not timed. It can exceed the median of the timed runs. — if no sample was within 5 % of the peak."
    )
    legends = [legend] if data.summaries(cells, ANONYMOUS) else []
    margin = data.plan.judge.margin_of(PEAK_RSS)
    compared = (data.comparison(cell.id, PEAK_RSS) for cell in cells)
    if any(c is not None and c.thresholds.margin > margin for c in compared):
        legends.append(
            f"Here, a difference counts from {format_size(LEAST_BYTES, digits=1)} on, which is more than "
            f"the margin of {format_percent(margin)}. “Size uncertain”: it may be smaller than that."
        )
    return Table(name + "-table", caption, columns, rows, tuple(legends))


def _row(data: ReportData, item: Input, cell: PlanCell, scale: Scale) -> Row:
    summary, anonymous = (data.summary(cell.id, m) for m in (PEAK_RSS, ANONYMOUS))
    baseline = cell.role is Role.BASELINE
    comparison = None if baseline else data.comparison(cell.id, PEAK_RSS)
    ratio, bounds = comparison_cells(comparison, data.claim_id(cell.id, PEAK_RSS))
    peak, size = summary.median if summary else 0.0, data.input_bytes(item.id)
    reason = phrase(comparison.reason) if comparison else ""
    return Row.build(
        data.label(cell.id),
        scale.cell(summary),
        Cell("baseline", 1.0) if baseline else ratio,
        bounds,
        verdict_cell(comparison.verdict, PEAK_RSS) if comparison else "",
        value_cell(
            peak / size if size else None,
            lambda share: f"{significant(100 * share, 2)}{THIN_SPACE}%",
        ),
        value_cell(
            anonymous.median if anonymous else None,
            lambda size: significant(size * scale.factor, 3),
        ),
        replication(summary.n_rounds, summary.n_runs) if summary else DASH,
        "; ".join(filter(None, (MAPPED_NOTE if is_mapped(data, cell) else "", reason))),
        verdict=comparison.verdict if comparison else None,
        baseline=baseline,
        reason=reason,
    )


MEMORY = SectionKind(
    "S06",
    "memory",
    "Memory",
    "peak RSS against baseline and input; Pareto front of time and memory",
    build,
    "memory was not measured",
)
