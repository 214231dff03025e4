"""Phrases and sentences that several kinds of claims share: ratios, amounts, comparisons.

Each function depends only on the fields of the claim, so a sentence can be rebuilt from its claim.
Percentages of elapsed time are percentages of the reference's time: 9 % less time is a ratio of
0.91. From 1.5× on, a sentence states the speedup or slowdown as a factor.
"""

from collections.abc import Iterable
from typing import Final

from bench_framework.claims import metric_nouns
from bench_framework.model import words
from bench_framework.model.facts import Claim
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.policies import Metric
from bench_framework.model.reasons import CONTROL_DIFFERS, ONE_PROGRAM, REACHES_ONE
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import (
    Rounded,
    decimal,
    rounded,
    three_digits,
    thresholds,
    up_to_two_digits,
)
from bench_framework.text.figures import factor, percent_change
from bench_framework.text.numbers import (
    TIMES_FROM,
    fixed,
    format_duration,
    format_percent,
    percent_up,
    show_size,
    signed_change,
)
from bench_framework.text.reasons import phrase
from bench_framework.units import THIN_SPACE

IN_SESSION: Final = "in_session"
"""Key of a claim about the commands of one session, which were not measured in rounds."""
TENTHS: Final = 3
"""Decimals of a ratio that is stated in tenths of a percent, as imported figures are."""


def change(
    verdict: Verdict | None,
    estimate: float,
    lo: float,
    hi: float,
    margin: float,
    metric: str,
    *,
    higher: bool = False,
    times_from: float = TIMES_FROM,
) -> str:
    """Return a compared ratio as an entry of a list.

    Examples are ``"8.4 % less time [7.1, 9.7]"``, ``"2.0× faster [1.9, 2.1]"`` and ``"equivalent in
    time (within ±2 %) [−0.3 %, +1.1 %]"``.

    `estimate` is the ratio candidate ÷ reference, or with `higher` its inverse. A `verdict` of
    `None` reads as inconclusive. `times_from` is the factor from which on "n×" is used, so that all
    figures of a list have one scale.
    """
    what, frame = words.noun(metric), metric_nouns.frame(metric)
    if higher:
        estimate, lo, hi = 1 / estimate, 1 / hi, 1 / lo
    if verdict is Verdict.EQUIVALENT:
        bounds = signed_bounds(estimate, lo, hi, margin)
        return f"equivalent in {what} (within ±{format_percent(margin)}) {bounds}"
    if verdict is None or not verdict.decided:
        corrected = "" if lo <= 1 <= hi else f", {words.CORRECTED}"
        bounds = signed_bounds(estimate, lo, hi, margin, keep=False)
        return f"inconclusive in {what} {bounds}{corrected}"
    if times := _times(metric, estimate, lo, hi, margin, times_from):
        return " ".join(times)
    ratio = _percentage(estimate, lo, hi, margin)
    figure, bounds = _figure_and_bounds(ratio)
    return f"{figure} {frame.less if ratio.hi < 1 else frame.more} {what} {bounds}"


def _percentage(estimate: float, lo: float, hi: float, margin: float) -> Rounded:
    """Round a ratio that is printed as a percentage to at most three significant digits."""
    return rounded(estimate, lo, hi, margin=margin, most=2 + three_digits(100 * abs(estimate - 1)))


def one_scale(claims: Iterable[Claim]) -> float:
    """Return the factor from which on "n×" is used, so that a list of comparisons has one scale."""
    ratios = [c.estimate for c in claims if c.estimate is not None]
    return 1.0 if any(max(r, 1 / r) >= TIMES_FROM for r in ratios) else TIMES_FROM


def effect(claim: Claim, times_from: float = TIMES_FROM) -> str:
    """Return the comparison of a claim as an entry of a list, with the figures of sentences."""
    claim = metric_nouns.plain(claim)
    if claim.figures is None:
        return words.word(claim.verdict or Verdict.INCONCLUSIVE, claim.metric or WALL)
    return change(
        claim.verdict,
        *claim.figures,
        claim.margin or 0.0,
        claim.metric or WALL,
        higher=claim.values.get("direction") == metric_nouns.HIGHER,
        times_from=times_from,
    )


def cost(claim: Claim) -> str:
    """Return the cost of a gain as the end of a sentence."""
    return f", {claim.values['cost']}" if "cost" in claim.values else ""


def reason(claim: Claim) -> str:
    """Return the reason in brackets, if the claim has one."""
    return f" ({phrase(claim.reason)})" if claim.reason else ""


def one_program(claim: Claim, head: str) -> str:
    """Return the interval of one program under two names, without a statement of a difference."""
    assert claim.figures is not None
    bounds = signed_bounds(*claim.figures, claim.margin or 0.0, keep=False)
    return f"{head}: {phrase(ONE_PROGRAM)}{aspect(claim)} {bounds}"


