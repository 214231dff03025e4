"""The rule by which a comparison gets its verdict, for every kind of evidence.

1. A significant difference is *better* or *worse* if its confidence interval is beyond the margin,
   and *better* or *worse, size uncertain* if the interval only excludes 1. A difference of at most
   the minimum effect size does not count.
2. Otherwise the two are *equivalent* if the interval of the equivalence test is within the margin.
3. Otherwise the comparison is inconclusive, and a reason says why.

All of these relations use the **interval as reported**: bounds rounded outward to the digits that
reports print, so that no report shows an interval that contradicts its verdict. The exception,
metrics for which larger values are better, is in `docs/method.md#rounding`. See also
`docs/method.md#verdicts`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from bench_framework import rounding
from bench_framework.model.reasons import REACHES_ONE, Reason, ReasonCode
from bench_framework.model.result.judgement import Comparison, Statistic
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.stats.portable_math import log, log1p

EQUIVALENCE_LEVEL: Final = 0.05
"""α of each of the two one-sided tests (TOST) of equivalence, before division by J.

Source: D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987).
"""
MOST_ROUNDS: Final = 1000
"""A larger number of rounds needed is not reported."""


@dataclass(frozen=True, slots=True)
class RatioTest:
    """The result of the tests of one comparison: the ratio candidate ÷ reference on one metric.

    Attributes:
        significant: whether the null hypothesis that the ratio is 1 is rejected, after adjustment
            for interim analyses and for the other comparisons of the family.
        interval: the estimated ratio and its confidence interval at the adjusted level.
        equivalence: computes the confidence interval at `equivalence_level`, which must be within
            the margin for the two to be equivalent. It returns `None` if the runs cannot reach that
            level. It is called only if it is needed.
    """

    significant: bool
    interval: Interval
    statistic: Statistic
    equivalence: Callable[[], Interval | None]


@dataclass(frozen=True, slots=True)
class IntervalVerdict:
    """A verdict with the interval that supports it.

    Attributes:
        interval: the ratio and the confidence interval to report. For an equivalent pair it is that
            of the equivalence test, otherwise that of the evidence.
        reason: why the comparison is inconclusive; `None` for a verdict, and if the interval alone
            is the reason.
    """

    verdict: Verdict
    interval: Interval
    statistic: Statistic
    reason: Reason | None = None

    def on(self, draft: Comparison) -> Comparison:
        """Return a comparison with this verdict."""
        return replace(
            draft,
            verdict=self.verdict,
            reason=self.reason,
            shown=self.interval,
            statistic=self.statistic,
        )


def decide(evidence: RatioTest, thresholds: Thresholds) -> IntervalVerdict:
    """Return the verdict that follows from evidence and thresholds."""
    interval, statistic = evidence.interval, evidence.statistic
    reason: Reason | None = None
    if evidence.significant:
        reason = Reason(ReasonCode.TOO_SMALL)
        if abs(log(interval.ratio)) > log1p(thresholds.minimum_effect):
            verdict = by_interval(interval, thresholds.margin)
            if verdict.decided:
                return IntervalVerdict(verdict, interval, statistic)
            reason = REACHES_ONE
    equal = evidence.equivalence()
    if equal is not None and within_margin(equal, thresholds.margin):
        return IntervalVerdict(Verdict.EQUIVALENT, equal, statistic)
    return IntervalVerdict(Verdict.INCONCLUSIVE, interval, statistic, reason)


def decide_by_interval(
    interval: Interval, statistic: Statistic, thresholds: Thresholds
) -> IntervalVerdict:
    """Return the verdict where one interval serves as both tests: significant if it excludes 1."""
    significant = by_interval(interval, thresholds.margin).decided
    return decide(RatioTest(significant, interval, statistic, lambda: interval), thresholds)


def by_interval(interval: Interval, margin: float) -> Verdict:
    """Return the verdict of a significant difference by its interval as reported."""
    below, one, above = _relations(interval, margin)
    if one == 0:
        return Verdict.INCONCLUSIVE
    if one < 0:
        return Verdict.BETTER if below < 0 else Verdict.BETTER_SIZE_UNCERTAIN
    return Verdict.WORSE if above > 0 else Verdict.WORSE_SIZE_UNCERTAIN


def within_margin(interval: Interval, margin: float) -> bool:
    """Return whether an interval as reported is within the margin."""
    low, _, high = _relations(interval, margin)
    return low > 0 > high


def _relations(interval: Interval, margin: float) -> tuple[int, int, int]:
    """Return −1, 0 or 1: the interval is below, around or above 1 ÷ (1 + margin), 1, 1 + margin."""
    rounded = rounding.rounded(interval.ratio, interval.lo, interval.hi, margin=margin)
    low, one, high = (
        rounding.relation(rounded.lo, rounded.hi, rounding.decimal(t))
        for t in rounding.thresholds(margin)
    )
    return low, one, high


def equivalence_level(looks: int) -> float:
    """Return the level of the equivalence interval, 1 − 2·5 % ÷ J, for J interim analyses."""
    return 1 - 2 * EQUIVALENCE_LEVEL / looks


def rounds_for_margin(rounds: int, mde: float, margin: float) -> int | None:
    """Return the number of rounds at which the MDE would be equal to the margin; `None` above `MOST_ROUNDS`.

    n·(MDE ÷ ln(1 + δ))², because the MDE is proportional to 1 ÷ √n.

    `mde` is that of `rounds` rounds, on the log scale. `margin` is δ as a fraction.
    """
    if margin == 0:
        return None
    shrink = mde / log1p(margin)
    needed = math.ceil(rounds * (shrink * shrink))
    return needed if needed <= MOST_ROUNDS else None
