"""The best variant of each input: how it compares with the baseline, and which one to use.

If the best variants do not differ significantly, a tie-break chooses the recommended one.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from bench_framework.claims import phrases
from bench_framework.claims.factory import other_metrics
from bench_framework.compare.cell_state import baseline_failure
from bench_framework.features.changed_settings import changed_settings
from bench_framework.features.summary.evidence import CLOSE, Evidence, leads, listed, statement
from bench_framework.model.facts import Claim
from bench_framework.model.judgement import BestGroup
from bench_framework.model.metrics import CPU, PEAK_RSS, WALL
from bench_framework.model.plan import Cell, Input
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.verdict import Verdict
from bench_framework.text.names import scope_of
from bench_framework.text.numbers import percent_up
from bench_framework.text.reasons import phrase
from bench_framework.units import every

LEAST: Final = "the least memory"
Values = dict[str, float | int | str]
MOST_REASONS: Final = 3
"""The largest number of reasons in a sentence. The table has all of them."""
_REFUSED: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT, Verdict.NOT_COMPARABLE)


def main_claim(at: Evidence, group: BestGroup) -> Claim:
    """Return the claim about the best group of an input.

    It names the member with the best ratio, which is the first row of the table. Its comparison is
    that with the baseline; if it is the baseline, that of the next variant with the baseline.
    """
    baseline = at.plan.baseline_cell(group.input_id)
    metric, scope = group.metric, at.scope(group.input_id)
    if baseline is None or not at.is_conclusive(group):
        other_results = other_metrics(
            c
            for c in at.judgement.comparisons
            if baseline is not None
            and c.ref_cell_id == baseline.id
            and c.metric != metric
            and c.family != "control"
        )
        values: Values = {"reason": _inconclusive(at, group)}
        values |= {"elsewhere": other_results} if other_results else {}
        question, cells = at.plan.question, group.cell_ids
        return Claim(
            "", "nothing", question, metric=metric, scope=scope, cells=cells, values=values
        )
    leader, *others = at.leaders(group)
    compared_ids = (c.id for c in at.compared(group.input_id) if not at.is_duplicate(c.id))
    behind = [c for c in compared_ids if c not in group.cell_ids]
    candidate = leader if leader != baseline.id else next(iter((*behind, *others)), leader)
    compared = at.pair(candidate, baseline.id, metric)
    values = {"members": listed(map(at.label, (leader, *others))), **at.choice()}
    if others:
        values["tied"] = listed(map(at.label, others))
        if common := _in_common(at, (leader, *others)):
            values["common"] = f"{'All of them' if len(others) > 1 else 'Both'} use {common}"
    if leader == baseline.id:
        values["base"] = 1
    claim = Claim("", "main", at.label(leader), at.label(baseline.id), metric, scope)
    if compared is not None:
        claim = at.comparison(compared, "main")
    cells = tuple(dict.fromkeys((leader, *claim.cells, *others)))
    return replace(claim, cells=cells, values={**claim.values, **values})


def _in_common(at: Evidence, members: Sequence[str]) -> str:
    """Return the axis values that all of these cells have and other compared cells have not.

    In other designs than the full one, most variants share most values.
    """
    if at.plan.design != "full":
        return ""

    def values_of(cell: Cell) -> dict[str, str]:
        return dict(at.plan.variant(cell.variant_id).values)

    compared = [values_of(cell) for cell in at.compared(at.cells[members[0]].input_id)]
    chosen = [values_of(at.cells[member]) for member in members]
    return listed(
        f"{axis}={value}"
        for axis, value in chosen[0].items()
        if all(values[axis] == value for values in chosen)
        and any(values[axis] != value for values in compared)
    )


def main_sentence(claim: Claim) -> str:
    """Return ``"on 2 MB, a is fastest: it is 2.0× faster than c [1.8, 2.2]"``.

    If the fastest variants have axis values in common, a second sentence names them.
    """
    text = _result(claim)
    return f"{text}. {claim.values['common']}" if "common" in claim.values else text


def _result(claim: Claim) -> str:
    scope = scope_of(claim)
    if "among" in claim.values:
        scope += f"{'among' if scope else 'Among'} the variants with {claim.values['among']}, "
    best = "fastest" if claim.metric == WALL else f"best in {phrases.noun(claim.metric)}"
    decided = claim.verdict is not None and claim.verdict.decided
    if "base" in claim.values:
        text = f"{scope}{claim.reference}, the baseline, is {best}"
        if "tied" in claim.values:
            text += f", with no significant difference from {claim.values['tied']}"
        if not decided:
            return text
        return f"{text}. The next variant, {claim.subject}, {phrases.predicate(claim)}"
    members = str(claim.values["members"])
    first = f"{scope}{members} {'are' if 'tied' in claim.values else 'is'} {best}"
    if decided and claim.verdict is not None and claim.verdict.better:
        # The page of an imported set has no separate line on the cost.
        whole = {"cost", phrases.IN_SESSION} <= set(claim.values)
        cost = f", {claim.values['cost']}" if whole else ""
        return f"{scope}{leads(claim.subject, members, best)} {phrases.predicate(claim)}{cost}"
    if claim.verdict is None or claim.figures is None:
        return first
    if decided:
        return f"{first} by the estimate, but {claim.subject} {phrases.predicate(claim)}"
    faster = "faster" if claim.metric == WALL else "better"
    return (
        f"{scope}no variant is significantly {faster} than {claim.reference}, the baseline. "
        f"{claim.subject} has the best estimate: {phrases.effect(claim)}"
    )


def nothing_sentence(claim: Claim) -> str:
    """Return why no comparison of an input has a verdict."""
    scope = scope_of(claim)
    head = f"{scope}nothing is conclusive" if scope else "Nothing is conclusive"
    if "elsewhere" not in claim.values:
        return f"{head}: {claim.values['reason']}"
    head += f" in {phrases.noun(claim.metric or WALL)}"
    return f"{head}: {claim.values['reason']}; {claim.values['elsewhere']}"


def _inconclusive(at: Evidence, group: BestGroup) -> str:
    """Return why an input has no conclusive comparison."""
    floor = at.floors.get((group.input_id, group.metric))
    if floor is not None and floor.tripped:
        return "the A/A check failed: the control differs from the identical baseline"
    if failure := baseline_failure(at.plan, at.judgement.states, group.input_id):
        return failure
    compared = [
        c
        for c in at.judgement.comparisons
        if c.metric == group.metric
        and c.family == "headline"
        and at.cells[c.cell_id].input_id == group.input_id
    ]
    compared = [c for c in compared if c.reason != ONE_PROGRAM] or compared
    if not compared:
        return "there is nothing to compare"
    if (
        compared[0].reason
        and len({c.reason for c in compared}) == 1
        and not any(c.verdict in _REFUSED for c in compared)
    ):
        return phrase(compared[0].reason)
    reasons = [f"{at.label(c.cell_id)}: {phrase(c.reason)}" for c in compared if c.reason]
    if reasons:
        more = [f"and {len(reasons) - MOST_REASONS} more"] if len(reasons) > MOST_REASONS else []
        return "; ".join([*reasons[:MOST_REASONS], *more])
    looks = at.judgement.looks
    if not looks.decidable:
        return f"{compared[0].rounds} rounds are too few for a significant result; {looks.needed} are needed"
    mde = max((c.mde for c in compared if c.mde is not None), default=None)
    if mde is None:
        return "no difference is significant"
    return phrases.detectable(percent_up(mde))


def recommendations(at: Evidence) -> Iterator[Claim]:
    """Yield the variant to use on each input, or on all inputs if it is the same."""
    if at.plan.revisions is not None:
        return  # Two revisions of one program are not a choice between variants.
    chosen = [
        (group, *_choice(at, group))
        for group in at.judgement.best
        if group.cell_ids and any(c.verdict.decided for c in group.comparisons)
    ]
    claims = [_claim(at, *choice) for choice in chosen]
    alike = {
        (c.subject, c.values.get("tied"), c.values["why"], "beats" in c.values) for c in claims
    }
    if len(alike) == 1 and len(claims) == len(at.plan.inputs) > 1:
        yield replace(claims[0], scope=(), values={**claims[0].values, "inputs": len(claims)})
        return
    for claim in claims:
        if claim.values["why"] == LEAST and (size := at.amount(claim.cells[0])):
            yield replace(claim, values={**claim.values, "size": size})
        else:
            yield claim


def used(at: Evidence, item: Input) -> Iterator[Claim]:
    """Yield how the recommended variant of an input is built and run, unlike the baseline.

    Nothing is yielded for another program than the baseline's, or if the label states the settings.
    """
    baseline = at.plan.baseline_cell(item.id)
    claim = next((c for c in recommendations(at) if c.scope in ((), at.scope(item.id))), None)
    if claim is None or baseline is None or claim.cells[0] == baseline.id:
        return
    cell = at.cells[claim.cells[0]]
    settings = changed_settings(at.plan, baseline, cell)
    if not settings or claim.subject in settings or cell.command[:1] != baseline.command[:1]:
        return  # A label such as ``lto=fat`` is the setting.
    text = f"{scope_of(claim)}use {claim.subject}: {settings}"
    text += ". Other settings as in the baseline"
    first, chosen = (at.plan.variant(c.variant_id).values for c in (baseline, cell))
    if same := [f"{axis} {value}" for axis, value in chosen if (axis, value) in first]:
        text += f": {', '.join(same)}"
    if reason := claim.values["why"]:
        text += f". Of the {at.best} variants, it has {reason}"
    yield statement("use", claim.subject, text, lead="Recommendation")


def _claim(at: Evidence, group: BestGroup, cell: str, reason: str) -> Claim:
    tied = [c for c in at.leaders(group) if c != cell]
    baseline = at.plan.baseline_cell(group.input_id)
    values: Values = {"why": reason, **at.choice()}
    if tied:
        values["tied"] = listed(map(at.label, tied))
    if baseline is not None and baseline.id == cell:
        values["base"] = 1
    others = [c.id for c in at.compared(group.input_id) if c.id != cell]
    pairs = [at.pair(cell, other, group.metric) for other in others]
    if all(pair is not None and pair.verdict.better for pair in pairs):
        values["beats"] = 1
    scope, cells = at.scope(group.input_id), (cell, *tied)
    claim = Claim("", "recommendation", at.label(cell), metric=group.metric, scope=scope)
    return replace(claim, cells=cells, values=values)


def _choice(at: Evidence, group: BestGroup) -> tuple[str, str]:
    """Return the recommended member of a best group, and the reason if it is not the only one.

    Members that do not differ significantly are compared by measured memory, then CPU time, then
    number of dependencies; the fastest one is chosen if all of these are equal.
    """
    left = at.leaders(group)
    if len(left) == 1:
        return left[0], ""
    for name, values in (
        (LEAST, {c: at.medians.get((c, PEAK_RSS)) for c in left}),
        ("the least CPU time", {c: at.medians.get((c, CPU)) for c in left}),
        ("the fewest dependencies", {c: _dependencies(at, c) for c in left}),
    ):
        known = {c: v for c in left if (v := values.get(c)) is not None}
        if len(known) == len(left):
            limit = min(known.values()) * CLOSE
            left = [c for c in left if known[c] <= limit]
            if len(left) == 1:
                return left[0], name
    return left[0], "the best estimate"


def _dependencies(at: Evidence, cell_id: str) -> float | None:
    build = at.builds.get(at.plan.variant(at.cells[cell_id].variant_id).build_id)
    count = build.dependencies if build is not None else None
    return None if count is None else float(count) or math.ulp(0.0)


def recommendation(claim: Claim) -> str:
    """Return the recommendation: ``"use a: not significantly slower than b, and …"``."""
    place = scope_of(claim)
    if "inputs" in claim.values:
        place = f"on {every(int(claim.values['inputs']), 'input')}, "
    keep = "keep" if "base" in claim.values else "use"
    base = ", the baseline" if "base" in claim.values else ""
    head = f"{place}{keep} {claim.subject}{base}"
    if "tied" not in claim.values:
        best = "faster" if claim.metric == WALL else f"better in {phrases.noun(claim.metric)}"
        other = "other variant"
        if "among" in claim.values:
            other += f" with {claim.values['among']}"
        if "beats" in claim.values:
            return f"{head}: it is significantly {best} than every {other}"
        return f"{head}: no {other} is significantly {best}"
    same = f"it is not significantly slower than {claim.values['tied']}"
    if claim.metric != WALL:
        same = f"it is not significantly worse in {phrases.noun(claim.metric)} than {claim.values['tied']}"
    size = f" ({claim.values['size']})" if "size" in claim.values else ""
    group = "these variants" if claim.cells[2:] else "the two"
    return f"{head}: {same}. Of {group}, it has {claim.values['why']}{size}"
