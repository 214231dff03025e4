"""The verdict of a comparison, by one rule for every kind of evidence.

1. A significant difference is *better* or *worse* if its confidence interval lies beyond the margin, and *better* or
   *worse, size uncertain* if the interval only excludes 1. A difference of at most the minimum effect does not count.
2. Otherwise the two are *equivalent* if the interval of the equivalence test lies within the margin.
3. Otherwise the comparison is inconclusive, and a reason says why.

All of these relations are read from the **interval as reported**: bounds rounded outward to the digits that reports
print. No page can show an interval that contradicts its verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from bench_framework import rounding
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.stats.portable_math import log, log1p

if TYPE_CHECKING:
    from collections.abc import Callable

EQUIVALENCE_LEVEL: Final = 0.05
"""α of each of the two one-sided tests (TOST) that show equivalence, before it is shared among interim analyses."""
REACHES_ONE: Final = "the displayed interval reaches 1"
TOO_SMALL: Final = "a difference was found, but it is smaller than the smallest effect worth a word"

Statistic = Literal["typical", "floor", "median", "exact", "welch"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the runs say about the ratio of a candidate to its reference, on one metric.

    Attributes:
        significant: whether the null hypothesis that the ratio is 1 is rejected, after adjustment for interim analyses
            and for the other comparisons of the family.
        shown: the estimate and its confidence interval, at the level that this adjustment leaves.
        statistic: what the ratio is an estimate of.
        equivalence: computes the confidence interval at `equivalence_level`, which must lie within the margin for the
            two to be equivalent; `None` where the runs cannot give one. Called only if it is needed.
    """

    significant: bool
    shown: Interval
    statistic: Statistic
    equivalence: Callable[[], Interval | None]


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict with the interval that supports it.

    Attributes:
        shown: of an equivalent pair the interval of the equivalence test, otherwise that of the evidence.
        statistic: as in the evidence.
        reason: why nothing was decided; empty for a verdict, and where the interval alone says it.
    """

    verdict: Verdict
    shown: Interval
    statistic: Statistic
    reason: str = ""


def decide(evidence: Evidence, thresholds: Thresholds) -> Decision:
    """Return the verdict that follows from evidence and thresholds."""
    shown, statistic, reason = evidence.shown, evidence.statistic, ""
    if evidence.significant:
        if abs(log(shown.ratio)) > log1p(thresholds.minimum_effect):
            verdict = by_interval(shown, thresholds.margin)
            return Decision(verdict, shown, statistic, "" if verdict.decided else REACHES_ONE)
        reason = TOO_SMALL
    equal = evidence.equivalence()
    if equal is not None and within_margin(equal, thresholds.margin):
        return Decision(Verdict.EQUIVALENT, equal, statistic)
    return Decision(Verdict.INCONCLUSIVE, shown, statistic, reason)


def decide_by_interval(shown: Interval, statistic: Statistic, thresholds: Thresholds) -> Decision:
    """Return the verdict where one interval serves as both tests: significant if it excludes 1."""
    significant = by_interval(shown, thresholds.margin).decided
    return decide(Evidence(significant, shown, statistic, lambda: shown), thresholds)


def by_interval(shown: Interval, margin: float) -> Verdict:
    """Return the verdict of a significant difference by its interval as reported."""
    below, one, above = _relations(shown, margin)
    if one == 0:
        return Verdict.INCONCLUSIVE
    if one < 0:
        return Verdict.BETTER if below < 0 else Verdict.BETTER_SIZE_UNCERTAIN
    return Verdict.WORSE if above > 0 else Verdict.WORSE_SIZE_UNCERTAIN


def within_margin(shown: Interval, margin: float) -> bool:
    """Return whether an interval as reported lies within the margin."""
    low, _, high = _relations(shown, margin)
    return low > 0 > high


def excludes_one(shown: Interval, margin: float) -> bool:
    """Return whether the interval of an inconclusive pair, in the fewer digits that it is reported with, excludes 1."""
    return math.isfinite(shown.hi) and _relations(shown, margin, keep=False)[1] != 0


def _relations(shown: Interval, margin: float, *, keep: bool = True) -> tuple[int, int, int]:
    """Return how an interval as reported lies to 1 ÷ (1 + margin), 1 and 1 + margin: −1 below, 1 above, 0 across."""
    made = rounding.rounded(shown.ratio, shown.lo, shown.hi, margin=margin, keep=keep)
    low, one, high = (
        rounding.relation(made.lo, made.hi, rounding.decimal(t))
        for t in rounding.thresholds(margin)
    )
    return low, one, high


def equivalence_level(looks: int) -> float:
    """Return 1 − 2·5 % ÷ J: the level of the interval that shows equivalence, with J interim analyses."""
    return 1 - 2 * EQUIVALENCE_LEVEL / looks


def rounds_for_margin(rounds: int, mde: float, margin: float) -> int:
    """Return how many rounds would bring a minimum detectable effect (on the log scale) down to the margin."""
    shrink = mde / log1p(margin)
    return math.ceil(rounds * (shrink * shrink))
