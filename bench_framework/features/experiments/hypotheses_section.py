"""Section "Hypotheses tested": each hypothesis, the change that tests it, and the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Table
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.contrasts import interval_cells, verdict_cell, with_claims
from bench_framework.report.counts import ADJUSTED_CI, caption_tail
from bench_framework.report.numbers import DASH
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim, HypothesisTest
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table with one row per hypothesis and input, then the same results in sentences."""
    if not data.judgement.hypotheses:
        return ()
    claims = with_claims(data.judgement.hypotheses, data.claims("hypothesis"))
    columns = (
        Column("Hypothesis"),
        Column("Change", prose=True),
        Column("Input"),
        Column("Effect", "decimal"),
        Column(ADJUSTED_CI, drop=2),
        Column("Verdict"),
        Column("Hypothesis is"),
        Column("n", "right", drop=1),
    )
    caption = (
        "The author's hypotheses, each tested by one change; the effect is with the change ÷ "
        f"without it. {caption_tail(data)}"
    )
    legend = (
        "Supported: a verdict in the expected direction. Not supported: any other verdict.",
        "A supported hypothesis shows the effect of the change, not that the explanation is right.",
    )
    rows = tuple(_row(data, test, claim) for test, claim in claims)
    table = Table("hypotheses-table", caption, columns, rows, legend, sortable=False)
    lines = tuple(sentence(claim) for _, claim in claims if claim is not None)
    return (table, Bullets(lines)) if lines else (table,)


def _row(data: ReportData, test: HypothesisTest, claim: Claim | None) -> Row:
    ratio, bounds, verdict = Cell(DASH), Cell(""), Cell(DASH)
    comparison = test.comparison if test.status != "not tested" else None
    if comparison is not None:
        margin = data.plan.judge.margin_of(test.metric)
        ratio, bounds = interval_cells(
            comparison.shown, comparison.verdict, margin, claim.id if claim else None
        )
        verdict = verdict_cell(comparison.verdict, test.metric)
    return Row(
        (
            Cell(test.hypothesis.text),
            Cell(test.hypothesis.change),
            Cell(data.input_name(data.plan.input(test.input_id))),
            ratio,
            bounds,
            verdict,
            Cell(test.status),
            Cell(str(comparison.rounds) if comparison is not None and comparison.rounds else DASH),
        ),
        comparison.verdict if comparison is not None else None,
        reason=test.reason,
    )


HYPOTHESES = SectionKind(
    "S16",
    "hypotheses",
    "Hypotheses tested",
    "each hypothesis with the single change that tests it, and whether it is supported",
    build,
    without="No experiment of the scenario states a hypothesis.",
)
