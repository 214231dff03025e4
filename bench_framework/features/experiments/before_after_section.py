"""Section "Before and after": implementations before and after, measured in the same rounds."""

from __future__ import annotations

from bench_framework.model.judgement import Claim
from bench_framework.model.plan import Input
from bench_framework.model.structure import Replacement
from bench_framework.report import contrasts
from bench_framework.report.blocks import Block, Cell, Column, Row, Table
from bench_framework.report.context import ReportData
from bench_framework.report.counts import ADJUSTED_CI
from bench_framework.report.numbers import DASH
from bench_framework.report.scales import scale_of
from bench_framework.report.sections.kind import SectionKind


def build(data: ReportData) -> tuple[Block, ...]:
    """Return one table per input. A table with a single row is followed by its sentence."""
    blocks: list[Block] = []
    claims = contrasts.with_claims(
        data.judgement.structure.replacements, data.claims("before-after")
    )
    for number, item in enumerate(data.plan.inputs, 1):
        pairs = [(r, claim) for r, claim in claims if r.input_id == item.id]
        if not pairs:
            continue
        blocks.append(_table(data, item, pairs, f"before-after-{number}"))
        if len(pairs) == 1:
            blocks += contrasts.finding(pairs[0][1])
    return tuple(blocks)


def _table(
    data: ReportData, item: Input, pairs: list[tuple[Replacement, Claim | None]], name: str
) -> Table:
    ids = [i for r, _ in pairs for i in (r.before_cell_id, r.after_cell_id)]
    summaries = [s for i in ids if (s := data.summary(i, data.metric)) is not None]
    scale = scale_of(data.metric, None, summaries, data.plan.unit_family)

    def time(cell_id: str) -> Cell:
        measured = data.state(cell_id).state == "measured"
        return scale.cell(data.summary(cell_id, data.metric) if measured else None)

    rows = []
    for r, claim in pairs:
        ratio, bounds = contrasts.interval_cells(
            r.shown, r.verdict, contrasts.margin(data), claim.id if claim else None
        )
        label, verdict = r.implementation, contrasts.verdict_cell(r.verdict, data.metric)
        head = (
            label or data.label(r.before_cell_id),
            time(r.before_cell_id),
            time(r.after_cell_id),
        )
        changed = ", ".join(c.text for c in r.changes)
        tail = (ratio, bounds, verdict, changed, str(r.rounds) if r.rounds else DASH)
        rows.append(Row.build(*head, *tail, verdict=r.verdict, reason=r.reason))
    columns = (
        Column("Implementation"),
        Column(f"Before, {scale.unit}", "decimal"),
        Column(f"After, {scale.unit}", "decimal"),
        Column("After ÷ before", "decimal"),
        Column(ADJUSTED_CI, drop=1),
        Column("Verdict"),
        Column("What changed", prose=True, drop=2),
        Column("n", "right", drop=3),
    )
    caption = (
        f"Before and after, measured in the same rounds{data.on_input(item, ', input ')}: pairs "
        "that differ only in features or revision, and each baseline without and with all "
        "adopted experiments."
    )
    legend = (
        (
            "The verdict of a pair with a baseline is that of the results table. The verdict of any "
            "other pair is from the comparisons within the best group, which are adjusted "
            "separately."
        ),
    )
    return Table(name, caption, columns, tuple(rows), legend, sortable=False)


BEFORE_AFTER = SectionKind(
    "S05",
    "before-after",
    "Before and after",
    "pairs that differ only in features or revision, and each baseline without and with all "
    "adopted experiments",
    build,
    "no two variants differ only in features or revision",
)
