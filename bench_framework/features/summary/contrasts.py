"""The claims about contrasts: those that the scenario names, or else those of the best variant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench_framework.claims.phrases import effect
from bench_framework.features.summary.evidence import listed, statement
from bench_framework.model.metrics import WALL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.features.summary.evidence import Evidence
    from bench_framework.model.judgement import Claim


def contrast_claims(at: Evidence, *, answered: bool) -> Iterator[Claim]:
    """Yield a claim for each contrast of the scenario on each of its inputs.

    A contrast on several inputs has a further claim of kind ``finding`` about all of them. Without
    contrasts in the scenario, the best variant of the leading input is compared with the
    next one and with the baseline, and each further reference with the best variant.

    Args:
        at: the results.
        answered: whether the answer already compares the best variant with the baseline.
    """
    plan = at.plan
    for contrast in plan.contrasts:
        claims = [
            claim
            for item in plan.inputs
            for declared, cell, reference in plan.contrast_cells(item.id)
            if declared == contrast
            for claim in _claim(at, cell.id, reference.id, declared.name, declared.metric)
        ]
        if len(claims) > 1:
            effects = (f"{effect(c)} on {dict(c.scope).get('input', '')}" for c in claims)
            first = claims[0]
            text = f"{first.subject} vs {first.reference}: {listed(effects, len(claims))}"
            yield statement("finding", first.subject, text, name=contrast.name)
            claims = [replace(c, values={**c.values, "joined": 1}) for c in claims]
        yield from claims
    if not plan.contrasts and plan.revisions is None:
        yield from _defaults(at, answered=answered)


def _defaults(at: Evidence, *, answered: bool) -> Iterator[Claim]:
    item = at.leading_input()
    group = at.groups.get(item.id) if item is not None else None
    if item is None or group is None or not at.is_conclusive(group):
        return
    ranked = [c.id for c in at.compared(item.id)]
    leader, baseline = at.leaders(group)[0], at.plan.baseline_cell(item.id)
    best = "Fastest" if at.metric == WALL else "Best"
    second = next((c for c in ranked if c != leader), None)
    variants = {c.variant_id: c.id for c in at.compared(item.id)}
    further = [variants[v] for v in at.plan.further_baselines if v in variants]
    keeps = baseline is not None and leader == baseline.id
    # If the baseline is best, the answer compares it with the next variant.
    pairs = [] if keeps and answered else [(leader, second, f"{best} against the next")]
    if baseline is not None and not answered:
        pairs.append((leader, baseline.id, f"{best} against the baseline"))
    pairs += [(cell, leader, f"{at.label(cell)} against the {best.lower()}") for cell in further]
    done: set[frozenset[str | None]] = set()
    for cell, reference, name in pairs:
        both: frozenset[str | None] = frozenset((cell, reference))
        if reference is not None and len(both) > 1 and both not in done:
            done.add(both)
            for claim in _claim(at, cell, reference, name, at.metric):
                yield replace(claim, values={**claim.values, "default": 1})


def _claim(at: Evidence, cell_id: str, ref_cell_id: str, name: str, metric: str) -> Iterator[Claim]:
    c = at.pair(cell_id, ref_cell_id, metric)
    if c is not None:
        claim = at.comparison(c, "contrast")
        yield replace(claim, values={**claim.values, "name": name})
