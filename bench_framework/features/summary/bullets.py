"""The lines below the answer: its cost, where it differs, what was not adopted."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from bench_framework.compare.derived_values import shares
from bench_framework.features.summary.answers import growth, share_of
from bench_framework.features.summary.view import CLOSE, SummaryView
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.evidence import Evidence, Quantity
from bench_framework.model.facts.summary import (
    MixedEffect,
    Overlap,
    RejectedChange,
    RejectedGroup,
    RejectionOutcome,
    ResourceChange,
)
from bench_framework.model.metrics import CPU, PEAK_RSS
from bench_framework.model.plan.plan import Input
from bench_framework.model.plan.planned_comparisons import contrast_cells
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.result.judgement import WITH_BASELINE, Comparison
from bench_framework.model.result.structure import Effect
from bench_framework.model.verdict import Interval, Share, Verdict
from bench_framework.stats.portable_math import log

MOST_EFFECTS: Final = 3
MOST_JUDGED: Final = 3
"""Most comparisons that a line about a declared metric states."""
MOST_CHANGES: Final = 3
"""Most changes of memory and CPU time that are stated one by one."""
LARGE: Final = 2.0
"""Ratio of memory above which the variant with the most is named."""
LEAST_ORDERED: Final = 2
"""The number of variants for which the one that is fastest determines the order."""


def lines(view: SummaryView, item: Input) -> Iterator[Claim]:
    """Yield the lines of the summary that follow from an input, before those about the record."""
    yield from _judged_metrics(view, item)
    if view.plan.revisions is None:
        yield from _cost(view, item)
        yield from _overlap(view, item)
        yield from _inputs(view)
        yield from _effects(view, item)
    else:
        yield from _changes(view)
    if view.plan.invocation.gate and not view.plan.confirms:
        yield Claim("", fact=facts.GateNote())


def _judged_metrics(view: SummaryView, item: Input) -> Iterator[Claim]:
    """Yield the comparisons with the baseline in each declared metric that is judged but not the main one.

    A contrast that the scenario names has its own line.
    """
    baseline = view.plan.baseline_cell(item.id)
    declared = {metric.name for metric in view.plan.metrics}
    if baseline is None:
        return
    contrasts = {
        (frozenset((cell.id, reference.id)), contrast.metric)
        for contrast, cell, reference in contrast_cells(view.plan, item.id)
    }
    for metric in view.plan.judge.metrics:
        if metric == view.metric or metric not in declared:
            continue
        pairs = (
            (c, c.shown)
            for cell in view.compared(item.id)
            if (frozenset((cell.id, baseline.id)), metric) not in contrasts
            and (c := view.pair(cell.id, baseline.id, metric)) is not None
            and not c.verdict.refused
        )
        # One that has no figures states nothing.
        known = [(c, interval) for c, interval in pairs if interval and interval.bounded]
        known.sort(key=lambda pair: _urgency(*pair))
        compared = [view.evidence(c) for c, _ in known]
        if compared:
            more = len(compared) - MOST_JUDGED
            fact = facts.JudgedMetric(compared=tuple(compared[:MOST_JUDGED]), more=max(0, more))
            cells = tuple(dict.fromkeys(c for e in compared for c in e.cells))
            yield Claim("", metric=metric, scope=view.scope(item.id), cells=cells, fact=fact)


def _urgency(c: Comparison, interval: Interval) -> tuple[bool, bool, float]:
    """Return the order of comparisons: worse, better, without a difference; the largest first."""
    return not c.verdict.worse, not c.verdict.decided, -abs(log(interval.ratio))


def _changes(view: SummaryView) -> Iterator[Claim]:
    """Yield the significant changes of other metrics between two revisions, the largest first.

    A declared metric has its own line.
    """
    others = {metric.name for metric in view.plan.metrics} | {view.metric}
    changes = [
        c
        for c in view.judgement.comparisons
        if c.family in WITH_BASELINE and c.metric not in others and c.verdict.decided
    ]
    changes.sort(key=lambda c: -(c.shown.ratio if c.shown else 0.0))
    if not changes:
        return
    stated = tuple(
        ResourceChange(
            evidence=view.evidence(c),
            before=view.amount(c.ref_cell_id) if c.metric == PEAK_RSS else None,
            after=view.amount(c.cell_id) if c.metric == PEAK_RSS else None,
        )
        for c in changes[:MOST_CHANGES]
    )
    fact = facts.ResourceChanges(changes=stated, more=len(changes) - len(stated))
    yield Claim(view.label(changes[0].cell_id), fact=fact)


def _cost(view: SummaryView, item: Input) -> Iterator[Claim]:
    """Yield memory and CPU time of the best variant, and the tied variant with least memory.

    Memory is compared with the baseline. If the baseline is best, it is compared with the other
    variant if there is only one.
    """
    group, baseline = view.groups.get(item.id), view.plan.baseline_cell(item.id)
    if group is None or not group.cell_ids or baseline is None or not view.is_conclusive(group):
        return
    leader, *tied = view.leaders(group)
    cell = leader if leader != baseline.id else next(iter(tied), baseline.id)
    others = [c.id for c in view.compared(item.id) if c.id != baseline.id]
    other = baseline.id if cell != baseline.id else others[0] if len(others) == 1 else cell
    memory = {c.id: m for c in view.compared(item.id) if (m := view.medians.get((c.id, PEAK_RSS)))}
    fact = facts.Resources(
        input=item.label if len(view.plan.inputs) > 1 else "",
        memory=view.amount(cell),
        unmapped=view.unmapped(cell),
        main=view.metric,
    )
    if fact.memory and cell != other and (theirs := view.amount(other)):
        pair = view.pair(cell, other, PEAK_RSS)
        equivalent = pair is not None and pair.verdict is Verdict.EQUIVALENT
        fact = replace(fact, other=view.label(other), other_memory=theirs, equivalent=equivalent)
        fact = replace(fact, other_unmapped=view.unmapped(other))
    else:
        most = max(memory, key=memory.__getitem__, default=cell)
        if memory.get(most, 0.0) > LARGE * view.medians.get((cell, PEAK_RSS), 0.0):
            fact = replace(fact, most=_memory(view, most))
    known = [c for c in group.cell_ids if (c, PEAK_RSS) in view.medians]
    least = min(known, key=lambda c: view.medians[c, PEAK_RSS], default=cell)
    smallest, chosen = (view.medians.get((c, PEAK_RSS), 0.0) for c in (least, cell))
    if smallest * CLOSE < chosen and least != baseline.id:
        fact = replace(fact, least=_memory(view, least))
    stated = {cell, other if fact.other else cell}
    answer = view.answer_contrast(item.id)
    rest = (_memory(view, c.id) for c in (answer[1:] if answer else ()) if c.id not in stated)
    further = (pair for pair in rest if pair and pair not in (fact.most, fact.least))
    fact = replace(fact, of_answer=tuple(further) if fact.memory else ())
    if view.metric != CPU and cell != baseline.id:
        cpu = view.pair(cell, baseline.id, CPU)
        if cpu is not None and cpu.verdict.decided:
            fact = replace(fact, cpu=view.evidence(cpu))
    if fact.memory or fact.least or fact.cpu:
        yield Claim(view.label(cell), fact=fact)


def _memory(view: SummaryView, cell_id: str) -> tuple[str, Quantity] | None:
    amount = view.amount(cell_id)
    return (view.label(cell_id), amount) if amount else None


def _overlap(view: SummaryView, item: Input) -> Iterator[Claim]:
    """Yield the rates of variants relative to their stages, one after the other."""
    derived = view.judgement.derived
    by_stages: dict[tuple[tuple[str, float], ...], list[tuple[str, Share]]] = {}
    for gain in sorted(shares(derived, item.id, "harmonic("), key=lambda s: -(s.share.value or 0)):
        cells = gain.limit.cell_ids
        stages = tuple(
            (view.label(d.cell_ids[0]), d.value)
            for d in derived
            if d.measured and d.value is not None and d.cell_ids[0] in cells
        )
        label = view.label(gain.rate.cell_ids[0])
        by_stages.setdefault(stages, []).append((label, share_of(gain.share)))
    if by_stages:
        groups = tuple(Overlap(stages=s, gains=tuple(gains)) for s, gains in by_stages.items())
        yield Claim("", fact=facts.Overlaps(groups=groups, family=view.plan.unit_family))


def _inputs(view: SummaryView) -> Iterator[Claim]:
    """Yield the best variants of other inputs if they differ, and how time grows with size."""
    groups = [g for g in view.judgement.best if view.is_conclusive(g)]
    if len(view.plan.inputs) > 1 and groups:
        leaders = {view.plan.input(g.input_id).label: view.leaders(g) for g in groups}
        first = {view.cells[cells[0]].variant_id for cells in leaders.values()}
        if len(groups) == len(view.plan.inputs) and len(first) == 1:
            yield _best_everywhere(view, leaders, first.pop())
        else:
            yield _best_by_input(view, leaders)
    item = view.leading_input()
    group = view.groups.get(item.id) if item else None
    if group is None or not group.cell_ids or len(view.judgement.scaling) <= 1:
        return
    best = view.cells[view.leaders(group)[0]].variant_id
    if claim := growth(view, "summary", *dict.fromkeys((best, view.plan.baseline_id))):
        yield claim


def _best_everywhere(view: SummaryView, leaders: dict[str, list[str]], variant_id: str) -> Claim:
    places: dict[tuple[str, ...], list[str]] = {}
    for place, (_, *others) in leaders.items():
        if others:
            places.setdefault(view.labels(others), []).append(place)
    swapped, order = _order(view)
    fact = facts.BestEverywhere(
        inputs=len(view.plan.inputs),
        tied=tuple((names, tuple(inputs)) for names, inputs in places.items()),
        base=view.plan.baseline.label,
        gains=_gains(view, variant_id),
        swapped=swapped,
        order=order,
    )
    return Claim(view.plan.variant(variant_id).label, metric=view.metric, fact=fact)


def _best_by_input(view: SummaryView, leaders: dict[str, list[str]]) -> Claim:
    variants = [{view.cells[c].variant_id for c in cells} for cells in leaders.values()]
    shared = set.intersection(*variants)
    fact = facts.BestByInput(
        leaders=tuple((view.label(cells[0]), place) for place, cells in leaders.items()),
        inconclusive=len(view.plan.inputs) - len(leaders),
        inputs=len(view.plan.inputs),
        shared=tuple(v.label for v in view.plan.variants if v.id in shared),
    )
    return Claim("", metric=view.metric, fact=fact)


def _gains(view: SummaryView, variant_id: str) -> tuple[tuple[str, Evidence], ...]:
    """Return input and effect of a variant against the baseline, if all are significant."""
    pairs = []
    for item in view.plan.inputs:
        cells = {c.variant_id: c.id for c in view.compared(item.id)}
        pair = view.pair(cells.get(variant_id, ""), cells.get(view.plan.baseline_id, ""))
        if pair is None or not pair.verdict.decided:
            return ()
        pairs.append((item.label, view.evidence(pair)))
    return tuple(pairs)


def _order(
    view: SummaryView,
) -> tuple[tuple[tuple[str, str], ...], facts.VariantOrder]:
    """Return the variants that change their order, or whether all have one order on every input.

    Two variants are in order if their comparison is significant, or if their intervals relative to
    the baseline do not overlap. Nothing is known if no two variants of an input are in order.
    """
    orders = [{c.variant_id: c.id for c in view.compared(item.id)} for item in view.plan.inputs]
    shared = [v for v in orders[0] if all(v in cells for cells in orders)]
    swapped = tuple(
        (view.plan.variant(a).label, view.plan.variant(b).label)
        for a, b in combinations(shared, 2)
        if {-1, 1} <= {view.order(cells[a], cells[b]) for cells in orders}
    )
    if swapped or len(shared) <= LEAST_ORDERED:
        return swapped, ""
    if not all(
        any(view.order(cells[a], cells[b]) for a, b in combinations(shared, 2)) for cells in orders
    ):
        return (), ""
    same = all([v for v in cells if v in shared] == shared for cells in orders)
    return (), "same" if same else "open"


def _effects(view: SummaryView, item: Input) -> Iterator[Claim]:
    """Yield the mean effect of each axis of a full product, over the other axes."""
    single = (e for e in view.judgement.structure.effects if len(e.changes) == 1)
    effects = [e for e in single if e.input_id == item.id]
    if not effects or view.plan.design != "full":
        return
    pooled = [e for e in effects if e.pooled]
    decided = [e for e in pooled if e.mean.verdict.decided]
    decided.sort(key=lambda e: -abs((e.mean.shown.ratio if e.mean.shown else 1.0) - 1))
    fact = facts.MeanEffects(
        effects=tuple(_mean_effect(view, e) for e in decided[:MOST_EFFECTS]),
        none=tuple(_level(e) for e in pooled if e not in decided),
        mixed=tuple(
            MixedEffect(level=_level(e), better=e.better, worse=e.worse, total=len(e.cells))
            for e in effects
            if not e.pooled
        ),
    )
    scope = view.scope(item.id)
    yield Claim(_level(decided[0]) if decided else "", scope=scope, fact=fact)


def _mean_effect(view: SummaryView, effect: Effect) -> Evidence:
    return Evidence(
        _level(effect),
        effect.changes[0].before,
        metric=effect.metric,
        verdict=effect.mean.verdict,
        margin=view.plan.judge.margin_of(effect.metric),
        direction="higher" if view.higher else "lower",
    ).with_interval(effect.mean.shown)


def _level(effect: Effect) -> str:
    """Return axis and value, because a value such as ``2`` or ``yes`` does not name its axis."""
    return f"{effect.changes[0].axis} {effect.changes[0].after}"


def not_adopted(view: SummaryView, item: Input | None) -> Iterator[Claim]:
    """Yield the measured effect of the experiments that the author rejected, by verdict."""
    rejected = [e for e in view.plan.experiments if e.decision == "rejected"]
    baseline = view.plan.baseline_cell(item.id) if item else None
    if not rejected or item is None or baseline is None:
        return
    cells = {c.variant_id: c.id for c in view.plan.cells_of(item.id)}
    pairs = [(e.name, view.pair(cells.get(e.variant_id, ""), baseline.id)) for e in rejected]
    pairs.sort(key=lambda pair: not (pair[1] is not None and pair[1].verdict.better))
    groups: dict[RejectionOutcome, list[RejectedChange]] = {}
    for name, pair in pairs:
        change = RejectedChange(name=name)
        if pair is not None and pair.verdict.decided:
            costs = view.costs.of_gain(pair.verdict, pair.cell_id, pair.ref_cell_id, pair.metric)
            change = RejectedChange(name=name, evidence=view.evidence(pair), costs=costs)
        groups.setdefault(_outcome(pair), []).append(change)
    fact = facts.Rejected(
        input=item.label if len(view.plan.inputs) > 1 else "",
        base=view.label(baseline.id),
        groups=tuple(
            RejectedGroup(outcome=outcome, changes=tuple(changes))
            for outcome, changes in groups.items()
        ),
        by_original=view.plan.published is not None and view.plan.published.decisions,
    )
    ids = tuple(cells[e.variant_id] for e in rejected if e.variant_id in cells)
    yield Claim(rejected[0].name, metric=view.metric, cells=ids, fact=fact)


def _outcome(c: Comparison | None) -> RejectionOutcome:
    if c is None:
        return "not measured"
    if c.reason == ONE_PROGRAM:
        return "same program"
    # The table states that the size is uncertain.
    if c.verdict.decided:
        return Verdict.BETTER if c.verdict.better else Verdict.WORSE
    return c.verdict
