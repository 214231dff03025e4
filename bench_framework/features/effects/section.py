"""Sections "Effects and interactions" and "Where the result changes": effects of the axes."""

from bench_framework.features.effects.compute import NOT_CROSSED
from bench_framework.model.facts import Claim, SignChange
from bench_framework.model.plan.plan import Input
from bench_framework.model.result.structure import Effect, Factorial
from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Table, left
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind, input_heading
from bench_framework.report.table_cells import (
    CI,
    contrast_cells,
    few_rounds,
    interaction_cell,
    interval_cells,
    verdict_cell,
    with_claims,
)
from bench_framework.text.numbers import DASH
from bench_framework.text.reasons import phrase
from bench_framework.text.words import noun

PAIR = 2
EffectClaim = tuple["Effect", "Claim | None"]


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the main effects and the interactions for each input."""
    structure = data.judgement.structure
    if not structure.effects:
        return ()
    blocks: list[Block] = []
    by_input = {f.input_id: f for f in structure.factorials}
    for number, item in enumerate(data.plan.inputs, 1):
        factorial = by_input[item.id]
        name = f"effects-{number}"
        blocks += input_heading(data, item, name)
        effects = [e for e in structure.effects if e.input_id == item.id]
        pairs = with_claims(effects, data.claims("effect", "interaction", item=item))
        mains = [pair for pair in pairs if len(pair[0].changes) < PAIR]
        both = [pair for pair in pairs if len(pair[0].changes) == PAIR]
        blocks += [_mains(data, item, factorial, mains, name)] if mains else []
        blocks += [_interactions(data, item, factorial, both, name)] if both else []
    return tuple(blocks)


def _mains(
    data: ReportData, item: Input, factorial: Factorial, effects: list[EffectClaim], name: str
) -> Table:
    rows = tuple(
        Row.build(change.axis, change.after, change.before, *_figures(data, e, claim))
        for e, claim in effects
        for change in e.changes
    )
    columns = (
        *left("Axis", "Level"),
        Column("vs", drop=1),
        Column("Geometric mean ratio", "decimal"),
        Column(CI, drop=2),
        *left("Verdict", "Significant in"),
        Column("n", "right", drop=3),
    )
    caption = (
        f"Effect of each level relative to the baseline's level of the same axis"
        f"{data.on_input(item, ', input ')}: geometric mean over the combinations of the other "
        f"axes. {_tail(factorial)}"
    )
    legend = (*few_rounds(e.mean for e, _ in effects), *_legend(factorial))
    return Table(f"{name}-mains", caption, columns, rows, legend, sortable=False)


def _figures(data: ReportData, e: Effect, claim: Claim | None) -> tuple[Cell, ...]:
    ratio, bounds, verdict = contrast_cells(e.mean, data, claim)
    higher = data.higher
    if len(e.changes) == PAIR:
        verdict = interaction_cell(e.mean.verdict, higher=higher)
    consistent = f"{e.significant_in} of {len(e.cells)}" if e.mean.verdict.decided else DASH
    if not e.pooled:
        verdict = Cell("not pooled: the sign changes")
        less, more = ("better", "worse") if higher else ("less", "more")
        consistent = f"{less} in {e.better}, {more} in {e.worse} of {len(e.cells)}"
    return ratio, bounds, verdict, Cell(consistent), Cell(str(e.mean.rounds))


def _interactions(
    data: ReportData, item: Input, factorial: Factorial, effects: list[EffectClaim], name: str
) -> Table:
    rows = []
    for e, claim in effects:
        one, two = e.changes
        head = (f"{one.axis} × {two.axis}", f"{one.after} with {two.after}")
        rows.append(Row.build(*head, *_figures(data, e, claim)))
    columns = (
        *left("Axes", "Levels"),
        Column("Interaction", "decimal"),
        Column(CI, drop=2),
        Column("Verdict"),
        Column("Significant in", drop=1),
        Column("n", "right", drop=3),
    )
    caption = (
        f"Interactions of two changes{data.on_input(item, ', input ')}: ratio of "
        f"{noun(data.metric)} with both changes ÷ the product of the single effects. 1: no "
        "interaction; above 1: both together "
        f"{'gain more' if data.higher else 'save less'} than the product. "
        f"{_tail(factorial)}"
    )
    legend = few_rounds(e.mean for e, _ in effects)
    return Table(f"{name}-interactions", caption, columns, tuple(rows), legend, sortable=False)


def _tail(factorial: Factorial) -> str:
    axes = " × ".join(f"{name} ({', '.join(levels)})" for name, levels in factorial.axes)
    rounds = f"{factorial.rounds} rounds with all configurations"
    return f"All combinations of {axes}; {rounds}."


def _legend(factorial: Factorial) -> tuple[str, ...]:
    lines = [
        (
            "Significant in: combinations with a significant difference in the direction of the "
            "mean (Holm-adjusted over the combinations of the row)."
        ),
        "A level that is better in one combination and worse in another has no mean.",
    ]
    if factorial.left_out:
        levels = ", ".join(map(": ".join, factorial.left_out))
        lines.append(
            f"Left out, because combinations are missing: {levels}. The "
            "table uses the largest complete set of combinations with the baseline."
        )
    return tuple(lines)


def _missing(data: ReportData) -> str:
    """Return why a scenario with crossed axes has no effects."""
    reasons = (f.reason for f in data.judgement.structure.factorials if f.reason)
    return phrase(next(reasons, NOT_CROSSED))


EFFECTS = SectionKind(
    "S14",
    "effects",
    "Effects and interactions",
    "the effect of each axis as a geometric mean over the other axes, and interactions",
    build,
    _missing,
)


def sign_changes(data: ReportData) -> tuple[Block, ...]:
    """Return a table per sign change over inputs, the crossovers, and sign changes over axes."""
    claims = data.claims("sign-change")
    changes = [c for c in claims if c.metric == data.metric]
    blocks: list[Block] = [_by_input(data, c, f"turning-{n}") for n, c in enumerate(changes, 1)]
    stated = {(c.subject, c.reference) for c in changes}
    others = (c for c in claims if (c.subject, c.reference) not in stated)
    lines = [*changes, *others, *(c for c in data.claims("crossover") if c.metric == data.metric)]
    if lines:
        blocks.append(Bullets(tuple(sentence(c) for c in lines)))
    effects = [e for e in data.judgement.structure.effects if not e.pooled and len(e.changes) == 1]
    blocks += [_by_axis(data, effect, f"turning-axis-{n}") for n, effect in enumerate(effects, 1)]
    return tuple(blocks)


def _by_input(data: ReportData, claim: Claim, name: str) -> Table:
    assert isinstance(claim.fact, SignChange)
    variant = data.plan.cell(claim.cells[0]).variant_id
    cells = [cell for cell in data.plan.cells if cell.variant_id == variant]
    rows = []
    for cell in sorted(cells, key=lambda c: data.input_bytes(c.input_id) or 0):
        reference = data.plan.cell_id(claim.fact.reference_id, cell.input_id)
        if (c := data.pairs.get((cell.id, reference))) is None:
            continue
        item, claim_id = data.plan.input(cell.input_id), data.claim_id_between(c)
        figures = interval_cells(c.of_values, c.verdict, data.margin, claim_id)
        axes = ", ".join(axis for axis, _ in item.values) or "input"
        levels = ", ".join(value for _, value in item.values) or data.input_name(item)
        verdict = verdict_cell(c.verdict, data.metric)
        rows.append(Row.build(axes, levels, *figures, verdict, verdict=c.verdict))
    caption = f"{claim.subject} vs {claim.reference}: the sign depends on the input."
    columns = _sign_columns(claim.subject, claim.reference or "")
    return Table(name, caption, columns, tuple(rows), sortable=False)


def _by_axis(data: ReportData, effect: Effect, name: str) -> Table:
    (change,) = effect.changes
    factorials = {f.input_id: f for f in data.judgement.structure.factorials}
    axes = [axis for axis, _ in factorials[effect.input_id].axes if axis != change.axis]
    rows = tuple(
        Row.build(
            ", ".join(axes),
            cell.where,
            *contrast_cells(cell.contrast, data),
            verdict=cell.contrast.verdict,
        )
        for cell in effect.cells
    )
    item = data.plan.input(effect.input_id)
    caption = (
        f"{change.axis} {change.after} vs {change.before}: the sign depends on the other axes"
        f"{data.on_input(item, ', input ')}. Holm-adjusted over these {len(rows)} combinations; "
        f"{effect.mean.rounds} rounds."
    )
    columns = _sign_columns(change.after, change.before)
    return Table(name, caption, columns, rows, sortable=False)


def _sign_columns(subject: str, reference: str) -> tuple[Column, ...]:
    return (
        *left("Axis", "Level"),
        Column(f"{subject} vs {reference}", "decimal"),
        Column(CI, drop=1),
        Column("Verdict"),
    )


TURNING = SectionKind(
    "S07",
    "changes",
    "Where the result changes",
    "verdicts that depend on the input or on another axis, and crossover sizes",
    sign_changes,
    "no verdict changes its sign",
)
