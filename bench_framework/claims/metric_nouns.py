"""Words for a difference in a metric: less time, fewer instructions, higher requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from bench_framework.model.metrics import METRICS, WALL

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim, Comparison
    from bench_framework.model.policies import Metric

HIGHER = "higher"


class Frame(NamedTuple):
    """The words around a noun: ``uses … less memory``, ``n× as much memory as``."""

    verb: str
    less: str
    more: str
    times: str
    """The words between ``n×`` and the noun."""
    joint: str
    """The word between the noun and the reference, after ``n×``."""
    article: str = ""
    """The article before a percentage."""


_TIME = Frame("takes", "less", "more", "as much", "as")
_AMOUNT = Frame("uses", "less", "more", "as much", "as")
_NUMBER = Frame("has", "fewer", "more", "as many", "as")
_SIZE = Frame("has", "smaller", "larger", "the", "of", "a ")
_DECLARED = Frame("has", "lower", "higher", "the", "of")


def frame(metric: Metric | None) -> Frame:
    """Return the words for a metric.

    A metric that a worker or a scenario declares is called lower or higher, because it need not be
    an amount.
    """
    kind = METRICS.get(metric or WALL)
    if kind is None:
        return _DECLARED
    if kind.name in (WALL, "build_time"):
        return _TIME
    if kind.judged == "exact" and kind.unit == "bytes":
        return _SIZE
    return _NUMBER if kind.countable else _AMOUNT


def natural(claim: Claim) -> Claim:
    """Return a claim with its ratio as the candidate's value over the reference's value.

    A metric that is better when larger is judged by the inverse ratio, so a ratio below 1 is always
    better. A sentence states the ratio of the values themselves.
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
    """Return estimate and bounds of the candidate's value over the reference's value."""
    assert c.shown is not None
    return (c.shown.inverse if c.direction == HIGHER else c.shown).figures


def details(c: Comparison) -> dict[str, float | int | str]:
    """Return the direction of a claim's metric, and how often a deterministic one was counted."""
    values: dict[str, float | int | str] = {"direction": HIGHER} if c.direction == HIGHER else {}
    if c.family == "exact" and c.runs and c.shown is not None:
        often = f"{c.runs} times" if c.runs == c.runs_ref else f"{c.runs} and {c.runs_ref} times"
        varied = "with an interval from the spread of the counts"
        values["counted"] = (
            f"counted {often} each, {'the same every time' if c.shown.lo == c.shown.hi else varied}"
        )
        if max(c.runs, c.runs_ref) == 1:
            values["counted"] = "counted once each"
    return values


def tail(claim: Claim) -> str:
    """Return how often a deterministic metric was counted, as the end of a sentence."""
    return f"; {claim.values['counted']}" if "counted" in claim.values else ""
