"""The best variant of each input: how it compares with the baseline, and which one to use.

If the best variants do not differ significantly, a tie-break chooses the recommended one.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from bench_framework.claims.factory import counts
from bench_framework.compare.cell_state import baseline_failure
from bench_framework.features.summary.parts import best_parts
from bench_framework.features.summary.view import SummaryView
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.summary import Criterion
from bench_framework.model.metrics import CPU, PEAK_RSS
from bench_framework.model.reasons import ONE_PROGRAM, Reason, ReasonCode, message
from bench_framework.model.result.judgement import BestGroup, Comparison

MUCH: Final = 1.25
"""Memory, CPU time or dependencies decide between variants that do not differ significantly if the largest value is
more than this multiple of the smallest."""
MOST_REASONS: Final = 3
"""The largest number of reasons in a sentence. The table has all of them."""


def main_claim(view: SummaryView, group: BestGroup, *, leading: bool = False) -> Claim:
    """Return the claim about the best group of an input.

    It names the member with the best ratio, which is the first row of the table. Its comparison is
    that with the baseline; if it is the baseline, that of the next variant with the baseline.
    """
    baseline = view.plan.baseline_cell(group.input_id)
    metric, scope = group.metric, view.scope(group.input_id)
    if baseline is None or not view.is_conclusive(group):
        nothing = replace(_nothing(view, group), leading=leading)
        question, cells = view.plan.question, group.cell_ids
        return Claim(question, metric=metric, scope=scope, cells=cells, fact=nothing)
    leader, *others = view.leaders(group)
    compared_ids = (c.id for c in view.compared(group.input_id) if not view.is_duplicate(c.id))
    behind = [c for c in compared_ids if c not in group.cell_ids]
    candidate = leader if leader != baseline.id else next(iter((*behind, *others)), leader)
    compared = view.pair(candidate, baseline.id, metric)
    fact = facts.Best(
        members=view.labels((leader, *others)),
        is_baseline=leader == baseline.id,
        leading=leading,
        among=view.choice(),
        some_better=any(
            pair is not None and pair.verdict.better
            for c in view.compared(group.input_id)
            for pair in (view.pair(c.id, baseline.id, metric),)
        ),
    )
    claim = Claim(view.label(leader), view.label(baseline.id), metric, scope, fact=fact)
    if compared is not None:
        claim = view.claim(compared, replace(fact, costs=view.headline_costs(compared)))
    cells = tuple(dict.fromkeys((leader, *claim.cells, *others)))
    return replace(claim, cells=cells)


def _nothing(view: SummaryView, group: BestGroup) -> facts.Nothing:
    """Return why an input has no conclusive comparison."""
    baseline = view.plan.baseline_cell(group.input_id)
    others = counts(
        c
        for c in view.judgement.comparisons
        if baseline is not None
        and c.ref_cell_id == baseline.id
        and c.metric != group.metric
        and c.family != "control"
    )
    if reasons := _reasons(view, group):
        more = max(0, len(reasons) - MOST_REASONS)
        return facts.Nothing(reasons=reasons[:MOST_REASONS], more=more, others=others)
    compared, looks = _compared(view, group), view.judgement.looks
    if not looks.decidable:
        too_few = (compared[0].rounds, looks.needed)
        return facts.Nothing(rounds_and_needed=too_few, others=others)
    mde = max((c.mde for c in compared if c.mde is not None), default=None)
    reasons = () if mde else (("", Reason(ReasonCode.NO_DIFFERENCE)),)
    return facts.Nothing(reasons=reasons, mde=mde, others=others)


def _compared(view: SummaryView, group: BestGroup) -> list[Comparison]:
    compared = [
        c
        for c in view.judgement.comparisons
        if c.metric == group.metric
        and c.family == "headline"
        and view.cells[c.cell_id].input_id == group.input_id
    ]
    return [c for c in compared if c.reason != ONE_PROGRAM] or compared


def _reasons(view: SummaryView, group: BestGroup) -> tuple[tuple[str, Reason], ...]:
    """Return variants and reasons, empty if the number of rounds is the reason."""
    floor = view.floors.get((group.input_id, group.metric))
    if floor is not None and floor.tripped:
        return (("", Reason(ReasonCode.CONTROL_FAILED)),)
    if failure := baseline_failure(view.plan, view.judgement.states, group.input_id):
        return (("", message(failure)),)
    compared = _compared(view, group)
    if not compared:
        return (("", Reason(ReasonCode.NOTHING_TO_COMPARE)),)
    if (
        (reason := compared[0].reason)
        and len({c.reason for c in compared}) == 1
        and not any(c.verdict.refused for c in compared)
    ):
        return (("", reason),)
    return tuple((view.label(c.cell_id), c.reason) for c in compared if c.reason)


class _Choice(NamedTuple):
    """The recommended member of a best group, and the criterion if it is not the only one.

    `among` are the members that the criterion compares, `flawed` those that it does not because a single part of them
    is shown to be worse.
    """

    group: BestGroup
    cell_id: str
    criterion: Criterion
    among: Sequence[str]
    flawed: Sequence[str] = ()


def recommendations(view: SummaryView) -> Iterator[Claim]:
    """Yield the variant to use on each input, or on all inputs if it is the same."""
    if view.plan.revisions is not None:
        return  # Two revisions of one program are not a choice between variants.
    chosen = [
        _choice(view, group)
        for group in view.judgement.best
        if group.cell_ids and any(c.verdict.decided for c in group.comparisons)
    ]
    recommended = [_recommendation(view, choice) for choice in chosen]
    alike = {(c.subject, f.tied, f.criterion, f.beats_all, f.flawed) for c, f in recommended}
    if len(alike) == 1 and len(recommended) == len(view.plan.inputs) > 1:
        claim, fact = recommended[0]
        yield replace(claim, scope=(), fact=replace(fact, inputs=len(recommended)))
        return
    for claim, fact in recommended:
        memory = view.amount(claim.cells[0]) if fact.criterion == "memory" else None
        yield replace(claim, fact=replace(fact, memory=memory))


def _recommendation(view: SummaryView, choice: _Choice) -> tuple[Claim, facts.Recommendation]:
    group, cell, criterion, among, flawed = choice
    tied = [c for c in among if c != cell]
    baseline = view.plan.baseline_cell(group.input_id)
    others = [c.id for c in view.compared(group.input_id) if c.id != cell]
    pairs = [view.pair(cell, other, group.metric) for other in others]
    fact = facts.Recommendation(
        tied=view.labels(tied),
        flawed=view.labels(flawed),
        criterion=criterion,
        is_baseline=baseline is not None and baseline.id == cell,
        beats_all=all(pair is not None and pair.verdict.better for pair in pairs),
        among=view.choice(),
    )
    scope, cells = view.scope(group.input_id), (cell, *tied)
    claim = Claim(view.label(cell), metric=group.metric, scope=scope, cells=cells, fact=fact)
    return claim, fact


def _choice(view: SummaryView, group: BestGroup) -> _Choice:
    """Return the recommended member of a best group, and the reason if it is not the only one.

    Of the members whose estimates are within the margin of the best one, it is the one with the least measured
    memory. If all are within 25 % of it, CPU time decides, then the number of dependencies, then the estimate.
    A member beyond the margin is not shown to be worse, but a little less memory is not worth the risk. A
    member with a part that is shown to be worse is left out if another member has no such part.
    """
    leaders = view.leaders(group)
    parts = {c: best_parts(view, c) for c in leaders if len(leaders) > 1}
    flawed = [c for c, of_cell in parts.items() if of_cell is not None and of_cell.worse]
    if 0 < len(flawed) < len(leaders):
        return _by_criteria(view, group, [c for c in leaders if c not in flawed], flawed)
    return _by_criteria(view, group, leaders, ())


def _by_criteria(
    view: SummaryView, group: BestGroup, members: list[str], flawed: Sequence[str]
) -> _Choice:
    close = [c for c in members if view.alike(c, members[0])]
    if len(close) == 1:
        return _Choice(group, members[0], "estimate" if len(members) > 1 else "", members, flawed)
    criteria: tuple[tuple[Criterion, dict[str, float | None]], ...] = (
        ("memory", {c: view.medians.get((c, PEAK_RSS)) for c in close}),
        ("cpu", {c: view.medians.get((c, CPU)) for c in close}),
        ("dependencies", {c: _dependencies(view, c) for c in close}),
    )
    for criterion, values in criteria:
        known = {c: v for c, v in values.items() if v is not None}
        if len(known) == len(close) and max(known.values()) > min(known.values()) * MUCH:
            # Of equal values, the first has the best estimate.
            return _Choice(group, min(known, key=known.__getitem__), criterion, close, flawed)
    return _Choice(group, members[0], "estimate", members, flawed)


def _dependencies(view: SummaryView, cell_id: str) -> float | None:
    build = view.builds.get(view.plan.variant(view.cells[cell_id].variant_id).build_id)
    count = build.dependencies if build is not None else None
    return None if count is None else float(count) or math.ulp(0.0)
