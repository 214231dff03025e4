"""S14: what each axis does over all combinations of the others, and whether effects multiply (R5)."""

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
    together_cell,
    told,
    turned,
)
from bench_framework.report.numbers import DASH
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.plan import Input
    from bench_framework.model.structure import Effect, Factorial
    from bench_framework.report.context import ReportData

PAIR = 2
Told = tuple["Effect", "Claim | None"]


def build(data: ReportData) -> tuple[Block, ...]:
    """Per input: main effects, interactions, and what may be said of them."""
    found = data.judgement.structure
    if not found.effects:
        return ()
    blocks: list[Block] = []
    by_input = {f.input_id: f for f in found.factorials}
    for number, item in enumerate(data.plan.inputs, 1):
        factorial = by_input[item.id]
        name = f"effects-{number}"
        if len(data.plan.inputs) > 1:
            blocks.append(Heading(f"Input {data.input_name(item)}", name))
        own = [e for e in found.effects if e.input_id == item.id]
        if not own:
            blocks.append(Fallback(f"No effects here: {factorial.reason}."))
            continue
        blocks += _input_blocks(data, item, factorial, own, name)
    return tuple(blocks)


def _input_blocks(
    data: ReportData, item: Input, factorial: Factorial, own: list[Effect], name: str
) -> list[Block]:
    pairs = told(own, data.claims("effect", "interaction", item=item))
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
    own: list[Told],
    name: str,
) -> Table:
    rows = []
    for e, claim in own:
        (change,) = e.changes
        head = (Cell(change.axis), Cell(change.after), Cell(change.before))
        rows.append(Row((*head, *_figures(data, e, claim))))
    columns = (
        Column("Axis"),
        Column("Level"),
        Column("Against", drop=1),
        Column("Geometric mean ratio", "decimal"),
        Column("Interval", drop=2),
        Column("Verdict"),
        Column("Holds in"),
        Column("n", "right", drop=3),
    )
    caption = (
        f"What each level does against the baseline's level of its axis{data.on_input(item, ', input ')}, as the "
        f"geometric mean over the combinations of the other axes. {_tail(data, factorial)}"
    )
    return Table(f"{name}-mains", caption, columns, tuple(rows), _legend(factorial), sortable=False)


def _figures(data: ReportData, e: Effect, claim: Claim | None) -> tuple[Cell, ...]:
    ratio, bounds, verdict = contrast_cells(e.mean, data, claim.id if claim else None)
    if len(e.changes) == PAIR:
        verdict = together_cell(e.mean.verdict, higher=data.higher(data.metric))
    if not e.pooled:
        verdict = Cell("not pooled: its sign changes")
        less, more = ("better", "worse") if data.higher(data.metric) else ("less", "more")
        held = f"{less} in {e.better}, {more} in {e.worse} of {len(e.cells)}"
    else:
        held = f"{e.holds_in} of {len(e.cells)}" if e.mean.verdict.decided else DASH
    return ratio, bounds, verdict, Cell(held), Cell(str(e.mean.rounds))


def _interactions(
    data: ReportData,
    item: Input,
    factorial: Factorial,
    own: list[Told],
    name: str,
) -> Table:
    rows = []
    for e, claim in own:
        one, two = e.changes
        head = (Cell(f"{one.axis} × {two.axis}"), Cell(f"{one.after} with {two.after}"))
        rows.append(Row((*head, *_figures(data, e, claim))))
    columns = (
        Column("Axes"),
        Column("Levels"),
        Column("Together ÷ multiplied", "decimal"),
        Column("Interval", drop=2),
        Column("Verdict"),
        Column("Holds in", drop=1),
        Column("n", "right", drop=3),
    )
    caption = (
        f"Whether two changes together are what their effects alone make{data.on_input(item, ', input ')}: "
        f"{noun(data.metric)} with both ÷ the product of each alone; 1 where they multiply, above 1 where together "
        f"they {'gain' if data.higher(data.metric) else 'save'} less. "
        f"{_tail(data, factorial)}"
    )
    return Table(f"{name}-interactions", caption, columns, tuple(rows), (), sortable=False)


def _tail(data: ReportData, factorial: Factorial) -> str:
    axes = " × ".join(f"{name} ({', '.join(levels)})" for name, levels in factorial.axes)
    family = family_text(data, data.judgement.structure.effect_family, "effects and interactions")
    return f"Full product of {axes}; {family}; {factorial.rounds} rounds that have all of its cells.{turned(data)}"


def _legend(factorial: Factorial) -> tuple[str, ...]:
    lines = [
        "Holds in: cells in which the difference is decided in the mean's direction (Holm over the cells of the row).",
        "A level whose verdict is less time in one cell and more in another has no mean.",
    ]
    if factorial.left_out:
        lines.append(
            f"Left out, as combinations with them are missing: {', '.join(factorial.left_out)}; this is the largest "
            "full product that holds the baseline."
        )
    return tuple(lines)


def _fallback(data: ReportData) -> str:
    """The reason, where a scenario crosses axes and effects cannot be told all the same."""
    varied = [a for a in data.plan.axes if a.kind != "input" and len(a.values) > 1]
    reasons = [f.reason for f in data.judgement.structure.factorials if f.reason]
    if len(varied) < PAIR or data.plan.design != "full" or not reasons:
        return ""
    return f"Effects of the axes are not told: {reasons[0]}."


EFFECTS = SectionKind(
    "S14",
    "effects",
    "What each axis does",
    "the effect of each axis as a geometric mean over the other axes, and interactions",
    build,
    _fallback,
    "No two axes vary, so that no effect can be averaged over another axis.",
)