def signed_bounds(
    estimate: float, lo: float, hi: float, margin: float, *, keep: bool = True
) -> str:
    """Return both bounds of a ratio as signed changes, such as ``[−6.5 %, +3.2 %]``."""
    ratio = rounded(estimate, lo, hi, margin=margin, keep=keep)
    low, high = (
        f"{signed_change(bound, ratio.decimals)}{THIN_SPACE}%" for bound in (ratio.lo, ratio.hi)
    )
    return f"[{low}, {high}]"


MOST_STATED: Final = 100_000
"""The number of rounds or runs above which no number is stated."""


def noun(metric: Metric | None) -> str:
    """Return the noun of a metric, or the noun of elapsed time if a claim names no metric."""
    return words.noun(metric or WALL)


def _figure_and_bounds(ratio: Rounded) -> tuple[str, str]:
    """Return how much less or more, without a sign: ``("9.1 %", "[7.4, 10.7]")``."""
    figure, *bounds = [
        (1 - v) * 100 if ratio.hi < 1 else (v - 1) * 100
        for v in (ratio.estimate, ratio.lo, ratio.hi)
    ]
    low, high = sorted(bounds)
    digits = ratio.decimals - 2
    text, least, most = (fixed(value, digits) for value in (figure, low, high))
    return f"{text}{THIN_SPACE}%", f"[{least}, {most}]"


def _times(
    metric: Metric | None,
    estimate: float,
    lo: float,
    hi: float,
    margin: float,
    times_from: float,
    least: int = 1,
) -> tuple[str, str] | None:
    """Return ``("2.1× faster", "[1.9, 2.3]")``, or `None` if percentages are the scale."""
    if estimate >= times_from:
        ratio, words_after = factor(estimate, lo, hi, margin, least=least), "slower"
        if metric != WALL:
            words_after = f"{metric_nouns.frame(metric).times} {noun(metric)}"
    elif estimate <= 1 / times_from and lo > 0 and metric == WALL:
        ratio, words_after = factor(1 / estimate, 1 / hi, 1 / lo, margin, least=least), "faster"
    else:
        return None
    return f"{ratio.estimate}× {words_after}", f"[{ratio.lo}, {ratio.hi}]"


def predicate(
    claim: Claim, times_from: float = TIMES_FROM, least: int = 1, *, with_names: bool = True
) -> str:
    """Return ``"is 1.9× faster than B [1.8, 2.0]"``; in percent for a ratio below `times_from`.

    `least` is the number of decimals of a factor, at most three significant digits. Without
    names, the text contains neither the reference nor the verb ``is``: ``"1.9× faster [1.8, 2.0]"``.
    """
    verb, than = ("is ", f" than {claim.reference}") if with_names else ("", "")
    claim = metric_nouns.natural(metric_nouns.plain(claim))
    assert claim.figures is not None
    margin = claim.margin or 0.0
    certain = claim.verdict in (Verdict.BETTER, Verdict.WORSE)
    frame = metric_nouns.frame(claim.metric)
    if certain and (times := _times(claim.metric, *claim.figures, margin, times_from, least)):
        text, bounds = times
        if claim.metric == WALL:
            return f"{verb}{text}{than} {bounds}"
        joint = f" {frame.joint} {claim.reference}" if with_names else ""
        return f"{frame.verb} {text}{joint} {bounds}"
    ratio = _percentage(*claim.figures, margin)
    figure, bounds = _figure_and_bounds(ratio)
    amount = f"{frame.article}{figure} {frame.less if ratio.hi < 1 else frame.more}"
    text = f"{frame.verb} {amount} {noun(claim.metric)}"
    if claim.metric == WALL and ratio.hi >= 1:
        text = f"{verb}{figure} slower"
    text = f"{text}{than} {bounds}"
    if certain:
        return text
    low, _, high = (decimal(t) for t in thresholds(margin))
    limit = f"below the margin of {format_percent(margin)}"
    if low < ratio.lo and ratio.hi < high:
        return f"{text} (significant, but {limit})"
    # The adjusted interval decides. Without this remark, the printed one would contradict it.
    outside = ratio.hi <= low or ratio.lo >= high
    corrected = "after correction, " if outside else ""
    return f"{text} ({corrected}the difference may be {limit})"


def aspect(claim: Claim) -> str:
    """Return ``" in memory"``, or an empty text for elapsed time, which sentences do not name."""
    return "" if claim.metric == WALL else f" in {noun(claim.metric)}"


def _equivalent(claim: Claim, *, with_names: bool) -> str:
    assert claim.figures is not None
    head, to = (f"{claim.subject} is ", f" to {claim.reference}") if with_names else ("", "")
    margin = claim.margin or 0.0
    change = "" if claim.lo == claim.hi == 1 else f": {percent_change(*claim.figures, margin)}"
    within = f"(within ±{format_percent(margin)})"
    return f"{head}equivalent{to}{aspect(claim)} {within}{change}"


