"""The claims of the summary, the contrasts, the key findings and the recommendation, with sentences.

The contrasts are those that the scenario names, or else those of the best variant.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from bench_framework.claims.phrases import comparison, detectable, effect, one_scale
from bench_framework.features.summary import best, bullets
from bench_framework.features.summary.answers import ANSWERS
from bench_framework.features.summary.evidence import Evidence, listed, statement
from bench_framework.model.declarations import NamedContrast
from bench_framework.model.facts import Claim
from bench_framework.model.looks import contrast_cells
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.text.names import scope_of
from bench_framework.text.numbers import percent_up


def contrast_claims(at: Evidence, *, answered: bool) -> Iterator[Claim]:
    """Yield a claim for each contrast of the scenario on each of its inputs.

    A contrast on several inputs has a further claim of kind ``finding`` about all of them. The
    contrasts of a group have one of kind ``grouped`` about the leading input. Without contrasts in
    the scenario, the best variant of the leading input is compared with the
    next one and with the baseline, and each further reference with the best variant.

    Args:
        at: the results.
        answered: whether the answer already compares the best variant with the baseline.
    """
    plan = at.plan
    claims_of = {contrast: _claims(at, contrast) for contrast in plan.contrasts}
    groups: dict[str, list[Claim]] = {}
    for contrast, claims in claims_of.items():
        groups.setdefault(contrast.group, []).extend(claims)
    for contrast, claims in claims_of.items():
        if contrast.group and (members := groups.pop(contrast.group, [])):
            yield from _together(at, members, contrast.group)
        if len(claims) > 1:
            scale = one_scale(claims)
            effects = (f"{effect(c, scale)} on {dict(c.scope).get('input', '')}" for c in claims)
            first = claims[0]
            text = f"{first.subject} vs {first.reference}: {listed(effects, len(claims))}"
            yield statement("finding", first.subject, text, name=contrast.name)
        joined = contrast.group or len(claims) > 1
        yield from (_with(c, "joined") if joined else c for c in claims)
    if not plan.contrasts and plan.revisions is None:
        yield from _defaults(at, answered=answered)


def _claims(at: Evidence, contrast: NamedContrast) -> list[Claim]:
    claims = [
        claim
        for item in at.plan.inputs
        for declared, cell, reference in contrast_cells(at.plan, item.id)
        if declared == contrast
        for claim in _claim(at, cell.id, reference.id, declared.name, declared.metric)
    ]
    return [_with(c, "group") for c in claims] if contrast.group else claims


def _together(at: Evidence, members: list[Claim], group: str) -> Iterator[Claim]:
    """Yield one claim about the contrasts of a group on the leading input."""
    item, several = at.leading_input(), len(at.plan.inputs) > 1
    if several and item is not None:
        members = [c for c in members if dict(c.scope).get("input") == item.label]
    if members and item is not None:
        text = scope_of(members[0]) + ". ".join(contrast_text(c, "") for c in members)
        claim = statement("grouped", members[0].subject, text, name=group)
        yield _with(claim, "joined") if several else claim


def _with(claim: Claim, key: str) -> Claim:
    return replace(claim, values={**claim.values, key: 1})


def contrast_text(claim: Claim, place: str | None = None) -> str:
    """Return the sentence about a contrast. Without a verdict: what could have been detected."""
    place = scope_of(claim) if place is None else place
    values = {k: v for k, v in claim.values.items() if k != "rounds_needed"}
    if "mde" in values and claim.verdict is Verdict.INCONCLUSIVE:
        reason = detectable(percent_up(float(values.pop("mde"))))
        short = replace(claim, values=values)
        return f"{place}{comparison(short)}. {reason[:1].upper()}{reason[1:]}"
    medians = f" ({values['medians']})" if "medians" in values else ""
    return f"{place}{comparison(claim)}{medians}"


def _defaults(at: Evidence, *, answered: bool) -> Iterator[Claim]:
    item = at.leading_input()
    group = at.groups.get(item.id) if item is not None else None
    if item is None or group is None or not at.is_conclusive(group):
        return
    compared = (cell for cell in at.compared(item.id) if not at.is_duplicate(cell.id))
    variants = {cell.variant_id: cell.id for cell in compared}
    leader, baseline = at.leaders(group)[0], at.plan.baseline_cell(item.id)
    ahead = "Fastest" if at.metric == WALL else "Best"
    second = next((cell for cell in variants.values() if cell != leader), leader)
    keeps = baseline is not None and leader == baseline.id
    # If the baseline is best, the answer compares it with the next variant.
    pairs = [] if keeps and answered else [(leader, second, f"{ahead} against the next")]
    if baseline is not None and not answered:
        pairs.append((leader, baseline.id, f"{ahead} against the baseline"))
    further = [variants[v] for v in at.plan.further_baselines if v in variants]
    pairs += [(cell, leader, f"{at.label(cell)} against the {ahead.lower()}") for cell in further]
    done: set[frozenset[str]] = set()
    for cell, reference, name in pairs:
        if cell != reference and (both := frozenset((cell, reference))) not in done:
            done.add(both)
            for claim in _claim(at, cell, reference, name, at.metric):
                yield _with(claim, "default")


def _claim(at: Evidence, cell_id: str, ref_cell_id: str, name: str, metric: str) -> Iterator[Claim]:
    c = at.pair(cell_id, ref_cell_id, metric)
    if c is None:
        return
    claim = at.comparison(c, "contrast")
    values: dict[str, float | int | str] = {**claim.values, "name": name}
    mine, theirs = (at.amount(cell, metric) for cell in claim.cells)
    if metric != at.metric and mine and theirs:
        values["medians"] = f"medians {mine} and {theirs}"
    other = at.plan.variant(at.cells[ref_cell_id].variant_id)
    if at.plan.design == "one-at-a-time" and other.id != at.plan.baseline_id and other.describe:
        # The label of a single change need not say what was changed.
        claim = replace(claim, reference=f"{claim.reference} ({other.describe})")
    yield replace(claim, values=values)


def summary_claims(at: Evidence) -> Iterator[Claim]:
    """Yield the result of each input, then the lines of the summary, then the recommendations."""
    item = at.leading_input()
    for group in at.judgement.best:
        claim = best.main_claim(at, group)
        leading = item is not None and group.input_id == item.id
        yield replace(claim, values={**claim.values, "leading": 1}) if leading else claim
    special: list[Claim] = []
    if item is not None:
        special = next((claims for answer in ANSWERS if (claims := answer(at, item))), [])
        yield from special
        yield from best.used(at, item)
        yield from bullets.lines(at, item)
    yield from contrast_claims(at, answered=not special)
    yield from bullets.not_adopted(at, item)
    yield bullets.confidence(at)
    yield from best.recommendations(at)


def _text(claim: Claim) -> str:
    return str(claim.values["text"])


SUMMARY_SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "main": best.main_sentence,
    "nothing": best.nothing_sentence,
    "answer": _text,
    "use": _text,
    "summary": _text,
    "experiments": _text,
    "trust": _text,
    "contrast": contrast_text,
    "grouped": _text,
    "finding": _text,
    "recommendation": best.recommendation,
}
"""Kind of claim → the function that returns its sentence."""
