"""The result of each input: which variant is best, and how it compares with the baseline."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bench_framework.claims import phrases
from bench_framework.claims.factory import other_metrics
from bench_framework.claims.value_phrases import upward, where
from bench_framework.features.summary.evidence import Evidence, leads, listed
from bench_framework.model.judgement import ONE_PROGRAM, BestGroup, Claim
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Cell
from bench_framework.model.verdict import Verdict

MOST_REASONS: Final = 3
"""The largest number of reasons in a sentence. The table has all of them."""
_REFUSED: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT, Verdict.NOT_COMPARABLE)


def main_claim(at: Evidence, group: BestGroup) -> Claim:
    """Return the claim about the best group of an input.

    It names the member with the best ratio, which is the first row of the table. Its comparison is
    that with the baseline; if it is the baseline, that of the next variant with the baseline.
    """
    baseline = at.plan.baseline_cell(group.input_id)
    if baseline is None or not at.is_conclusive(group):
        return Claim(
            "",
            "nothing",
            at.plan.question,
            metric=group.metric,
            scope=at.scope(group.input_id),
            cells=group.cell_ids,
            values={"reason": _inconclusive(at, group), **_other_metrics(at, group)},
        )
    leader, *others = at.leaders(group)
    behind = [c.id for c in at.compared(group.input_id) if c.id not in group.cell_ids]
    candidate = leader if leader != baseline.id else next(iter((*behind, *others)), leader)
    compared = at.pair(candidate, baseline.id, group.metric)
    members = listed(map(at.label, (leader, *others)))
    values: dict[str, float | int | str] = {"members": members, **at.choice()}
    if others:
        values["tied"] = listed(map(at.label, others))
        if common := _in_common(at, (leader, *others)):
            values["common"] = f"{'All of them' if len(others) > 1 else 'Both'} use {common}"
    if leader == baseline.id:
        values["base"] = 1
    if compared is None:
        return Claim(
            "",
            "main",
            at.label(leader),
            at.label(baseline.id),
            group.metric,
            at.scope(group.input_id),
            cells=(leader, *others),
            values=values,
        )
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
    scope = where(claim, ", ")
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
    scope = where(claim, ", ")
    head = f"{scope}nothing is conclusive" if scope else "Nothing is conclusive"
    if "elsewhere" not in claim.values:
        return f"{head}: {claim.values['reason']}"
    head += f" in {phrases.noun(claim.metric or WALL)}"
    return f"{head}: {claim.values['reason']}; {claim.values['elsewhere']}"


def _other_metrics(at: Evidence, group: BestGroup) -> dict[str, str]:
    """Return the significant differences from the baseline in CPU time or memory of an input."""
    baseline = at.plan.baseline_cell(group.input_id)
    text = other_metrics(
        c
        for c in at.judgement.comparisons
        if baseline is not None
        and c.ref_cell_id == baseline.id
        and c.metric != group.metric
        and c.family != "control"
    )
    return {"elsewhere": text} if text else {}


def _inconclusive(at: Evidence, group: BestGroup) -> str:
    """Return why an input has no conclusive comparison."""
    floor = at.floors.get((group.input_id, group.metric))
    if floor is not None and floor.tripped:
        return "the A/A check failed: the control differs from the identical baseline"
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
        return compared[0].reason
    reasons = [f"{at.label(c.cell_id)}: {c.reason}" for c in compared if c.reason]
    if reasons:
        more = [f"and {len(reasons) - MOST_REASONS} more"] if len(reasons) > MOST_REASONS else []
        return "; ".join([*reasons[:MOST_REASONS], *more])
    looks = at.judgement.looks
    if not looks.decidable:
        return f"{compared[0].rounds} rounds are too few for a significant result; {looks.needed} are needed"
    mde = max((c.mde for c in compared if c.mde is not None), default=None)
    if mde is None:
        return "no difference is significant"
    return phrases.detectable(upward(mde))
