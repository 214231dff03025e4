"""The sentences of two records held against each other. Plain Python."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.claims import phrases
from bench_framework.claims.scope_phrases import where
from bench_framework.model.judgement import Claim, Comparison
from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Verdict
from bench_framework.units import THIN_SPACE, format_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench_framework.model.bridge import Bridge, BridgedCell

NOT_COMPARABLE: Final = "the times of these records are not comparable"


def claims(bridge: Bridge) -> tuple[Claim, ...]:
    """What may be said of the two records, anchors first; ids ``b1``, ``b2`` and so on."""
    numbered = (replace(claim, id=f"b{i}") for i, claim in enumerate(_claims(bridge), 1))
    return tuple(replace(claim, text=say(claim)) for claim in numbered)


def say(claim: Claim) -> str:
    """The sentence of a claim of a bridge, without a full stop. Raises `KeyError` for a kind that is none."""
    return SENTENCES[claim.kind](claim)


def moved(worst: Comparison, metric: str, count: int, of: int) -> str:
    """Why nothing is compared: the anchor that went furthest, with its figure."""
    what = "the anchor" if of == 1 else f"{count} of {of} anchors"
    shown = worst.shown
    if shown is None:
        return f"{what} could not be compared: {worst.reason or 'no figures'}"
    aspect = "" if metric == WALL else f" in {phrases.noun(metric)}"
    change = phrases.percent_change(shown.ratio, shown.lo, shown.hi, worst.margin, keep=False)
    furthest = change if of == 1 else f"the furthest {change}"
    if worst.verdict.decided:
        return f"{what} moved{aspect}: {furthest}"
    limit = format_percent(worst.margin)
    verb = "is" if of == 1 else "are"
    return f"{what} {verb} not shown to have moved by less than {limit}{aspect}: {furthest}"


def _claims(bridge: Bridge) -> Iterator[Claim]:
    if bridge.conditions:
        yield Claim(
            "",
            "conditions",
            "the machine",
            None,
            None,
            (),
            Verdict.NOT_COMPARABLE,
            values={"told": "; ".join(bridge.conditions)},
        )
    for row in bridge.cells:
        yield _claim(bridge, row)


def _claim(bridge: Bridge, row: BridgedCell) -> Claim:
    c = row.comparison
    shown = c.shown
    exact = c.statistic == "exact"
    values: dict[str, float | int | str] = {"before": bridge.before_id, "after": bridge.after_id}
    if c.reason:
        values["reason"] = c.reason
    if c.mde is not None:
        values["mde"] = c.mde
    kind = "exact" if exact else "anchor" if row.role == "anchor" else "across"
    return Claim(
        "",
        kind,
        row.label,
        None,
        c.metric,
        (("input", row.input),) if row.input else (),
        c.verdict,
        estimate=shown.ratio if shown else None,
        lo=shown.lo if shown else None,
        hi=shown.hi if shown else None,
        level=shown.level if shown else None,
        adjust=f"Holm over {bridge.family} comparisons" if kind == "across" else None,
        rounds=c.rounds,
        runs=c.runs,
        margin=c.margin,
        cells=(c.cell_id, c.ref_cell_id),
        values=values,
    )


def _change(claim: Claim) -> str:
    if claim.estimate is None or claim.lo is None or claim.hi is None:
        return ""
    keep = claim.verdict is not Verdict.INCONCLUSIVE
    return phrases.percent_change(
        claim.estimate, claim.lo, claim.hi, claim.margin or 0.0, keep=keep
    )


def _aspect(claim: Claim) -> str:
    return "" if claim.metric == WALL else f" in {phrases.noun(claim.metric)}"


def _conditions(claim: Claim) -> str:
    return f"The records were measured under other conditions ({claim.values['told']}): {NOT_COMPARABLE}"


def _anchor(claim: Claim) -> str:
    """R12: how far an anchor moved, and whether that is within the margin."""
    limit = format_percent(claim.margin or 0.0)
    if claim.estimate is None:
        why = claim.values.get("reason", "no figures")
        return f"{where(claim)}anchor {claim.subject} carries nothing{_aspect(claim)}: {why}"
    told = f"{where(claim)}anchor {claim.subject} moved {_change(claim)}{_aspect(claim)} between the records"
    if claim.verdict is Verdict.EQUIVALENT:
        return f"{told}, less than the margin of {limit}"
    if claim.verdict is Verdict.INCONCLUSIVE:
        return f"{told}, not shown to be less than the margin of {limit}: {NOT_COMPARABLE} by it"
    return f"{told}: {NOT_COMPARABLE} by it"


def _across(claim: Claim) -> str:
    name = f"{claim.subject} ({claim.values['after']})"
    earlier = f"{claim.subject} ({claim.values['before']})"
    named = replace(claim, subject=name, reference=earlier)
    if claim.verdict is Verdict.NOT_COMPARABLE:
        return f"{where(claim)}{claim.subject} is not compared{_aspect(claim)}: {claim.values['reason']}"
    if claim.verdict is Verdict.OTHER_OUTPUT:
        what = phrases.noun(claim.metric)
        return f"{where(claim)}{claim.subject} prints another result than before; its {what} is not compared"
    head = f"{where(claim)}Against the anchors of its record, exploratory: "
    if claim.verdict is Verdict.INCONCLUSIVE:
        return f"{head}{_inconclusive(named)}"
    return head + phrases.comparison(named)


def _inconclusive(claim: Claim) -> str:
    told = f"the runs do not decide between {claim.subject} and {claim.reference}{_aspect(claim)}"
    if change := _change(claim):
        told += f": {change}"
    if reason := claim.values.get("reason"):
        told += f"; {reason}"
    if (mde := claim.values.get("mde")) is not None:
        told += f"; a difference of {float(mde) * 100:.2g}{THIN_SPACE}% would have been found"
    return told


def _exact(claim: Claim) -> str:
    if claim.estimate == 1:
        return f"{claim.subject}: {phrases.noun(claim.metric)} is to the byte what it was"
    return f"{claim.subject}: {phrases.noun(claim.metric)} {_change(claim).split(' [')[0]}"


SENTENCES: Final[dict[str, Callable[[Claim], str]]] = {
    "conditions": _conditions,
    "anchor": _anchor,
    "across": _across,
    "exact": _exact,
}
"""Kind of claim → its wording rule."""
