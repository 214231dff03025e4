"""The claims of the summary, the contrasts, the further comparisons and the recommendation.

The contrasts are those that the scenario names, or else those of the best variant.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bench_framework.claims.factory import is_counted
from bench_framework.features.summary import best, bullets
from bench_framework.features.summary.answers import ANSWERS
from bench_framework.features.summary.confidence import confidence, other_session
from bench_framework.features.summary.view import SummaryView
from bench_framework.features.summary.warnings import warnings
from bench_framework.model import facts
from bench_framework.model.facts import Claim
from bench_framework.model.facts.comparisons import ContrastDetail
from bench_framework.model.plan.declarations import NamedContrast
from bench_framework.model.plan.planned_comparisons import contrast_cells


def contrast_claims(view: SummaryView, *, answered: bool) -> Iterator[Claim]:
    """Yield a claim for each contrast of the scenario on each of its inputs.

    A contrast on several inputs has a further claim of kind ``finding`` about all of them. The
    contrasts of a group have one of kind ``grouped`` about the leading input. Without contrasts in
    the scenario, the best variant of the leading input is compared with the
    next one and with the baseline, and each further reference with the best variant.

    Args:
        view: the results.
        answered: whether the answer already compares the best variant with the baseline.
    """
    plan = view.plan
    contrasts = {contrast: _contrasts(view, contrast) for contrast in plan.contrasts}
    groups: dict[str, list[tuple[Claim, facts.Contrast]]] = {}
    for contrast, results in contrasts.items():
        groups.setdefault(contrast.group, []).extend(results)
    for contrast, results in contrasts.items():
        if contrast.group and (members := groups.pop(contrast.group, [])):
            yield from _together(view, members, contrast.group)
        if len(results) > 1:
            details = tuple(fact.detail.evidence for _, fact in results)
            fact = facts.Finding(name=contrast.name, members=details)
            yield replace(results[0][0], scope=(), fact=fact)
        joined = bool(contrast.group) or len(results) > 1
        for claim, of_contrast in results:
            yield replace(claim, fact=replace(of_contrast, joined=joined))
    if not plan.contrasts and plan.revisions is None:
        yield from _defaults(view, answered=answered)


def _contrasts(view: SummaryView, contrast: NamedContrast) -> list[tuple[Claim, facts.Contrast]]:
    results = (
        _contrast(view, (cell.id, reference.id), declared.name, declared.metric, declared.group)
        for item in view.plan.inputs
        for declared, cell, reference in contrast_cells(view.plan, item.id)
        if declared == contrast
    )
    return [result for result in results if result is not None]


def _together(
    view: SummaryView, members: Sequence[tuple[Claim, facts.Contrast]], group: str
) -> Iterator[Claim]:
    """Yield one claim about the contrasts of a group on the leading input."""
    item, several = view.leading_input(), len(view.plan.inputs) > 1
    if several and item is not None:
        members = [m for m in members if dict(m[0].scope).get("input") == item.label]
    if members and item is not None:
        details = tuple(fact.detail for _, fact in members)
        fact = facts.Grouped(name=group, members=details, joined=several)
        yield replace(members[0][0], scope=(), fact=fact)


def _defaults(view: SummaryView, *, answered: bool) -> Iterator[Claim]:
    item = view.leading_input()
    group = view.groups.get(item.id) if item is not None else None
    if item is None or group is None or not view.is_conclusive(group):
        return
    compared = (cell for cell in view.compared(item.id) if not view.is_duplicate(cell.id))
    variants = {cell.variant_id: cell.id for cell in compared}
    leader, baseline = view.leaders(group)[0], view.plan.baseline_cell(item.id)
    second = next((cell for cell in variants.values() if cell != leader), leader)
    keeps = baseline is not None and leader == baseline.id
    # If the baseline is best, the answer compares it with the next variant.
    pairs = [] if keeps and answered else [(leader, second, "next")]
    if baseline is not None and not answered:
        pairs.append((leader, baseline.id, "baseline"))
    further = [variants[v] for v in view.plan.further_baselines if v in variants]
    pairs += [(cell, leader, view.label(cell)) for cell in further]
    done: set[frozenset[str]] = set()
    for cell, reference, name in pairs:
        if cell != reference and (both := frozenset((cell, reference))) not in done:
            done.add(both)
            if (result := _contrast(view, (cell, reference), name)) is not None:
                claim, fact = result
                yield replace(claim, fact=replace(fact, origin="best variant"))


def _contrast(
    view: SummaryView, cells: tuple[str, str], name: str, metric: str = "", group: str = ""
) -> tuple[Claim, facts.Contrast] | None:
    """Return the comparison of two cells, by default on the main metric."""
    metric = metric or view.metric
    c = view.pair(*cells, metric)
    if c is None:
        return None
    evidence = view.evidence(c)
    medians = [view.amount(cell, metric) for cell in evidence.cells]
    stated = tuple(m for m in medians if m is not None) if metric != view.metric else ()
    detail = ContrastDetail(
        evidence=evidence,
        medians=stated if len(stated) == len(medians) else (),
        costs=view.headline_costs(c),
        counted=is_counted(c),
    )
    fact = facts.Contrast(name=name, main=view.metric, group=group, detail=detail)
    return view.claim(c, fact), fact


def summary_claims(view: SummaryView) -> Iterator[Claim]:
    """Yield the result of each input, then the lines of the summary, then the recommendations."""
    item = view.leading_input()
    main: list[Claim] = []
    for group in view.judgement.best:
        leading = item is not None and group.input_id == item.id
        claim = best.main_claim(view, group, leading=leading)
        main += [claim] if leading else []
        yield claim
    special: list[Claim] = []
    if item is not None:
        special = next((claims for answer in ANSWERS if (claims := answer(view, item))), [])
        yield from special
    answer = [*special, *main][:1]
    if item is not None:
        yield from warnings(view, answer)
        yield from bullets.lines(view, item)
    yield from contrast_claims(view, answered=not special)
    yield from bullets.not_adopted(view, item)
    yield from other_session(view, answer)
    yield confidence(view, answer)
    yield from best.recommendations(view)
    yield from best.answer_advice(view)
