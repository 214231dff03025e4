"""Phrases and sentences that several kinds of claims share: ratios, amounts, comparisons.

Each is a function of the claim's fields alone, so that a sentence can be made again from its claim.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.claims import metric_nouns, value_phrases
from bench_framework.model import words
from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import (
    LARGEST_RATIO,
    Rounded,
    decimal,
    rounded,
    thresholds,
    up_to_two_digits,
)
from bench_framework.units import MINUS, THIN_SPACE, format_duration, format_percent

if TYPE_CHECKING:
    from decimal import Decimal

    from bench_framework.model.judgement import Claim
    from bench_framework.model.policies import Metric

IN_SESSION: Final = "in_session"
"""Value of a claim about the commands of one session: they were not measured in rounds."""
TENTHS: Final = 3
"""Decimals of a ratio that is stated in tenths of a percent, as imported figures are."""
TIMES_FROM: Final = 1.5
"""From this factor on a ratio is told as "n×", below it as a percentage (R1)."""


def change(
    verdict: Verdict | None,
    estimate: float,
    lo: float,
    hi: float,
    margin: float,
    metric: str,
    *,
    higher: bool = False,
    percent: bool = False,
) -> str:
    """``"8.4 % less time [7.1, 9.7]"``, ``"2.0× as fast [1.9, 2.1]"``, ``"less than 2 % apart [−0.3, +1.1]"``.

    A ratio of a metric that is better when larger comes turned over, and is told of the values themselves (`higher`).
    `percent`: never "n×", for a list in which not every figure is that large (R1).
    """
    what, frame = words.noun(metric), metric_nouns.frame(metric)
    if higher:
        estimate, lo, hi = 1 / estimate, 1 / hi, 1 / lo
    if verdict is Verdict.EQUIVALENT:
        return f"less than {format_percent(margin)} apart in {what} {signed_bounds(estimate, lo, hi, margin)}"
    if verdict is None or not verdict.decided:
        return f"inconclusive in {what} {signed_bounds(estimate, lo, hi, margin, keep=False)}"
    if estimate >= TIMES_FROM and not percent:
        made = rounded(estimate, lo, hi, margin=margin, least=1)
        return f"{made.estimate}× {'as long' if metric == WALL else f'{frame.times} {what}'} [{made.lo}, {made.hi}]"
    if estimate <= 1 / TIMES_FROM and lo > 0 and metric == WALL and not percent:
        made = rounded(1 / estimate, 1 / hi, 1 / lo, margin=margin, least=1)
        return f"{made.estimate}× as fast [{made.lo}, {made.hi}]"
    made = rounded(estimate, lo, hi, margin=margin)
    less = made.hi < 1
    figures = [(1 - v) * 100 if less else (v - 1) * 100 for v in (made.estimate, made.lo, made.hi)]
    low, high = sorted(figures[1:])
    digits = made.decimals - 2
    return (
        f"{figures[0]:.{digits}f}{THIN_SPACE}% {frame.less if less else frame.more} {what} "
        f"[{low:.{digits}f}, {high:.{digits}f}]"
    )


def signed_bounds(
    estimate: float, lo: float, hi: float, margin: float, *, keep: bool = True
) -> str:
    """Return both bounds of a ratio as signed changes in percent, such as ``[−6.5, +3.2]``."""
    made = rounded(estimate, lo, hi, margin=margin, keep=keep)
    return f"[{_signed(made, made.lo)}, {_signed(made, made.hi)}]"


MOST_STATED: Final = 100_000
"""Rounds or runs above which no number is stated."""

FASTEST: Final = "in the fastest third of the rounds"


def noun(metric: Metric | None) -> str:
    """What a metric measures, in words; of elapsed time where a claim names none."""
    return words.noun(metric or WALL)


def percent_change(
    estimate: float, lo: float, hi: float, margin: float, *, least: int = 2, keep: bool = True
) -> str:
    """``"−1.8 % [−6.5, +3.2]"``: change of a ratio from 1, with its interval; `least`, `keep` as in `rounded`."""
    made = rounded(estimate, lo, min(hi, LARGEST_RATIO), margin=margin, least=least, keep=keep)
    upper = _signed(made, made.hi) if hi <= LARGEST_RATIO else "+∞"
    return f"{_signed(made, made.estimate)}{THIN_SPACE}% [{_signed(made, made.lo)}, {upper}]"


def _signed(made: Rounded, value: Decimal) -> str:
    shift = (value - 1) * 100
    if shift == 0:
        return f"{abs(shift):.{made.decimals - 2}f}"
    return f"{'+' if shift > 0 else MINUS}{abs(shift):.{made.decimals - 2}f}"


def _size(made: Rounded) -> str:
    """``"9.1 % [7.4, 10.7]"``: how much less or more, without a sign."""
    shown = [
        (1 - v) * 100 if made.hi < 1 else (v - 1) * 100 for v in (made.estimate, made.lo, made.hi)
    ]
    low, high = sorted(shown[1:])
    digits = made.decimals - 2
    return f"{shown[0]:.{digits}f}{THIN_SPACE}% [{low:.{digits}f}, {high:.{digits}f}]"


def _inner(made: Rounded) -> tuple[str, str]:
    """`_size` in two parts: the figure and the interval."""
    figure, bounds = _size(made).split(" [")
    return figure, f"[{bounds}"


def _times(claim: Claim) -> str | None:
    """The sentence on the "n×" scale; `None` where percentages are the scale."""
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    margin, what = claim.margin or 0.0, noun(claim.metric)
    if claim.estimate >= TIMES_FROM:
        made = rounded(claim.estimate, claim.lo, claim.hi, margin=margin, least=1)
        frame = metric_nouns.frame(claim.metric)
        rest = "as long as" if claim.metric == WALL else f"{frame.times} {what} {frame.joint}"
        verb = "takes" if claim.metric == WALL else frame.verb
        return f"{claim.subject} {verb} {made.estimate}× {rest} {claim.reference} [{made.lo}, {made.hi}]"
    if claim.estimate <= 1 / TIMES_FROM and claim.metric == WALL and claim.lo > 0:
        made = rounded(1 / claim.estimate, 1 / claim.hi, 1 / claim.lo, margin=margin, least=1)
        return f"against {claim.reference}, {claim.subject} is {made.estimate}× as fast [{made.lo}, {made.hi}]"
    return None


def _difference(claim: Claim) -> str:
    """A decided comparison."""
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    margin, what = claim.margin or 0.0, noun(claim.metric)
    made = rounded(claim.estimate, claim.lo, claim.hi, margin=margin)
    verb, less, more = metric_nouns.frame(claim.metric)[:3]
    way = less if made.hi < 1 else more
    subject, reference, limit = claim.subject, claim.reference, format_percent(margin)
    figure, bounds = _inner(made)
    if claim.verdict in (Verdict.BETTER, Verdict.WORSE):
        return _times(claim) or f"{subject} {verb} {figure} {way} {what} than {reference} {bounds}"
    low, _, high = (decimal(t) for t in thresholds(margin))
    if low < made.lo and made.hi < high:
        return (
            f"{subject} {verb} {figure} {way} {what} than {reference} {bounds}, "
            f"less than the margin of {limit}"
        )
    return f"{subject} {verb} {way} {what} than {reference}, perhaps by less than {limit}: {figure} {bounds}"


def _all_rounds(claim: Claim) -> str:
    """What all rounds say, after a sentence that the fastest third of them decided."""
    told = [claim.values.get(name) for name in ("typical", "typical_lo", "typical_hi")]
    ratio, lo, hi = (None if v is None else float(v) for v in told)
    if ratio is None or lo is None or hi is None:
        return ""
    return f"; over all rounds {percent_change(ratio, lo, hi, 0.0, keep=False)}"


def _equivalent(claim: Claim) -> str:
    assert claim.estimate is not None
    assert claim.lo is not None
    assert claim.hi is not None
    margin = claim.margin or 0.0
    aspect = "" if claim.metric == WALL else f" in {noun(claim.metric)}"
    change = percent_change(claim.estimate, claim.lo, claim.hi, margin)
    bounds = "" if claim.lo == claim.hi == 1 else " " + change[change.index("[") :]
    return f"{claim.subject} and {claim.reference} differ by less than {format_percent(margin)}{aspect}{bounds}"


def _inconclusive(claim: Claim) -> str:
    aspect = "" if claim.metric == WALL else f" in {noun(claim.metric)}"
    parts = [f"The runs do not decide between {claim.subject} and {claim.reference}{aspect}"]
    if claim.estimate is not None and claim.lo is not None and claim.hi is not None:
        bounds, least = (
            (claim.estimate, claim.lo, claim.hi),
            TENTHS if IN_SESSION in claim.values else 2,
        )
        parts[0] += f": {percent_change(*bounds, claim.margin or 0.0, least=least, keep=False)}"
    if reason := claim.values.get("reason"):
        parts.append(str(reason))
    if (mde := claim.values.get("mde")) is not None:
        parts.append(f"a difference of {value_phrases.upward(float(mde))} would have been found")
        parts += _needed(claim)
    if likely := claim.values.get("runs_at_estimate"):
        runs = _about(int(likely), "runs per command")
        parts.append(f"this one would be decided by {runs} in 4 of 5 tries, if the estimate held")
    return "; ".join(parts)


def _needed(claim: Claim) -> list[str]:
    limit, needed = format_percent(claim.margin or 0.0), claim.values.get("rounds_needed")
    if needed is None:
        return [f"one of {limit} cannot be found with this method on this machine"]
    if int(needed) <= (claim.rounds or 0):
        return []
    unit = "runs per command" if IN_SESSION in claim.values else "rounds"
    return [f"one of {limit} would need {_about(int(needed), unit)}"]


def _about(count: int, unit: str) -> str:
    if count > MOST_STATED:
        return f"more than {MOST_STATED} {unit}"
    return f"about {int(up_to_two_digits(float(count)))} {unit}"


def _other_output(claim: Claim) -> str:
    what = noun(claim.metric)
    return (
        f"{claim.subject} prints another result than {claim.reference}; its {what} is not compared"
    )


def _refused(claim: Claim) -> str:
    verdict = words.word(claim.verdict or Verdict.FAILED, WALL)
    reason = claim.values.get("reason", "")
    return f"{claim.subject}: {verdict}" + (f" ({reason})" if reason else "")


def comparison(claim: Claim) -> str:
    """Return the sentence of a comparison, for every verdict."""
    verdict, claim = claim.verdict, metric_nouns.natural(claim)
    assert verdict is not None
    if claim.values.get("reason") == ONE_PROGRAM:
        return _one_program(claim)
    if verdict.decided:
        cost = f", {claim.values['cost']}" if "cost" in claim.values else ""
        if claim.values.get("statistic") == "floor":
            return f"{FASTEST}, {_difference(claim)}{cost}{_all_rounds(claim)}"
        return f"{_difference(claim)}{cost}{metric_nouns.tail(claim)}"
    if verdict is Verdict.EQUIVALENT:
        return f"{_equivalent(claim)}{metric_nouns.tail(claim)}"
    if verdict is Verdict.INCONCLUSIVE:
        return _inconclusive(claim)
    if verdict is Verdict.SINGLE_RUN:
        return single_run(claim)
    return _other_output(claim) if verdict is Verdict.OTHER_OUTPUT else _refused(claim)


def _one_program(claim: Claim) -> str:
    """Two names of one program: the figures, and no word about a difference."""
    aspect = "" if claim.metric == WALL else f" in {noun(claim.metric)}"
    told = f"{claim.subject} and {claim.reference} are {ONE_PROGRAM}{aspect}"
    if claim.estimate is None or claim.lo is None or claim.hi is None:
        return told
    return f"{told}: {percent_change(claim.estimate, claim.lo, claim.hi, claim.margin or 0.0, keep=False)}"


def single_run(claim: Claim) -> str:
    """Return which side ran once, with the value of the candidate where that is the one."""
    if claim.values.get("runs_ref") == 1 and claim.runs != 1:
        return f"{claim.reference} was run once: no verdict on {claim.subject}"
    value = claim.values.get("value")
    if value is None:
        return f"{claim.subject} was run once: a value without a verdict"
    size = (
        value_phrases.size(float(value), "iec")
        if claim.metric == PEAK_RSS
        else format_duration(float(value))
    )
    return f"{claim.subject} was run once: a value ({size}) without a verdict"
