"""Check that sentences about random intervals agree with the digits in them, from both sides.

The property test uses some thousands of intervals, ``words_of_intervals`` 200 000.
"""

import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from bench_framework.compare import decide
from bench_framework.model.facts import Claim, Compared
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.rounding import decimal, rounded, thresholds
from bench_framework.text.numbers import show_change, show_ratio
from bench_framework.text.words import word
from bench_framework.text.write import say

MIRROR: Final = {
    Verdict.BETTER: Verdict.WORSE,
    Verdict.WORSE: Verdict.BETTER,
    Verdict.BETTER_SIZE_UNCERTAIN: Verdict.WORSE_SIZE_UNCERTAIN,
    Verdict.WORSE_SIZE_UNCERTAIN: Verdict.BETTER_SIZE_UNCERTAIN,
}
BETTER: Final = (Verdict.BETTER, Verdict.BETTER_SIZE_UNCERTAIN)
WORSE: Final = (Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN)
WEAKER: Final = {
    Verdict.BETTER: Verdict.BETTER_SIZE_UNCERTAIN,
    Verdict.WORSE: Verdict.WORSE_SIZE_UNCERTAIN,
    Verdict.BETTER_SIZE_UNCERTAIN: Verdict.INCONCLUSIVE,
    Verdict.WORSE_SIZE_UNCERTAIN: Verdict.INCONCLUSIVE,
}
MARGINS: Final = (0.01, 0.02, 0.05)
METRICS: Final = ("wall", "cpu", "peak_rss")
_WAY: Final = re.compile(r"\b(?:(less|more) (?:time|CPU time|memory)|(slower)) than")
_BRACKETS: Final = re.compile(r"\[([^,\]]*), ([^\]]*)\]")
SLACK: Final = 1e-9


@dataclass
class Result:
    """Counts over a number of intervals.

    Attributes:
        intervals: number of intervals.
        decided: number of intervals with a direction.
        lowered: number of intervals with a weaker verdict from one side, because six decimals do not keep the relation.
        contradictions: sentences that contradict their digits.
    """

    intervals: int = 0
    decided: int = 0
    lowered: int = 0
    contradictions: list[str] = field(default_factory=list)


def drawn(count: int, seed: int = 20261121) -> Iterator[tuple[Interval, float, str]]:
    """Yield narrow and wide intervals, some with an end on a threshold, with margin and metric."""
    draw = random.Random(seed)
    for number in range(count):
        margin, metric = draw.choice(MARGINS), draw.choice(METRICS)
        centre, half = draw.gauss(0, 10 ** draw.uniform(-3, 0.3)), 10 ** draw.uniform(-6, -0.5)
        lo, hi = centre - half * draw.uniform(0.2, 1), centre + half * draw.uniform(0.2, 1)
        if number % 10 == 0:  # an end close to a threshold
            edge = draw.choice((0.0, math.log1p(margin), -math.log1p(margin))) + draw.gauss(0, 1e-6)
            lo, hi = (edge, edge + hi - lo) if draw.random() < 0.5 else (edge - (hi - lo), edge)
            centre = (lo + hi) / 2
        yield Interval(math.exp(centre), math.exp(lo), math.exp(hi), 0.99), margin, metric


def examine(count: int, seed: int = 20261121) -> Result:
    """Judge `count` intervals as displayed from both sides, and check their sentences."""
    result = Result()
    for interval, margin, metric in drawn(count, seed):
        result.intervals += 1
        verdict = decide.by_interval(interval, margin)
        other = Interval(1 / interval.ratio, 1 / interval.hi, 1 / interval.lo, interval.level)
        back = decide.by_interval(other, margin)
        result.decided += verdict.decided
        expected = MIRROR.get(verdict, verdict)
        if back is not expected:
            result.lowered += 1
            if (
                WEAKER.get(expected) is not back
                and WEAKER.get(back) is not expected
                and not _touches(interval, margin)
            ):
                result.contradictions.append(
                    f"{interval}: {verdict} from one side, {back} from the other"
                )
        for one, name in ((interval, verdict), (other, back)):
            result.contradictions += _contradictions(one, name, margin, metric)
            if _inside(one, margin):
                result.contradictions += _contradictions(one, Verdict.EQUIVALENT, margin, metric)
    return result


