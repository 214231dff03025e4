"""Welch's t test on the log scale, for commands that were measured one after the other.

Source: B. L. Welch, "The generalization of Student's problem when several different population
variances are involved", Biometrika 34 (1947). The test assumes that runs are independent draws
from one state of the machine. The data cannot show drift between the commands, so that the
intervals account for the variation of runs only (`docs/method.md#imported-figures`).
"""

import math
import statistics
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from bench_framework.model.record.sessions import Series
from bench_framework.model.verdict import Interval
from bench_framework.stats.portable_math import exp, log, normal_quantile, t_quantile, t_tails

LEAST_RUNS: Final = 2
LARGEST: Final = 700.0
"""The largest logarithm of a bound. The exponential of a larger one may overflow."""
POWER: Final = 0.80
"""Power at which `runs_at_estimate` plans."""


@dataclass(frozen=True, slots=True)
class LogMean:
    """The mean of the log values of one command."""

    centre: float
    variance: float
    """Squared standard error of the centre."""
    freedom: float
    """Degrees of freedom of the variance, n − 1."""


@dataclass(frozen=True, slots=True)
class LogDifference:
    """A difference of two centres: the logarithm of the ratio candidate ÷ reference."""

    estimate: float
    error: float
    """Standard error of the estimate; positive."""
    freedom: float
    """Degrees of freedom, for example by Welch and Satterthwaite."""
    n: int
    """Number of runs of the side that has fewer."""

    @property
    def p(self) -> float:
        """Return the two-sided p-value of the null hypothesis that the ratio is 1."""
        return t_tails(self.estimate / self.error, self.freedom)

    def interval(self, level: float) -> Interval:
        """Return the ratio with its confidence interval at a level such as 0.95."""
        half = t_quantile((1 + level) / 2, self.freedom) * self.error
        lo, hi = max(self.estimate - half, -LARGEST), min(self.estimate + half, LARGEST)
        return Interval(exp(self.estimate), exp(lo), exp(hi), level)


@lru_cache(maxsize=4096)
def log_mean(series: Series) -> LogMean | None:
    """Return the log mean of a series; `None` if its variance is unknown.

    Single runs give the mean of their logarithms. A published mean and standard deviation give
    ln(mean) with the variance (sd ÷ mean)² ÷ n. This is the delta method to first order, which is
    accurate if sd is a small part of the mean.
    """
    n = series.n
    if n is None or n < LEAST_RUNS:
        return None
    if series.values:
        logs = [log(value) for value in series.values]
        return LogMean(statistics.fmean(logs), statistics.variance(logs) / n, n - 1)
    if series.sd is None:
        return None
    spread = series.sd / series.mean
    return LogMean(log(series.mean), spread * spread / n, n - 1)


def compare(candidate: Series, reference: Series) -> LogDifference | None:
    """Return ln(candidate ÷ reference) with its standard error and degrees of freedom.

    The result is `None` if the variance of a side is unknown, or if both variances are zero, as in
    rounded figures that are all equal.
    """
    ours, theirs = log_mean(candidate), log_mean(reference)
    if ours is None or theirs is None or not ours.variance + theirs.variance > 0:
        return None
    variance = ours.variance + theirs.variance
    shares = math.fsum(side.variance * side.variance / side.freedom for side in (ours, theirs))
    # The square of a very small variance may underflow to zero.
    freedom = variance * variance / shares if shares > 0 else min(ours.freedom, theirs.freedom)
    n = min(candidate.n or 0, reference.n or 0)
    return LogDifference(ours.centre - theirs.centre, math.sqrt(variance), freedom, n)


def runs_at_estimate(contrast: LogDifference, level: float) -> int | None:
    """Return how many runs per command would show a true difference as large as the estimate.

    n · ((z₁₋a⁄₂ + z₀.₈₀) · SE ÷ estimate)², for 80 % power at level a.

    The result is `None` for an estimate of zero.
    """
    if contrast.estimate == 0:
        return None
    z = normal_quantile(1 - level / 2) + normal_quantile(POWER)
    return math.ceil(contrast.n * (z * contrast.error / contrast.estimate) ** 2)
