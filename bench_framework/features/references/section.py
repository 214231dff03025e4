"""Section "Comparison with each reference": every variant vs every baseline of the scenario."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from bench_framework.model.plan.plan import Cell as PlanCell, Input, Role
from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Sentence, Table
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.context import ReportData
from bench_framework.report.headline_table import metric_name, order
from bench_framework.report.main_table import mark
from bench_framework.report.sections.kind import SectionKind, per_input
from bench_framework.report.table_cells import Scale, scale_of, titled
from bench_framework.text.numbers import DASH, show_change
from bench_framework.text.reasons import phrase

MOST_GAPS: Final = 8
"""The largest number of gaps in the list of an input. `claims.json` contains all of them."""
_GAP: Final = (
    "Gap: the median over rounds of the difference to the reference; it can deviate from the "
    "difference of the two medians. The closed share has its own 95 % CI, not adjusted for "
    "multiple comparisons."
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table and the list of gaps for each input."""
    variants = (data.plan.baseline_id, *data.plan.further_baselines)

    def parts(item: Input, name: str) -> Iterator[Block]:
        cells = {c.variant_id: c for c in data.arms(item.id) if c.role is not Role.BOUND}
        references = tuple(cells[variant] for variant in variants if variant in cells)
        if len(references) <= 1 or not any(data.summary(c.id, data.metric) for c in references):
            return
        yield _table(data, item, references, f"{name}-table")
        if gaps := data.claims("gap", item=item):
            more = len(gaps) - MOST_GAPS
            rest = (Sentence(f"{more} more gaps are listed in claims.json."),) if more > 0 else ()
            yield Bullets((*map(sentence, gaps[:MOST_GAPS]), *rest))

    return per_input(data, "references", parts)


def _table(data: ReportData, item: Input, references: tuple[PlanCell, ...], name: str) -> Table:
    cells = sorted(data.plan.compared_cells(item.id), key=partial(order, data))
    summaries = data.summaries(cells, data.metric)
    first = data.summary(references[0].id, data.metric) or summaries[0]
    scale = scale_of(data, data.metric, summaries, first.median)
    title = metric_name(data.metric)
    columns = (
        Column("Variant"),
        Column(titled(title, scale.unit), "decimal"),
        *(Column(f"vs {data.label(reference.id)}", "right") for reference in references),
        Column("n", "right", drop=1),
    )
    rows = tuple(_row(data, cell, references, scale) for cell in cells)
    caption = (
        f"{title} by variant, compared with {len(references)} "
        f"references{data.on_input(item, ', input ')}: the median of rounds, and its change "
        "relative to each reference."
    )
    legend = (
        "Negative: less than the reference. In brackets: the adjusted CI.",
        *((_GAP,) if data.claims("gap", item=item) else ()),
    )
    return Table(name, caption, columns, rows, legend, stub=data.on_input(item))


def _row(data: ReportData, cell: PlanCell, references: tuple[PlanCell, ...], scale: Scale) -> Row:
    state = data.state(cell.id)
    summary = data.summary(cell.id, data.metric) if state.state == "measured" else None
    return Row.build(
        data.label(cell.id),
        scale.cell(summary),
        *(_against(data, cell, reference) for reference in references),
        data.replication([cell.id]) if summary else DASH,
        baseline=cell.id == references[0].id and cell.role is Role.BASELINE,
        reason=phrase(state.reason),
    )


def _against(data: ReportData, cell: PlanCell, reference: PlanCell) -> Cell:
    """Return the change relative to a reference with interval and glyph; a dash for itself."""
    if cell.id == reference.id:
        return Cell(DASH)
    compared = data.pairs.get((cell.id, reference.id))
    if compared is None:
        return Cell(DASH)
    claim = data.claim_id_between(compared)
    verdict, interval = compared.verdict, compared.of_values
    if interval is None:
        return Cell(mark(compared), verdict.value, claim, verdict)
    keep = verdict is not Verdict.INCONCLUSIVE
    change = str(show_change(*interval.figures, compared.thresholds.margin, keep=keep))
    return Cell(f"{change} {mark(compared)}", interval.ratio, claim, verdict)


TWO_REFERENCES = SectionKind(
    "S04",
    "references",
    "Comparison with each reference",
    "change relative to every baseline of the scenario, and the share of a gap that is closed",
    build,
    "there is one baseline",
)
