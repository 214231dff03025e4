"""Section "Effects and interactions": the effect of each axis over all combinations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.words import noun
from bench_framework.report.blocks import (
    Block,
    Bullets,
    Cell,
    Column,
    Fallback,
    Heading,
    Row,
    Table,
)
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.contrasts import (
    contrast_cells,
    family_text,
    interaction_cell,
    inversion_note,
    with_claims,
)
from bench_framework.report.counts import ADJUSTED_CI
from bench_framework.report.numbers import DASH
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.plan import Input
    from bench_framework.model.structure import Effect, Factorial
    from bench_framework.report.context import ReportData

PAIR = 2
EffectClaim = tuple["Effect", "Claim | None"]


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the main effects, the interactions and their sentences for each input."""
    structure = data.judgement.structure
    if not structure.effects:
        return ()
    blocks: list[Block] = []
    by_input = {f.input_id: f for f in structure.factorials}
    for number, item in enumerate(data.plan.inputs, 1):
        factorial = by_input[item.id]
        name = f"effects-{number}"
        if len(data.plan.inputs) > 1:
            blocks.append(Heading(f"Input {data.input_name(item)}", name))
        effects = [e for e in structure.effects if e.input_id == item.id]
        if not effects:
            blocks.append(Fallback(f"No effects reported: {factorial.reason}."))
            continue
        blocks += _input_blocks(data, item, factorial, effects, name)
    return tuple(blocks)


def _input_blocks(
    data: ReportData, item: Input, factorial: Factorial, effects: list[Effect], name: str
) -> list[Block]:
    pairs = with_claims(effects, data.claims("effect", "interaction", item=item))
    mains = [pair for pair in pairs if len(pair[0].changes) < PAIR]
    both = [pair for pair in pairs if len(pair[0].changes) == PAIR]
    blocks: list[Block] = [_mains(data, item, factorial, mains, name)]
    if both:
        blocks.append(_interactions(data, item, factorial, both, name))
    lines = [
        sentence(c) for e, c in pairs if c is not None and (not e.pooled or e.mean.verdict.decided)
    ]
    if lines:
        blocks.append(Bullets(tuple(lines)))
    return blocks


def _mains(
    data: ReportData,
    item: Input,
    factorial: Factorial,
    effects: list[EffectClaim],
    name: str,
) -> Table:
    rows = []
    for e, claim in effects:
        (change,) = e.changes
        head = (Cell(change.axis), Cell(change.after), Cell(change.before))
        rows.append(Row((*head, *_figures(data, e, claim))))
    columns = (
        Column("Axis"),
        Column("Level"),
        Column("vs", drop=1),
        Column("Geometric mean ratio", "decimal"),
        Column(ADJUSTED_CI, drop=2),
        Column("Verdict"),
        Column("Significant in"),
        Column("n", "right", drop=3),
    )
    caption = (
        f"Effect of each level relative to the baseline's level of the same axis"
        f"{data.on_input(item, ', input ')}: geometric mean over the combinations of the other "
        f"axes. {_tail(data, factorial)}"
    )
    return Table(f"{name}-mains", caption, columns, tuple(rows), _legend(factorial), sortable=False)


def _figures(data: ReportData, e: Effect, claim: Claim | None) -> tuple[Cell, ...]:
    ratio, bounds, verdict = contrast_cells(e.mean, data, claim.id if claim else None)
    if len(e.changes) == PAIR:
        verdict = interaction_cell(e.mean.verdict, higher=data.higher(data.metric))
    if not e.pooled:
        verdict = Cell("not pooled: the sign changes")
        less, more = ("better", "worse") if data.higher(data.metric) else ("less", "more")
        consistent = f"{less} in {e.better}, {more} in {e.worse} of {len(e.cells)}"
    else:
        consistent = f"{e.significant_in} of {len(e.cells)}" if e.mean.verdict.decided else DASH
    return ratio, bounds, verdict, Cell(consistent), Cell(str(e.mean.rounds))


def _interactions(
    data: ReportData,
    item: Input,
    factorial: Factorial,
    effects: list[EffectClaim],
    name: str,
) -> Table:
    rows = []
    for e, claim in effects:
        one, two = e.changes
        head = (Cell(f"{one.axis} × {two.axis}"), Cell(f"{one.after} with {two.after}"))
        rows.append(Row((*head, *_figures(data, e, claim))))
    columns = (
        Column("Axes"),
        Column("Levels"),
        Column("Interaction", "decimal"),
        Column(ADJUSTED_CI, drop=2),
        Column("Verdict"),
        Column("Significant in", drop=1),
        Column("n", "right", drop=3),
    )
    caption = (
        f"Interactions of two changes{data.on_input(item, ', input ')}: ratio of "
        f"{noun(data.metric)} with both changes ÷ the product of the single effects. 1: no "
        "interaction; above 1: both together "
        f"{'gain' if data.higher(data.metric) else 'save'} less than the product. "
        f"{_tail(data, factorial)}"
    )
    return Table(f"{name}-interactions", caption, columns, tuple(rows), (), sortable=False)


def _tail(data: ReportData, factorial: Factorial) -> str:
    axes = " × ".join(f"{name} ({', '.join(levels)})" for name, levels in factorial.axes)
    family = family_text(data, data.judgement.structure.effect_family, "effects and interactions")
    rounds = f"{factorial.rounds} rounds with all configurations"
    return f"All combinations of {axes}; {family}; {rounds}.{inversion_note(data)}"


def _legend(factorial: Factorial) -> tuple[str, ...]:
    lines = [
        (
            "Significant in: combinations with a significant difference in the direction of the "
            "mean (Holm-adjusted over the combinations of the row)."
        ),
        "A level that is better in one combination and worse in another has no mean.",
    ]
    if factorial.left_out:
        lines.append(
            f"Left out, because combinations are missing: {', '.join(factorial.left_out)}. The "
            "table uses the largest complete set of combinations with the baseline."
        )
    return tuple(lines)


def _fallback(data: ReportData) -> str:
    """Return why a scenario with crossed axes has no effects."""
    varied = [a for a in data.plan.axes if a.kind != "input" and len(a.values) > 1]
    reasons = [f.reason for f in data.judgement.structure.factorials if f.reason]
    if len(varied) < PAIR or data.plan.design != "full" or not reasons:
        return ""
    return f"No effects of the axes reported: {reasons[0]}."


EFFECTS = SectionKind(
    "S14",
    "effects",
    "Effects and interactions",
    "the effect of each axis as a geometric mean over the other axes, and interactions",
    build,
    _fallback,
    "Fewer than two axes vary, so no effect can be averaged over another axis.",
)
