"""Words for a difference in a metric: less time, fewer instructions, higher requests."""

from dataclasses import replace
from typing import NamedTuple

from bench_framework.model.facts import Claim
from bench_framework.model.judgement import Comparison
from bench_framework.model.metrics import METRICS, WALL
from bench_framework.model.policies import Metric
from bench_framework.model.verdict import Verdict

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
    if kind.elapsed:
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
    if claim.estimate is None or not claim.lo or not claim.hi:
        return claim
    return replace(claim, estimate=1 / claim.estimate, lo=1 / claim.hi, hi=1 / claim.lo)


def typical(c: Comparison) -> dict[str, float | int | str]:
    """Return the typical ratio and its 95 % interval for the values of a claim, if they differ."""
    interval = c.typical
    if c.statistic != "typical" or c.shown is None or interval is None or not interval.bounded:
        return {}
    figures = zip(("typical", "typical_lo", "typical_hi"), interval.figures, strict=True)
    return dict(figures) if interval.figures != c.shown.figures else {}


def plain(claim: Claim) -> Claim:
    """Return a claim with the figures that sentences print: those of the 95 % interval.

    An equivalent pair keeps the interval of its test if the 95 % interval is not within the margin.
    """
    if "typical" not in claim.values:
        return claim
    ratio, lo, hi = (float(claim.values[n]) for n in ("typical", "typical_lo", "typical_hi"))
    limit = 1 + (claim.margin or 0.0)
    if claim.verdict is Verdict.EQUIVALENT and not 1 / limit < lo <= hi < limit:
        return claim
    return replace(claim, estimate=ratio, lo=lo, hi=hi, level=0.95)


def natural_ratio(c: Comparison) -> tuple[float, float, float]:
    """Return estimate and bounds of the candidate's value over the reference's value."""
    assert c.shown is not None
    return (c.shown.inverse if c.direction == HIGHER else c.shown).figures


def details(c: Comparison) -> dict[str, float | int | str]:
    """Return the direction of a claim's metric, and how often a deterministic one was counted."""
    values: dict[str, float | int | str] = {"direction": HIGHER} if c.direction == HIGHER else {}
    if c.family == "exact" and c.runs and c.shown is not None:
        often = f"{c.runs} times" if c.runs == c.runs_ref else f"{c.runs} and {c.runs_ref} times"
        spread = "the same every time"
        if c.shown.lo != c.shown.hi:
            spread = "with an interval from the spread of the counts"
        once = max(c.runs, c.runs_ref) == 1
        values["counted"] = "counted once each" if once else f"counted {often} each, {spread}"
    return values


def tail(claim: Claim) -> str:
    """Return how often a deterministic metric was counted, as the end of a sentence."""
    return f"; {claim.values['counted']}" if "counted" in claim.values else ""