def _inside(interval: Interval, margin: float) -> bool:
    """Return whether the printed interval is within the margin."""
    printed = rounded(interval.ratio, interval.lo, interval.hi, margin=margin)
    low, _, high = (decimal(threshold) for threshold in thresholds(margin))
    return printed.lo > low and printed.hi < high


def _touches(interval: Interval, margin: float) -> bool:
    """Return whether an end is so close to a threshold that six decimals do not separate them."""
    edges = (0.0, math.log1p(margin), -math.log1p(margin))
    return any(
        abs(math.log(end) - edge) < 1e-5 for end in (interval.lo, interval.hi) for edge in edges
    )


def claim_of(interval: Interval, name: Verdict, margin: float, metric: str) -> Claim:
    """Return a claim about two variants A and B."""
    return Claim(
        "A",
        "B",
        metric,
        (),
        name,
        estimate=interval.ratio,
        lo=interval.lo,
        hi=interval.hi,
        level=interval.level,
        margin=margin,
        rounds=20,
        fact=Compared(),
    )


def _contradictions(interval: Interval, name: Verdict, margin: float, metric: str) -> Iterator[str]:
    text = say(claim_of(interval, name, margin, metric))
    if not sentence_agrees(text, name, margin):
        yield f"{name}: {text}"
    keep = name is not Verdict.INCONCLUSIVE
    ratio_text = show_ratio(interval.ratio, interval.lo, interval.hi, margin, keep=keep)
    low, high = _number(ratio_text.lo), _number(ratio_text.hi)
    if not _relation_agrees(low, high, name, margin):
        yield f"{name}: {ratio_text}"
    signed = _ends(str(show_change(interval.ratio, interval.lo, interval.hi, margin, keep=keep)))
    if not _relation_agrees(1 + signed[0] / 100, 1 + signed[1] / 100, name, margin):
        yield f"{name}: {signed}"
    term = word(name, metric)
    if (("faster" in term or "less" in term) != (name in BETTER)) or (
        ("slower" in term or "more" in term) != (name in WORSE)
    ):
        yield f"{name}: {term}"


def sentence_agrees(text: str, name: Verdict, margin: float) -> bool:
    """Return whether the words of a sentence agree with the interval in its brackets."""
    low, high = _ends(text)
    if low > high + SLACK:
        return False
    ways = {match[1] or "more" for match in _WAY.finditer(text)}
    limit = margin * 100
    if name is Verdict.EQUIVALENT:
        inside = low > -(1 - 1 / (1 + margin)) * 100 - SLACK and high < limit + SLACK
        return ("takes as long as" in text or "is equivalent to" in text) and inside
    if name is Verdict.INCONCLUSIVE:
        return "is inconclusive" in text and not ways
    if "×" in text:
        grows = "× slower" in text or "× as much" in text
        return low > 1 and grows == (name in WORSE)
    if ways != {"less" if name in BETTER else "more"} or low <= 0:
        return False
    beyond = limit if name in WORSE else (1 - 1 / (1 + margin)) * 100
    # The interval shows whether the difference may be below the margin; no words repeat it.
    return (
        (low > beyond - SLACK) if name in (Verdict.BETTER, Verdict.WORSE) else low < beyond + SLACK
    )


def _relation_agrees(low: float, high: float, name: Verdict, margin: float) -> bool:
    """Return whether a displayed ratio relates to 1 and to the margin as its verdict states."""
    if name is Verdict.BETTER:
        return high < 1 / (1 + margin) + SLACK
    if name is Verdict.WORSE:
        return low > 1 + margin - SLACK
    if name is Verdict.BETTER_SIZE_UNCERTAIN:
        return high < 1
    if name is Verdict.WORSE_SIZE_UNCERTAIN:
        return low > 1
    if name is Verdict.EQUIVALENT:
        return low > 1 / (1 + margin) - SLACK and high < 1 + margin + SLACK
    return True


def _ends(text: str) -> tuple[float, float]:
    match = _BRACKETS.search(text)
    assert match is not None, text
    return _number(match[1]), _number(match[2])


def _number(text: str) -> float:
    return float(text.removesuffix("\u202f%").replace("\u2212", "-").replace("+", ""))
