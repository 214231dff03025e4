"""Section "Where the result changes": verdicts that depend on the input or on another axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Table
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.contrasts import (
    contrast_cells,
    interval_cells,
    inversion_note,
    margin,
    verdict_cell,
)
from bench_framework.report.counts import ADJUSTED_CI, caption_tail
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.structure import Effect
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table per sign change over inputs, the crossovers, and sign changes over axes."""
    blocks: list[Block] = []
    claims = data.claims("sign-change")
    changes = [c for c in claims if c.metric == data.metric]
    blocks += [_inputs(data, claim, f"turning-{n}") for n, claim in enumerate(changes, 1)]
    lines = [*claims, *(c for c in data.claims("crossover") if c.metric == data.metric)]
    if lines:
        blocks.append(Bullets(tuple(sentence(c) for c in lines)))
    effects = [e for e in data.judgement.structure.effects if not e.pooled and len(e.changes) == 1]
    blocks += [_axes(data, effect, f"turning-axis-{n}") for n, effect in enumerate(effects, 1)]
    return tuple(blocks)


def _inputs(data: ReportData, claim: Claim, name: str) -> Table:
    """Return the comparison of a variant with the baseline on every input, by size."""
    variant = data.plan.cell(claim.cells[0]).variant_id
    cells = [
        c for c in data.plan.cells if c.variant_id == variant and data.comparison(c.id, data.metric)
    ]
    cells = sorted(cells, key=lambda c: data.input_bytes(c.input_id) or 0)
    rows = []
    for cell in cells:
        comparison = data.comparison(cell.id, data.metric)
        assert comparison is not None
        item = data.plan.input(cell.input_id)
        ratio, bounds = interval_cells(
            comparison.shown, comparison.verdict, margin(data), data.claim_id(cell.id, data.metric)
        )
        axes = ", ".join(axis for axis, _ in item.values) or "input"
        levels = ", ".join(value for _, value in item.values) or data.input_name(item)
        verdict = verdict_cell(comparison.verdict, data.metric)
        rows.append(Row((Cell(axes), Cell(levels), ratio, bounds, verdict), comparison.verdict))
    title = f"{claim.subject} vs {claim.reference}: the sign depends on the input"
    caption = f"{title}. {caption_tail(data)}{inversion_note(data)}"
    return Table(
        name, caption, _columns(claim.subject, claim.reference or ""), tuple(rows), sortable=False
    )


def _axes(data: ReportData, effect: Effect, name: str) -> Table:
    """Return an effect in every combination of the other axes."""
    (change,) = effect.changes
    factorial = next(
        f for f in data.judgement.structure.factorials if f.input_id == effect.input_id
    )
    others = ", ".join(axis for axis, _ in factorial.axes if axis != change.axis)
    rows = []
    for cell in effect.cells:
        figures = contrast_cells(cell.contrast, data)
        rows.append(Row((Cell(others), Cell(cell.where), *figures), cell.contrast.verdict))
    looks = data.judgement.looks
    item = data.plan.input(effect.input_id)
    caption = (
        f"{change.axis} {change.after} vs {change.before}: the sign depends on the other axes"
        f"{data.on_input(item, ', input ')}. Holm-adjusted over these {len(rows)} combinations, "
        f"{looks.count} interim {'analyses' if looks.count != 1 else 'analysis'}, level "
        f"{looks.level * 100:g}\u202f%; pairs in the results table have the same values here; "
        f"{effect.mean.rounds} rounds."
        f"{inversion_note(data)}"
    )
    return Table(name, caption, _columns(change.after, change.before), tuple(rows), sortable=False)


def _columns(subject: str, reference: str) -> tuple[Column, ...]:
    return (
        Column("Axis"),
        Column("Level"),
        Column(f"{subject} vs {reference}", "decimal"),
        Column(ADJUSTED_CI, drop=1),
        Column("Verdict"),
    )


TURNING = SectionKind(
    "S07",
    "changes",
    "Where the result changes",
    "verdicts that depend on the input or on another axis, and crossover sizes",
    build,
    without="No verdict changes its sign between inputs or axis values.",
)
