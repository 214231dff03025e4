"""Welch's comparison on the log scale, for runs that were made in blocks: from single runs, or from mean, sd and n.

B. L. Welch, "The generalization of Student's problem when several different population variances are involved",
Biometrika 34 (1947). It takes runs for independent draws from one state of the machine: nothing in the data can show
drift between the blocks, so that its intervals cover the runs and nothing else (docs/limits.md).
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.stats.portable_math import log, normal_quantile, t_quantile, t_tails

if TYPE_CHECKING:
    from bench_framework.model.imported import Series

LEAST_RUNS: Final = 2
POWER: Final = 0.80


@dataclass(frozen=True, slots=True)
class LogMean:
    """The centre of one command on the log scale, with the variance of that centre and its degrees of freedom."""

    centre: float
    variance: float
    freedom: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference of centres: on the log scale, as a ratio once exponentiated."""

    estimate: float
    error: float
    """Standard error; above zero."""
    freedom: float
    n: int
    """Runs of the smaller side."""

    @property
    def p(self) -> float:
        """Two-sided."""
        return t_tails(self.estimate / self.error, self.freedom)

    def bounds(self, level: float) -> tuple[float, float]:
        """The interval at a level such as 0.95, on the log scale."""
        half = t_quantile((1 + level) / 2, self.freedom) * self.error
        return self.estimate - half, self.estimate + half


def log_mean(series: Series) -> LogMean | None:
    """The centre of a series; `None` where it has no spread.

    Single runs: the mean of their logarithms. Published figures: ln(mean) with (sd ÷ mean)² ÷ n, the delta method to
    first order, which is good while sd is a small part of the mean.
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


def compare(candidate: Series, reference: Series) -> Contrast | None:
    """Candidate less reference, with the degrees of freedom of Welch and Satterthwaite.

    `None` where a side has no spread, or both spreads are zero: rounded figures without spread carry no interval.
    """
    ours, theirs = log_mean(candidate), log_mean(reference)
    if ours is None or theirs is None or not ours.variance + theirs.variance > 0:
        return None
    variance = ours.variance + theirs.variance
    shares = math.fsum(side.variance * side.variance / side.freedom for side in (ours, theirs))
    # A spread far below another's may vanish in the square; the other one then has all the weight.
    freedom = variance * variance / shares if shares > 0 else min(ours.freedom, theirs.freedom)
    n = min(candidate.n or 0, reference.n or 0)
    return Contrast(ours.centre - theirs.centre, math.sqrt(variance), freedom, n)


def runs_at_estimate(contrast: Contrast, level: float) -> int | None:
    """Runs per command that would decide the estimate itself with 80 % power at a level, if it were the truth.

    n · ((z₁₋a⁄₂ + z.₈₀) · SE ÷ estimate)²; `None` for an estimate of zero.
    """
    if contrast.estimate == 0:
        return None
    z = normal_quantile(1 - level / 2) + normal_quantile(POWER)
    return math.ceil(contrast.n * (z * contrast.error / contrast.estimate) ** 2)
