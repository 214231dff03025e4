"""How a difference in a metric is told: less time, fewer instructions, higher requests. Plain Python."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bench_framework.model.metrics import METRICS, WALL

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim, Comparison
    from bench_framework.model.policies import Metric

HIGHER = "higher"


class Frame(NamedTuple):
    """The words around a noun: ``needs … less time``, ``n× as much memory as``."""

    verb: str
    less: str
    more: str
    times: str
    """Before the noun, behind ``n×``."""
    joint: str
    """Between the noun and the reference, behind ``n×``."""


_AMOUNT = Frame("needs", "less", "more", "as much", "as")
_NUMBER = Frame("needs", "fewer", "more", "as many", "as")
_OWN = Frame("has", "lower", "higher", "the", "of")


def frame(metric: Metric | None) -> Frame:
    """The words for a metric; a worker's or a scenario's own is lower or higher, as it may be no amount of anything."""
    kind = METRICS.get(metric or WALL)
    if kind is None:
        return _OWN
    return _NUMBER if kind.countable else _AMOUNT


def natural(claim: Claim) -> Claim:
    """A claim with its ratio as the candidate's value over the reference's.

    A metric that is better when larger is judged by the inverse, so that below 1 is always better; a sentence tells
    the values themselves.
    """
    if claim.values.get("direction") != HIGHER:
        return claim
    values = {**claim.values}
    for name, other in (
        ("typical", "typical"),
        ("typical_lo", "typical_hi"),
        ("typical_hi", "typical_lo"),
    ):
        if other in claim.values:
            values[name] = 1 / float(claim.values[other])
    if claim.estimate is None or not claim.lo or not claim.hi:
        return replace(claim, values=values)
    return replace(
        claim, estimate=1 / claim.estimate, lo=1 / claim.hi, hi=1 / claim.lo, values=values
    )


def natural_ratio(c: Comparison) -> tuple[float, float, float]:
    """Estimate and bounds of a comparison's ratio as the candidate's value over the reference's."""
    assert c.shown is not None
    shown = c.shown
    if c.direction != HIGHER:
        return shown.ratio, shown.lo, shown.hi
    return 1 / shown.ratio, 1 / shown.hi, 1 / shown.lo if shown.lo > 0 else float("inf")


def details(c: Comparison) -> dict[str, float | int | str]:
    """What a claim's values say of its metric beyond the name."""
    found: dict[str, float | int | str] = {"direction": HIGHER} if c.direction == HIGHER else {}
    if c.family == "exact" and c.runs and c.shown is not None:
        often = f"{c.runs} times" if c.runs == c.runs_ref else f"{c.runs} and {c.runs_ref} times"
        varied = "with an interval from how far the counts lie apart"
        found["counted"] = (
            f"counted {often} each, {'the same every time' if c.shown.lo == c.shown.hi else varied}"
        )
        if max(c.runs, c.runs_ref) == 1:
            found["counted"] = "counted once each"
    return found


def tail(claim: Claim) -> str:
    """How often it was counted, after the sentence of a deterministic metric."""
    return f"; {claim.values['counted']}" if "counted" in claim.values else ""
