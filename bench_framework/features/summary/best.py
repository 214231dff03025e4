"""The best variant of each input: how it compares with the baseline, and which one to use.

If the best variants do not differ significantly, a tie-break chooses the recommended one.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from bench_framework.claims.factory import counts
from bench_framework.compare.cell_state import baseline_failure
from bench_framework.features.summary.parts import best_parts
from bench_framework.features.summary.view import SummaryView
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.summary import Criterion
from bench_framework.model.metrics import CPU, LEAST_BYTES, PEAK_RSS
from bench_framework.model.reasons import ONE_PROGRAM, UNSTABLE, Reason, ReasonCode
from bench_framework.model.result.judgement import BestGroup, Comparison
from bench_framework.model.verdict import Verdict

MUCH: Final = 1.25
"""Limit as a multiple of the least memory, CPU time or dependencies of variants that do not differ significantly. Those
above it, and for memory `LEAST_BYTES` above the least, are not recommended."""
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
    compared_ids = [c.id for c in view.compared(group.input_id) if not view.is_duplicate(c.id)]
    behind = [c for c in compared_ids if c not in group.cell_ids]
    planned = [c for c in view.choices(group.input_id) if not view.is_duplicate(c.id)]
    candidate = leader if leader != baseline.id else next(iter((*behind, *others)), leader)
    compared = view.pair(candidate, baseline.id, metric)
    tied = [c for c in (leader, *others) if c != baseline.id]
    fact = facts.Best(
        members=view.labels((leader, *others)),
        is_baseline=leader == baseline.id,
        leading=leading,
        of_two=len(planned) == len((candidate, baseline)),
        among=view.choice(),
        equivalent_within=_equivalent_within(view, baseline.id, tied),
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


def _equivalent_within(view: SummaryView, base_id: str, others: Sequence[str]) -> float | None:
    """Return the margin within which all others are equivalent to a cell, `None` if they are not."""
    pairs = [view.pair(cell_id, base_id) for cell_id in others]
    equal = [c for c in pairs if c is not None and c.verdict is Verdict.EQUIVALENT]
    return equal[0].thresholds.margin if equal and len(equal) == len(pairs) else None


def _nothing(view: SummaryView, group: BestGroup) -> facts.Nothing:
    """Return why an input has no conclusive comparison."""
    baseline = view.plan.baseline_cell(group.input_id)
    of_others = [
        c
        for c in view.judgement.comparisons
        if baseline is not None
        and c.ref_cell_id == baseline.id
        and c.metric != group.metric
        and c.family != "control"
    ]
    only = {c.metric: view.evidence(c) for c in of_others}
    others = tuple(
        replace(count, only=only[count.metric]) if count.total == 1 else count
        for count in counts(of_others)
    )
    if reasons := _reasons(view, group):
        more = max(0, len(reasons) - MOST_REASONS)
        return facts.Nothing(reasons=reasons[:MOST_REASONS], more=more, others=others)
    compared, looks = _compared(view, group), view.judgement.looks
    if not looks.decidable:
        too_few = (compared[0].rounds, looks.needed)
        return facts.Nothing(rounds_and_needed=too_few, others=others)
    effects = [c.mde for c in compared if c.mde is not None]
    mde, several = max(effects, default=None), len(effects) > 1
    single = all(c.verdict is Verdict.SINGLE_RUN for c in compared)
    code = ReasonCode.SINGLE_RUN if single else ReasonCode.NO_DIFFERENCE
    reasons = () if mde else (("", Reason(code)),)
    return facts.Nothing(reasons=reasons, mde=mde, several=several, others=others)


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
        return (("", failure),)
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
    """The recommended member of a best group.

    `ties` are the others, by the criterion that decides against them, `flawed` those that are not considered because a
    single part of them is shown to be worse.
    """

    group: BestGroup
    cell_id: str
    ties: Sequence[tuple[Criterion, Sequence[str]]]
    flawed: Sequence[str] = ()


def _choices(view: SummaryView) -> list[_Choice]:
    """Return the recommended variant of each input on which there is one."""
    if view.plan.revisions is not None or view.outputs_differ:
        return []  # Revisions of one program, or programs with different work, are no choice.
    return [
        _choice(view, group)
        for group in view.judgement.best
        if len(view.compared(group.input_id)) > 1
        and group.cell_ids
        and any(c.verdict.decided for c in group.comparisons)
    ]


def recommendations(view: SummaryView) -> Iterator[Claim]:
    """Yield the variant to use on each input, once for inputs on which it is the same."""
    groups = defaultdict[tuple[str, facts.Recommendation], list[Claim]](list)
    for claim, fact in (_recommendation(view, choice) for choice in _choices(view)):
        groups[claim.subject, _without_memory(fact)].append(replace(claim, fact=fact))
    for (_, fact), (first, *others) in groups.items():
        if not others:
            yield first
        elif len(others) + 1 == len(view.plan.inputs):
            yield replace(first, scope=(), fact=replace(fact, inputs=len(view.plan.inputs)))
        else:
            claims = (first, *others)
            scope = dict.fromkeys(
                pair
                for c in claims
                for pair in c.scope
                if pair[0] == "input" or all(pair in each.scope for each in claims)
            )
            yield replace(first, scope=tuple(scope), fact=fact)


def _without_memory(fact: facts.Recommendation) -> facts.Recommendation:
    """Return the fact without amounts of memory, which differ between inputs."""
    return replace(fact, ties=tuple(replace(tie, memory=()) for tie in fact.ties))


def _recommendation(view: SummaryView, choice: _Choice) -> tuple[Claim, facts.Recommendation]:
    group, cell, ties, flawed = choice
    baseline = view.plan.baseline_cell(group.input_id)
    measured = view.compared(group.input_id)
    pairs = [view.pair(cell, other.id, group.metric) for other in measured if other.id != cell]
    fact = facts.Recommendation(
        ties=tuple(
            tie for criterion, members in ties for tie in _ties(view, cell, criterion, members)
        ),
        flawed=view.labels(flawed),
        is_baseline=baseline is not None and baseline.id == cell,
        beats_all=all(pair is not None and pair.verdict.better for pair in pairs),
        among=view.choice(),
        only_other=view.label(pairs[0].ref_cell_id) if len(pairs) == 1 and pairs[0] else "",
        some_missing=not ties and len(measured) < len(view.choices(group.input_id)),
        refused=tuple(_refusals(view, cell)),
    )
    scope, cells = view.scope(group.input_id), (cell, *(c for _, tied in ties for c in tied))
    claim = Claim(view.label(cell), metric=group.metric, scope=scope, cells=cells, fact=fact)
    return claim, fact


def _refusals(view: SummaryView, cell_id: str) -> Iterator[tuple[str, Reason]]:
    """Yield the inputs on which the variant of a cell failed or prints another output, with the reason."""
    states = {state.cell_id: state for state in view.judgement.states}
    for item in view.plan.inputs:
        state = states.get(view.plan.cell_id(view.cells[cell_id].variant_id, item.id))
        if state and state.reason and state.state in {"failed", "other-output"}:
            yield item.label, state.reason


def _ties(
    view: SummaryView, cell: str, criterion: Criterion, members: Sequence[str]
) -> Iterator[facts.Tie]:
    """Yield the members that are equivalent to the recommended one, unstable or inconclusive, each kind together."""
    kinds = defaultdict[tuple[float | None, bool], list[str]](list)
    for member in members:
        pair = view.pair(member, cell)
        unstable = pair is not None and pair.reason == UNSTABLE
        kinds[_equivalent_within(view, cell, [member]), unstable].append(member)
    for (margin, unstable), alike in kinds.items():
        measured = (cell, *alike) if len(alike) == 1 else (cell,)
        memory = tuple(amount for c in measured if (amount := view.amount(c)) is not None)
        # Much less memory supports a better estimate.
        supports = any(amount.value > _most(memory[0].value, LEAST_BYTES) for amount in memory)
        stated = criterion == "memory" or (criterion == "estimate" and supports)
        yield facts.Tie(
            members=view.labels(alike),
            criterion=criterion,
            memory=memory if stated else (),
            margin=margin,
            unstable=unstable,
        )


def _choice(view: SummaryView, group: BestGroup) -> _Choice:
    """Return the recommended member of a best group, and what decides against the others.

    A member with a part that is shown to be worse is left out if another member has no such part. Of those whose
    estimates are within the margin of the baseline's, or of the best one without the baseline, all that need more than
    `MUCH` times the least memory are left out; of the rest, all that need more than `MUCH` times the least CPU time;
    then the same with dependencies. Of what is left, the baseline is kept, because nothing is shown to be better;
    without it, the best estimate decides. A member beyond the margin is not shown to be worse, but a little less
    memory is not worth the risk.
    """
    leaders = view.leaders(group)
    parts = {c: best_parts(view, c) for c in leaders if len(leaders) > 1}
    flawed = [c for c, of_cell in parts.items() if of_cell is not None and of_cell.worse]
    if len(flawed) == len(leaders):
        flawed = []
    members = [c for c in leaders if c not in flawed]
    baseline = view.plan.baseline_cell(group.input_id)
    preferred = baseline.id if baseline is not None and baseline.id in members else members[0]
    rest, ties = _cheapest(view, [c for c in members if view.alike(c, preferred)])
    chosen = preferred if preferred in rest else rest[0]
    decided = {chosen, *(c for _, cells in ties for c in cells)}
    better = [c for c in members[: members.index(chosen)] if c not in decided]
    worse = [c for c in members if c not in decided and c not in better]
    ties += [("unproven", better), ("estimate", worse)]
    return _Choice(group, chosen, [tie for tie in ties if tie[1]], flawed)


def _cheapest(
    view: SummaryView, members: list[str]
) -> tuple[list[str], list[tuple[Criterion, list[str]]]]:
    """Return the members that need least, and those left out by each criterion.

    A criterion without a value for each of them is skipped.
    """
    rest, ties = members, list[tuple[Criterion, list[str]]]()
    criteria: tuple[tuple[Criterion, float, Callable[[str], float | None]], ...] = (
        ("memory", LEAST_BYTES, lambda c: view.medians.get((c, PEAK_RSS))),
        ("cpu", 0.0, lambda c: view.medians.get((c, CPU))),
        ("dependencies", 0.0, lambda c: _dependencies(view, c)),
    )
    for criterion, step, value in criteria:
        known = {c: v for c in rest if (v := value(c)) is not None}
        if len(known) == len(rest):
            most = _most(min(known.values()), step)
            ties.append((criterion, [c for c in rest if known[c] > most]))
            rest = [c for c in rest if known[c] <= most]
    return rest, ties


def _most(least: float, step: float) -> float:
    """Return the most that counts as little more than the least: `MUCH` times as much, or a step more."""
    return max(MUCH * least, least + step)


def _dependencies(view: SummaryView, cell_id: str) -> float | None:
    build = view.builds.get(view.plan.variant(view.cells[cell_id].variant_id).build_id)
    count = build.dependencies if build is not None else None
    return None if count is None else float(count) or math.ulp(0.0)


def answer_advice(view: SummaryView) -> Iterator[Claim]:
    """Yield what follows for the two variants that the answer compares, if another one is recommended on their input.

    If they are equivalent, other criteria decide between them. Another claim is about the best variant with another
    value than the recommended one in the axis of the answer, unless the figures of the answer are about it.
    """
    item = view.leading_input()
    answer = view.answer_contrast(item.id) if item is not None else None
    choice = next((c for c in _choices(view) if item and c.group.input_id == item.id), None)
    if answer is None or choice is None:
        return
    contrast, first, second = answer
    ids, chosen = {first.id, second.id}, choice.cell_id
    pair = view.pair(first.id, second.id, contrast.metric)
    equal = pair is not None and pair.verdict is Verdict.EQUIVALENT
    if pair is not None and equal and ids.isdisjoint(choice.group.cell_ids):
        pairs = [view.pair(chosen, side, contrast.metric) for side in ids]
        beaten = all(p is not None and p.verdict.better for p in pairs)
        yield view.claim(pair, facts.EqualSides(better=view.label(chosen) if beaten else ""))
    axes = _axes_of(view, chosen, (first.id, second.id))
    claim = _alternative(view, choice, axes[0]) if len(axes) == 1 else None
    if claim is not None and not (claim.cells[0] in ids and (equal or chosen in ids)):
        yield claim


def _axes_of(view: SummaryView, chosen: str, sides: Sequence[str]) -> list[str]:
    """Return the axis in which the sides of an answer differ.

    Of several, return those in which the recommended variant has the value of neither.
    """
    mine, *others = (dict(view.values(cell_id)) for cell_id in (chosen, *sides))
    values = {axis: {side[axis] for side in others} for axis in mine}
    axes = [axis for axis, of_sides in values.items() if len(of_sides) > 1]
    return axes if len(axes) == 1 else [axis for axis in axes if mine[axis] not in values[axis]]


def _alternative(view: SummaryView, choice: _Choice, axis: str) -> Claim | None:
    """Return the best variant with another value of an axis than the recommended one.

    `None` if it is not shown to be worse, or if nothing but this axis varies: the table of results has the others.
    """
    mine, compared = dict(view.values(choice.cell_id)), view.compared(choice.group.input_id)
    values = {c.id: dict(view.values(c.id)) for c in compared if not view.is_duplicate(c.id)}
    if all({**of_cell, axis: ""} == {**mine, axis: ""} for of_cell in values.values()):
        return None
    others = [cell_id for cell_id, of_cell in values.items() if of_cell[axis] != mine[axis]]
    members = [c for c in others if not any(view.order(c, other) > 0 for other in others)]
    pair = view.pair(members[0], choice.cell_id) if members else None
    if pair is None or not pair.verdict.worse:
        return None
    without = view.value_name(axis, mine[axis])
    fact = facts.Alternative(members=view.labels(members), axis=axis, without=without)
    return view.claim(pair, fact)
