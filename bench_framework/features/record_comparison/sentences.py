"""The sentences of a comparison of two records."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from bench_framework.claims import phrases
from bench_framework.features.record_comparison.anchors import Bridge, BridgedCell
from bench_framework.model.facts import Claim
from bench_framework.model.judgement import Comparison
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.text.figures import percent_change
from bench_framework.text.names import scope_of
from bench_framework.text.numbers import format_percent, percent_up
from bench_framework.text.reasons import phrase

Values = dict[str, float | int | str]
NOT_COMPARABLE: Final = "the times of these records are not comparable"


def claims(bridge: Bridge) -> tuple[Claim, ...]:
    """Return the claims about two records, anchors first, with the ids ``b1``, ``b2`` and so on."""
    numbered = (replace(claim, id=f"b{i}") for i, claim in enumerate(_claims(bridge), 1))
    return tuple(replace(claim, text=say(claim)) for claim in numbered)


def say(claim: Claim) -> str:
    """Return the sentence of a claim, without a full stop. Raises `KeyError`: unknown kind."""
    return SENTENCES[claim.kind](claim)


def moved(worst: Comparison, metric: str, count: int, total: int) -> str:
    """Return why nothing is compared: the anchor with the largest change, with its figure."""
    what = "the anchor" if total == 1 else f"{count} of {total} anchors"
    interval = worst.shown
    if interval is None:
        return f"{what} could not be compared: {phrase(worst.reason) or 'no figures'}"
    aspect = "" if metric == WALL else f" in {phrases.noun(metric)}"
    change = percent_change(*interval.figures, worst.thresholds.margin, keep=False)
    largest = change if total == 1 else f"the largest change is {change}"
    if worst.verdict.decided:
        return f"{what} changed{aspect}: {largest}"
    limit = format_percent(worst.thresholds.margin)
    return f"{what} may have changed by {limit} or more{aspect}: {largest}"


def _claims(bridge: Bridge) -> Iterator[Claim]:
    if bridge.conditions:
        values: Values = {"differences": "; ".join(bridge.conditions), "forced": int(bridge.forced)}
        verdict = Verdict.NOT_COMPARABLE
        yield Claim("", "conditions", "the machine", verdict=verdict, values=values)
    yield from (_claim(bridge, row) for row in bridge.cells)


def _claim(bridge: Bridge, row: BridgedCell) -> Claim:
    c = row.comparison
    exact = c.statistic == "exact"
    values: Values = {"before": bridge.before_id, "after": bridge.after_id}
    if c.mde is not None:
        values["mde"] = c.mde
    kind = "exact" if exact else "anchor" if row.role == "anchor" else "across"
    return Claim(
        "",
        kind,
        row.label,
        metric=c.metric,
        scope=(("input", row.input),) if row.input else (),
        verdict=c.verdict,
        adjust=f"Holm over {bridge.family} comparisons" if kind == "across" else None,
        rounds=c.rounds,
        runs=c.runs,
        margin=c.thresholds.margin,
        cells=(c.cell_id, c.ref_cell_id),
        reason=c.reason,
        values=values,
    ).with_interval(c.shown)


def _change(claim: Claim) -> str:
    if claim.figures is None:
        return ""
    keep = claim.verdict is not Verdict.INCONCLUSIVE
    return percent_change(*claim.figures, claim.margin or 0.0, keep=keep)


def _conditions(claim: Claim) -> str:
    differences = claim.values["differences"]
    if claim.values.get("forced"):
        return (
            f"Different machines, compared because of --force ({differences}): a change between the "
            "records may be that of the machine"
        )
    return f"The records were measured under different conditions ({differences}): {NOT_COMPARABLE}"


def _anchor(claim: Claim) -> str:
    """Return the change of an anchor, and whether it is within the margin."""
    limit = format_percent(claim.margin or 0.0)
    if claim.estimate is None:
        text = f"{scope_of(claim)}anchor {claim.subject} cannot be used{phrases.aspect(claim)}"
        return f"{text}: {phrase(claim.reason) or 'no figures'}"
    change = f"{_change(claim)}{phrases.aspect(claim)} between the records"
    text = f"{scope_of(claim)}anchor {claim.subject} changed by {change}"
    if claim.verdict is Verdict.EQUIVALENT:
        return f"{text}, less than the margin of {limit}"
    if claim.verdict is Verdict.INCONCLUSIVE:
        return f"{text}, possibly more than the margin of {limit}: {NOT_COMPARABLE} through it"
    return f"{text}: {NOT_COMPARABLE} through it"


def _across(claim: Claim) -> str:
    name = f"{claim.subject} ({claim.values['after']})"
    earlier = f"{claim.subject} ({claim.values['before']})"
    record_claim = replace(claim, subject=name, reference=earlier)
    if claim.verdict is Verdict.NOT_COMPARABLE:
        what = f"{claim.subject} is not compared{phrases.aspect(claim)}"
        return f"{scope_of(claim)}{what}: {phrase(claim.reason)}"
    if claim.verdict is Verdict.OTHER_OUTPUT:
        return f"{scope_of(claim)}{phrases.other_output(claim, 'before')}"
    head = f"{scope_of(claim)}exploratory, relative to the anchors of each record: "
    if claim.verdict is Verdict.INCONCLUSIVE:
        return f"{head}{_inconclusive(record_claim)}"
    return head + phrases.comparison(record_claim)


def _inconclusive(claim: Claim) -> str:
    text = f"{claim.subject} vs {claim.reference} is inconclusive{phrases.aspect(claim)}"
    mde, change = claim.values.get("mde"), _change(claim)
    limit = phrases.detectable(percent_up(float(mde))) if mde is not None else ""
    reason = phrase(claim.reason)
    return "; ".join(filter(None, (f"{text}: {change}" if change else text, reason, limit)))


def _exact(claim: Claim) -> str:
    if claim.estimate == 1:
        return f"{claim.subject}: {phrases.noun(claim.metric)} is unchanged to the byte"
    return f"{claim.subject}: {phrases.noun(claim.metric)} {_change(claim).split(' [')[0]}"


SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "conditions": _conditions,
    "anchor": _anchor,
    "across": _across,
    "exact": _exact,
}
"""Kind of claim → the function that returns its sentence."""
