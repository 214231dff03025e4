"""The answer to the question of a scenario: one function per kind of question.

Each function returns the facts of the first paragraph, or nothing if the record does not have the
results that this kind of question asks for. `ANSWERS` is ordered from special to general.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from bench_framework.compare.derived_values import limit_shares
from bench_framework.features.summary.confidence import may_vanish
from bench_framework.features.summary.view import SummaryView
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.answers import Doubling
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.metrics import INSTRUCTIONS
from bench_framework.model.plan.plan import Input, Role
from bench_framework.model.result.judgement import WITH_BASELINE, Derived
from bench_framework.model.verdict import Share, Verdict

UNRESOLVED: Final = ("not resolved", "not classified")
"""Words of an exponent whose interval contains a limit between linear and not linear, and of one of two sizes."""


def named_contrast(view: SummaryView, item: Input) -> list[Claim]:
    """Return the contrast that the scenario names as the answer."""
    headline, answer = view.plan.headline, view.answer_contrast(item.id)
    if headline is None or answer is None:
        return []
    contrast, cell, reference = answer
    pair = view.pair(cell.id, reference.id, contrast.metric)
    if pair is None:
        return []
    fact = facts.HeadlineAnswer(says=_says(headline.yes, pair.verdict), in_record=may_vanish(pair))
    return [view.claim(pair, fact)]


def two_commands(view: SummaryView, item: Input) -> list[Claim]:
    """Return whether the second of two commands is faster or both are equal, the question of `benchctl ab`."""
    baseline = view.plan.baseline_cell(item.id)
    others = [c.id for c in view.compared(item.id) if baseline and c.id != baseline.id]
    if not view.plan.compares_commands or len(view.plan.variants) != len(others) + 1 or others[1:]:
        return []
    pairs = [view.pair(other, baseline.id) for other in others] if baseline else []
    claims = []
    for pair in filter(None, pairs):
        equal = pair.verdict is Verdict.EQUIVALENT
        says = "equal" if equal else _says("better", pair.verdict)
        claims.append(view.claim(pair, facts.HeadlineAnswer(says=says)))
    return claims


def _says(yes: str, verdict: Verdict) -> facts.Reply:
    if not yes:
        return ""
    if not verdict.settled:
        return "open"
    return "yes" if verdict.is_as(yes) else "no"


def before_and_after(view: SummaryView, _: Input) -> list[Claim]:
    """Return what changed between two revisions."""
    compared, worse = view.main_comparisons(), view.regressions()
    if view.plan.revisions is None or not compared:
        return []
    base, head = view.plan.revisions.names
    fact = facts.RevisionsAnswer(
        base=base,
        head=head,
        total=len(compared),
        worse=len(worse),
        better=sum(c.verdict.better for c in compared),
        equal=sum(c.verdict is Verdict.EQUIVALENT for c in compared),
        refused=sum(c.verdict.refused for c in compared),
        margin=compared[0].thresholds.margin,
        name=view.input_label(worse[0]) if worse and len(view.plan.inputs) > 1 else "",
        others=tuple(sorted(_worse_in_others(view), key=lambda e: -(e.estimate or 0.0))),
    )
    if worse or (len(compared) == 1 and fact.better):
        return [view.statement(worse[0] if worse else compared[0], fact)]
    return [Claim("", metric=view.metric, fact=fact)]


def _worse_in_others(view: SummaryView) -> Iterator[Evidence]:
    """Yield the comparisons of other metrics that are worse, and more instructions, by more than the margin."""
    compared = [c for c in view.judgement.comparisons if c.family in WITH_BASELINE]
    for c in compared:
        if c.metric != view.metric and c.verdict.worse:
            yield view.evidence(c)
    known = {(c.cell_id, c.ref_cell_id) for c in compared if c.metric == INSTRUCTIONS}
    most = 1 + view.plan.judge.margin_of(INSTRUCTIONS)
    for pair in view.judgement.functions:
        cells, ratio = (pair.cell_id, pair.ref_cell_id), pair.changes.ratio
        if ratio is not None and ratio > most and cells not in known:
            subject, reference = map(view.label, cells)
            scope = view.scope(view.cells[pair.cell_id].input_id)
            names = Evidence(subject, reference, INSTRUCTIONS, scope, cells=cells)
            yield replace(names, estimate=ratio, lo=ratio, hi=ratio)


def against_a_limit(view: SummaryView, item: Input) -> list[Claim]:
    """Return which variant comes closest to the limit that the scenario derives."""
    limits = limit_shares(view.judgement.derived, item.id)
    if not limits:
        return []
    shares = {share.rate.cell_ids[0]: share for share in limits[0]}
    group, leader = view.groups.get(item.id), next(iter(shares))
    members = view.leaders(group) if group is not None else []
    if leader in members:
        # Of tied variants, the answer names the first row of the table.
        leader = next(cell for cell in members if cell in shares)
    first = shares[leader]
    ties = [c for c in members if c != leader] if leader in members else []
    fact = facts.LimitReached(
        members=view.labels((leader, *ties)),
        share=share_of(first.share),
        rate=first.rate.value or 0.0,
        limit=first.limit.value or 0.0,
        family=view.plan.unit_family,
    )
    return [Claim(view.label(leader), fact=fact)]


def share_of(row: Derived) -> Share:
    """Return a derived quotient with its interval."""
    return Share(value=row.value or 0.0, lo=row.lo, hi=row.hi)


def contribution(view: SummaryView, item: Input) -> list[Claim]:
    """Return the total effect of the steps of a ladder."""
    for table in view.judgement.structure.contributions:
        if table.input_id == item.id and table.design == "ladder" and table.end_cell_id:
            break
    else:
        return []
    total = view.pair(table.end_cell_id, table.start_cell_id)
    if total is None:
        return []
    return [view.statement(total, facts.LadderTotal(steps=len(table.steps)))]


def one_at_a_time(view: SummaryView, item: Input) -> list[Claim]:
    """Return which single changes to the baseline have an effect."""
    baseline, group = view.plan.baseline_cell(item.id), view.groups.get(item.id)
    if view.plan.design != "one-at-a-time" or baseline is None or group is None:
        return []
    compared = (c.id for c in view.compared(item.id) if c.id != baseline.id)
    pairs = {c: pair for c in compared if (pair := view.pair(c, baseline.id)) is not None}
    combined = sum(_combines(view, c) for c in pairs)
    count, base = len(pairs) - combined, view.label(baseline.id)
    if not count:
        return []
    better = [c for c, pair in pairs.items() if pair.verdict.better]
    best = [c for c in view.leaders(group) if c in better] or better[:1]
    fact = facts.SingleChanges(count=count, base=base, combined=combined, members=view.labels(best))
    if not best and len(pairs) > 1:
        return [Claim("", metric=view.metric, fact=fact)]
    return [view.statement(pairs[best[0]] if best else next(iter(pairs.values())), fact)]


def _combines(view: SummaryView, cell_id: str) -> bool:
    """Return whether a variant differs from the baseline in several axes."""
    before = dict(view.plan.baseline.values)
    return sum(before[axis] != value for axis, value in view.values(cell_id)) > 1


def scaling(view: SummaryView, _: Input) -> list[Claim]:
    """Return how time grows with the size of the input, if nothing else varies."""
    if any(cell.role is Role.CANDIDATE for cell in view.plan.cells):
        return []
    first = [s.variant_id for s in view.judgement.scaling[:1]]
    return [claim for variant in first if (claim := growth(view, "answer", variant))]


def growth(view: SummaryView, kind: facts.GrowthKind, *variant_ids: str) -> Claim | None:
    """Return how the time of variants grows between neighbouring sizes, if any of it is resolved."""
    variants: list[tuple[str, tuple[Doubling, ...]]] = []
    for variant_id in variant_ids:
        known = [
            s
            for s in view.judgement.scaling
            if s.variant_id == variant_id and s.metric == view.metric
        ]
        steps = tuple(
            Doubling(
                smaller=view.plan.input(s.from_input_id).label,
                larger=view.plan.input(s.to_input_id).label,
                exponent=s.exponent,
                lo=s.lo,
                hi=s.hi,
            )
            for s in known
        )
        if any(s.word not in UNRESOLVED for s in known):
            variants.append((view.plan.variant(variant_id).label, steps))
    if not variants:
        return None
    subject = view.plan.variant(variant_ids[0]).label
    fact = facts.Growth(kind=kind, variants=tuple(variants))
    return Claim(subject, metric=view.metric, fact=fact)


ANSWERS: Final[tuple[Callable[[SummaryView, Input], list[Claim]], ...]] = (
    before_and_after,
    named_contrast,
    two_commands,
    contribution,
    one_at_a_time,
    against_a_limit,
    scaling,
)
"""The kinds of questions in the order in which they are tried. The last resort is the best of many
variants, which is the claim of kind ``main`` of the leading input."""
