"""The error of an estimate from the estimates of several sessions (docs/method.md#sessions).

All values are natural logarithms of ratios. Few sessions give a poor estimate of their variance, so that
it is moderated: the variances of all comparisons of a record contribute to each of them.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench_framework.stats.intervals import Bounds
from bench_framework.stats.portable_math import drop_unstable_digits, exp, log, t_quantile

LEVEL: Final = 0.95
FEWEST_FOR_PRIOR: Final = 4
"""With fewer comparisons, the prior is `USUAL_FREEDOM` and at least `USUAL_VARIANCE`."""
USUAL_FREEDOM: Final = 3.0
USUAL_VARIANCE: Final = 0.014**2
"""Variance between sessions where too few comparisons show it: (1.4 %)²."""
MOST_FREEDOM: Final = 30.0
LEAST_FREEDOM: Final = 0.2
LARGE: Final = 10.0
"""Argument from which on four terms of an asymptotic series have an error below 1e-11."""
LEAST_VARIANCE: Final = 1e-16
"""Smallest variance with a logarithm; sessions of equal estimates have a variance of 0."""


@dataclass(frozen=True, slots=True)
class Prior:
    """The variance between sessions that the comparisons of a record have in common.

    Attributes:
        freedom: its degrees of freedom, d₀: how much it counts against the sessions of one comparison.
        variance: s₀².
    """

    freedom: float
    variance: float


@dataclass(frozen=True, slots=True)
class SessionSpread:
    """The mean of session estimates with its interval, and the 95 % interval for another session.

    `mean` is adjusted for the number of looks, `unadjusted` has 95 %.
    """

    mean: Bounds
    unadjusted: Bounds
    another: Bounds


def prior_of(estimates: Sequence[Sequence[float]]) -> Prior:
    """Return the common variance between sessions, by the estimates of each comparison.

    Every comparison has at least two estimates. The method of moments on the logarithms of the sample
    variances gives s₀² and d₀. Comparisons share their baseline and are not independent, so that d₀ is at
    most half of their number.

    Source: Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004), section 6.2.
    """
    variances = [max(LEAST_VARIANCE, statistics.variance(one)) for one in estimates]
    if len(variances) < FEWEST_FOR_PRIOR:
        return Prior(USUAL_FREEDOM, max(USUAL_VARIANCE, statistics.fmean(variances)))
    halves = [(len(one) - 1) / 2 for one in estimates]
    logs = [log(v) - _digamma(half) + log(half) for v, half in zip(variances, halves, strict=True)]
    most = min(MOST_FREEDOM, len(variances) / 2)
    excess = statistics.variance(logs) - statistics.fmean(map(_trigamma, halves))
    freedom = _freedom_of(excess, most)
    unlimited = excess <= 0
    shift = 0.0 if unlimited else _digamma(freedom / 2) - log(freedom / 2)
    return Prior(freedom, drop_unstable_digits(exp(statistics.fmean(logs) + shift)))


def spread_of(
    estimates: Sequence[float], within: float, prior: Prior, level: float = LEVEL
) -> SessionSpread:
    """Return the intervals of a comparison from its sessions, at least two.

    `within` is the standard error of the mean by the rounds alone. The error is at least as large. If the
    sessions vary more than those of the other comparisons, the prior counts at most as much as they do.
    `level` is that of the interval of the mean.
    """
    count, mean = len(estimates), statistics.fmean(estimates)
    variance_here = statistics.variance(estimates)
    counts = prior.freedom if variance_here <= prior.variance else min(prior.freedom, count - 1.0)
    freedom = counts + count - 1
    moderated = (counts * prior.variance + (count - 1) * variance_here) / freedom
    variance = max(moderated, count * within * within)

    def around(square: float, level: float) -> Bounds:
        half = t_quantile((1 + level) / 2, freedom) * math.sqrt(square)
        return Bounds(mean, mean - half, mean + half, level)

    square = variance / count
    another = around(variance + square, LEVEL)
    return SessionSpread(around(square, level), around(square, LEVEL), another)


def _freedom_of(excess: float, most: float) -> float:
    """Return d₀, at most `most`, with trigamma(d₀ ÷ 2) = `excess`."""
    if excess <= _trigamma(most / 2):
        return most
    low, high = LEAST_FREEDOM, most
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _trigamma(middle / 2) > excess else (low, middle)
    return low


def _digamma(x: float) -> float:
    """Return the digamma function of a positive number: recurrence, then the asymptotic series."""
    total = 0.0
    while x < LARGE:
        total, x = total - 1 / x, x + 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return total + log(x) - 1 / (2 * x) - series


def _trigamma(x: float) -> float:
    """Return the trigamma function of a positive number, in the same way."""
    total = 0.0
    while x < LARGE:
        total, x = total + 1 / (x * x), x + 1
    square = 1 / (x * x)
    series = square * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30))) / x
    return total + 1 / x + square / 2 + series