def _inconclusive(claim: Claim, *, with_names: bool) -> str:
    head = f"{claim.subject} vs {claim.reference} is " if with_names else ""
    parts = [f"{head}inconclusive{aspect(claim)}"]
    if (figures := claim.figures) is not None:
        _, lo, hi = figures
        least = TENTHS if IN_SESSION in claim.values else 2
        parts[0] += f": {percent_change(*figures, claim.margin or 0.0, least=least, keep=False)}"
        if not lo <= 1 <= hi and claim.reason != CONTROL_DIFFERS:
            parts[0] += f" ({words.CORRECTED})"
    if claim.reason not in (None, REACHES_ONE):
        parts.append(phrase(claim.reason))
    if (mde := claim.values.get("mde")) is not None:
        parts.append(detectable(percent_up(float(mde))))
        parts += _needed(claim)
    if likely := claim.values.get("runs_at_estimate"):
        runs = _about(int(likely), "runs per command")
        parts.append(f"if the estimate is right, {runs} would detect it in 4 of 5 tries")
    return "; ".join(parts)


def detectable(limit: str) -> str:
    """Return the sentence part for a minimum detectable effect, such as ``"6 %"``."""
    return f"this comparison could only detect differences of {limit} or more"


def _needed(claim: Claim) -> list[str]:
    limit, needed = format_percent(claim.margin or 0.0), claim.values.get("rounds_needed")
    if needed is None:
        return [f"differences of {limit} cannot be detected with this method on this machine"]
    if int(needed) <= (claim.rounds or 0):
        return []
    unit = "runs per command" if IN_SESSION in claim.values else "rounds"
    return [f"{_about(int(needed), unit)} would detect {limit}"]


def _about(count: int, unit: str) -> str:
    if count > MOST_STATED:
        return f"more than {MOST_STATED} {unit}"
    return f"about {int(up_to_two_digits(float(count)))} {unit}"


def other_output(claim: Claim, reference: str, *, with_names: bool = True) -> str:
    """Return why a candidate with another output than the `reference` is not compared."""
    head, than = (f"{claim.subject} ", f" than {reference}") if with_names else ("", "")
    return f"{head}printed a different result{than}; its {noun(claim.metric)} is not compared"


def comparison(claim: Claim, *, with_names: bool = True) -> str:
    """Return the sentence of a comparison, for every verdict.

    Without names, it contains neither candidate nor reference, for a page that names them once.
    """
    verdict, original = claim.verdict, claim
    head = f"{claim.subject} " if with_names else ""
    claim = metric_nouns.natural(metric_nouns.plain(claim))
    assert verdict is not None
    if claim.reason == ONE_PROGRAM:
        return _one_program(claim, with_names=with_names)
    if verdict.decided:
        text = predicate(original, with_names=with_names)
        return f"{head}{text}{cost(claim)}{metric_nouns.tail(claim)}"
    if verdict is Verdict.EQUIVALENT:
        return f"{_equivalent(claim, with_names=with_names)}{metric_nouns.tail(claim)}"
    if verdict is Verdict.INCONCLUSIVE:
        return _inconclusive(claim, with_names=with_names)
    if verdict is Verdict.SINGLE_RUN:
        return single_run(claim, with_names=with_names)
    if verdict is Verdict.OTHER_OUTPUT:
        return other_output(claim, claim.reference or "", with_names=with_names)
    head = f"{claim.subject}: " if with_names else ""
    return f"{head}{words.word(verdict, WALL)}{reason(claim)}"


def _one_program(claim: Claim, *, with_names: bool) -> str:
    """Return the figures of one program under two names, without a statement of a difference."""
    head = f"{claim.subject} and {claim.reference} are " if with_names else ""
    text = f"{head}{phrase(ONE_PROGRAM)}{aspect(claim)}"
    if claim.figures is None:
        return text
    return f"{text}: {percent_change(*claim.figures, claim.margin or 0.0, keep=False)}"


def single_run(claim: Claim, *, with_names: bool = True) -> str:
    """Return which side has a single run, with the candidate's value if it is the candidate."""
    head = f"{claim.subject} " if with_names else ""
    if claim.values.get("runs_ref") == 1 and claim.runs != 1:
        return f"{claim.reference} was run only once: no verdict on {claim.subject}"
    value = claim.values.get("value")
    if value is None:
        return f"{head}was run only once: no verdict"
    in_bytes = claim.metric == PEAK_RSS
    figure = show_size(float(value), "iec") if in_bytes else format_duration(float(value))
    return f"{head}was run only once ({figure}): no verdict"
