"""Summaries of one metric of one cell: median, confidence interval, spread, outliers."""

import math
import statistics
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from bench_framework.compare.samples import Sample
from bench_framework.model.judgement import Summary
from bench_framework.model.policies import Metric

LEVEL: Final = 0.95
"""Confidence level of the interval of a median."""
FEWEST_FOR_P95: Final = 20
"""With fewer than 20 rounds, the 95th percentile would be the maximum."""
ROBUST_SIGMA: Final = 1.4826
"""σ ÷ MAD (median absolute deviation) of a normal distribution."""
OUTLIER_SIGMAS: Final = 5.0
"""A round further than this many robust σ from the median is an outlier. It is kept."""


def summarise(sample: Sample, metric: Metric) -> Summary | None:
    """Summarise one metric of one cell, in its unit, over all rounds; `None` if never measured."""
    series = sample.values(metric)
    if not series:
        return None
    values = [series[r] for r in sorted(series)]
    ranked = sorted(values)
    bounds = median_interval(ranked, LEVEL)
    return Summary(
        cell_id=sample.cell_id,
        metric=metric,
        n_rounds=len(values),
        n_runs=sum(sample.runs.get(r, 0) for r in series),
        n_void=len(sample.void),
        median=statistics.median(ranked),
        lo=bounds[0] if bounds else None,
        hi=bounds[1] if bounds else None,
        mean=statistics.fmean(values),
        sd=statistics.stdev(values) if len(values) > 1 else None,
        min=ranked[0],
        max=ranked[-1],
        p95=ranked[math.ceil(0.95 * len(ranked)) - 1] if len(ranked) >= FEWEST_FOR_P95 else None,
        warnings=_warnings(ranked),
    )


def median_interval(ranked: Sequence[float], level: float) -> tuple[float, float] | None:
    """Return the distribution-free confidence interval of a median; `None` if n is too small.

    It is from the k-th smallest to the k-th largest value, with k the largest number for which
    P(Bin(n, ½) < k) ≤ (1 − level)/2 (Hollander, Wolfe & Chicken 2014, section 3.6).

    `ranked` is in ascending order.
    """
    k = median_rank(len(ranked), level)
    return (ranked[k - 1], ranked[-k]) if k else None


@lru_cache(maxsize=512)
def median_rank(n: int, level: float) -> int:
    """Return k of `median_interval`; 0 if even the extreme values do not reach the level."""
    k, chances, below = 0, 1, 1  # C(n, k) and the sum of C(n, i) for i ≤ k, as shares of 2ⁿ
    while k <= n // 2 and below / 2**n <= (1 - level) / 2:
        chances = chances * (n - k) // (k + 1)
        below += chances
        k += 1
    return min(k, (n + 1) // 2)


def _warnings(ranked: Sequence[float]) -> tuple[str, ...]:
    centre = statistics.median(ranked)
    sigma = ROBUST_SIGMA * statistics.median(abs(v - centre) for v in ranked)
    outliers = sum(1 for v in ranked if sigma > 0 and abs(v - centre) > OUTLIER_SIGMAS * sigma)
    if not outliers:
        return ()
    return (f"outliers: {outliers} of {len(ranked)} rounds (kept)",)
