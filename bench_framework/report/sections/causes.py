"""S16: suspected causes, each with the single change that tests it, and what the runs say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Table
from bench_framework.report.contrasts import interval_cells, margin, told, verdict_cell
from bench_framework.report.counts import caption_tail
from bench_framework.report.numbers import DASH
from bench_framework.report.sections.kind import SectionKind, left_out
from bench_framework.report.sentences import sentence

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.suspicion import Cause
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """One row per cause and input, then the same in sentences."""
    found = data.judgement.causes
    if not found:
        return ()
    claims = told(found, data.claims("cause"))
    columns = (
        Column("Suspected cause"), Column("Test: one change", prose=True), Column("Input"),
        Column("Effect", "decimal"), Column("Interval", drop=2), Column("Verdict"), Column("Status"),
        Column("n", "right", drop=1),
    )  # fmt: skip
    caption = (
        "What the author suspects, and what one change says of it; the effect is with the change ÷ without it. "
        f"{caption_tail(data)}"
    )
    legend = (
        "Shown: decided the way the suspicion expects. Refuted: decided the other way, or within the margin.",
        "Not shown: the runs do not decide. Verdicts are those of the results.",
    )
    rows = tuple(_row(data, cause, claim) for cause, claim in claims)
    blocks: list[Block] = [Table("causes-table", caption, columns, rows, legend, sortable=False)]
    lines = tuple(sentence(claim) for _, claim in claims if claim is not None)
    if lines:
        blocks.append(Bullets(lines))
    return tuple(blocks)


def _row(data: ReportData, cause: Cause, claim: Claim | None) -> Row:
    ratio, bounds = Cell(DASH), Cell("")
    if cause.verdict is not None:
        ratio, bounds = interval_cells(cause.shown, cause.verdict, margin(data), claim.id if claim else None)
    tested = cause.verdict is not None and cause.status != "untested"
    return Row(
        (
            Cell(cause.suspected),
            Cell(cause.change or DASH),
            Cell(data.input_name(data.plan.input(cause.input_id)) if cause.change else DASH),
            ratio,
            bounds,
            verdict_cell(cause.verdict, data.metric) if tested and cause.verdict is not None else Cell(DASH),
            Cell(cause.status),
            Cell(str(cause.rounds) if cause.rounds else DASH),
        ),
        cause.verdict if tested else None,
        reason=cause.reason,
    )


CAUSES = SectionKind(
    "S16",
    "causes",
    "Suspicions put to the test",
    "`causes` in the scenario",
    build,
    left_out,
    "The scenario names no suspicion that a single change could test.",
)
