"""Random intervals put into words: what a sentence says must be what the digits in it say, from both sides.

Used by the property test with some thousands of intervals, and by ``words_of_intervals`` with 200 000.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bench_framework.compare import decide
from bench_framework.features import sentences
from bench_framework.model.judgement import Claim
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.model.words import word
from bench_framework.report.numbers import show_percent, show_ratio
from bench_framework.rounding import decimal, rounded, thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_WAY: Final = re.compile(r"\b(less|more) (?:time|CPU time|memory) than")
_BRACKETS: Final = re.compile(r"\[([^,\]]*), ([^\]]*)\]")
SLACK: Final = 1e-9


@dataclass
class Found:
    """What a number of intervals showed.

    Attributes:
        intervals: how many.
        decided: how many of them have a direction.
        lowered: how many have the weaker word from one side, as six decimals do not keep the relation there.
        contradictions: sentences that say what their digits do not.
    """

    intervals: int = 0
    decided: int = 0
    lowered: int = 0
    contradictions: list[str] = field(default_factory=list)


def drawn(count: int, seed: int = 20261121) -> Iterator[tuple[Interval, float, str]]:
    """Intervals from hair-thin to wide, around 1 and far from it, some with an end on a threshold; margin; metric."""
    draw = random.Random(seed)
    for number in range(count):
        margin, metric = draw.choice(MARGINS), draw.choice(METRICS)
        centre, half = draw.gauss(0, 10 ** draw.uniform(-3, 0.3)), 10 ** draw.uniform(-6, -0.5)
        lo, hi = centre - half * draw.uniform(0.2, 1), centre + half * draw.uniform(0.2, 1)
        if number % 10 == 0:  # an end that all but touches what words turn on
            edge = draw.choice((0.0, math.log1p(margin), -math.log1p(margin))) + draw.gauss(0, 1e-6)
            lo, hi = (edge, edge + hi - lo) if draw.random() < 0.5 else (edge - (hi - lo), edge)
            centre = (lo + hi) / 2
        yield Interval(math.exp(centre), math.exp(lo), math.exp(hi), 0.99), margin, metric


def examine(count: int, seed: int = 20261121) -> Found:
    """Judge so many intervals by what is displayed of them, say them from both sides, and read the sentences."""
    found = Found()
    for shown, margin, metric in drawn(count, seed):
        found.intervals += 1
        told = decide.by_interval(shown, margin)
        other = Interval(1 / shown.ratio, 1 / shown.hi, 1 / shown.lo, shown.level)
        back = decide.by_interval(other, margin)
        found.decided += told.decided
        wanted = MIRROR.get(told, told)
        if back is not wanted:
            found.lowered += 1
            if (
                WEAKER.get(wanted) is not back
                and WEAKER.get(back) is not wanted
                and not _touches(shown, margin)
            ):
                found.contradictions.append(f"{shown}: {told} from one side, {back} from the other")
        for one, name in ((shown, told), (other, back)):
            found.contradictions += _contradictions(one, name, margin, metric)
            if _inside(one, margin):
                found.contradictions += _contradictions(one, Verdict.EQUIVALENT, margin, metric)
    return found


def _inside(shown: Interval, margin: float) -> bool:
    """Whether what is printed of an interval lies inside the margin, so that it may be called equivalent."""
    made = rounded(shown.ratio, shown.lo, shown.hi, margin=margin)
    low, _, high = (decimal(threshold) for threshold in thresholds(margin))
    return made.lo > low and made.hi < high


def _touches(shown: Interval, margin: float) -> bool:
    """Whether an end lies so near a threshold that six decimals cannot tell on which side."""
    edges = (0.0, math.log1p(margin), -math.log1p(margin))
    return any(abs(math.log(end) - edge) < 1e-5 for end in (shown.lo, shown.hi) for edge in edges)


def _contradictions(shown: Interval, name: Verdict, margin: float, metric: str) -> Iterator[str]:
    claim = Claim(
        "c1",
        "comparison",
        "A",
        "B",
        metric,
        (),
        name,
        estimate=shown.ratio,
        lo=shown.lo,
        hi=shown.hi,
        level=shown.level,
        margin=margin,
        rounds=20,
    )
    text = sentences.say(claim)
    if not _sentence_agrees(text, name, margin):
        yield f"{name}: {text}"
    keep = name is not Verdict.INCONCLUSIVE
    made = show_ratio(shown.ratio, shown.lo, shown.hi, margin, keep=keep)
    low, high = _number(made.lo), _number(made.hi)
    if not _relation_agrees(low, high, name, margin):
        yield f"{name}: {made}"
    signed = _ends(show_percent(shown.ratio, shown.lo, shown.hi, margin, keep=keep))
    if not _relation_agrees(1 + signed[0] / 100, 1 + signed[1] / 100, name, margin):
        yield f"{name}: {signed}"
    said = word(name, metric)
    if (("faster" in said or "less" in said) != (name in BETTER)) or (
        ("slower" in said or "more" in said) != (name in WORSE)
    ):
        yield f"{name}: {said}"


def _sentence_agrees(text: str, name: Verdict, margin: float) -> bool:
    """Whether the words of a sentence say what the interval in its brackets says."""
    low, high = _ends(text)
    if low > high + SLACK:
        return False
    ways = {match[1] for match in _WAY.finditer(text)}
    limit = margin * 100
    if name is Verdict.EQUIVALENT:
        inside = low > -(1 - 1 / (1 + margin)) * 100 - SLACK and high < limit + SLACK
        return "differ by less than" in text and inside
    if name is Verdict.INCONCLUSIVE:
        return text.startswith("The runs do not decide") and not ways
    if "×" in text:
        grows = "× as long" in text or "× as much" in text
        return low > 1 and grows == (name in WORSE)
    if ways != {"less" if name in BETTER else "more"} or low <= 0:
        return False
    beyond = limit if name in WORSE else (1 - 1 / (1 + margin)) * 100
    if name in (Verdict.BETTER, Verdict.WORSE):
        return low > beyond - SLACK and "perhaps" not in text and "than the margin" not in text
    return (
        (high < beyond + SLACK)
        if "less than the margin" in text
        else "perhaps by less than" in text
    )


def _relation_agrees(low: float, high: float, name: Verdict, margin: float) -> bool:
    """Whether a displayed ratio stands to 1 and to the margin as its verdict says."""
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
    return float(text.replace("\u2212", "-").replace("+", ""))
