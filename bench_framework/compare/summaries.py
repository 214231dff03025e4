"""Summaries of cells: centre, order-statistic interval, spread. Plain Python."""

from __future__ import annotations

import math
import statistics
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from bench_framework.model.judgement import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.compare.samples import Sample
    from bench_framework.model.policies import Metric

LEVEL: Final = 0.95
FEWEST_FOR_P95: Final = 20
"""Below 20 rounds the 95th percentile is the maximum."""
ROBUST_SIGMA: Final = 1.4826
"""MAD to σ for a normal distribution."""
FAR: Final = 5.0
"""Robust σ beyond which a round is said to lie far from the others; it is kept all the same."""


def summarise(sample: Sample, metric: Metric) -> Summary | None:
    """Summary of one metric of one cell; `None` where it was never measured.

    Units are the metric's own: seconds, bytes.
    """
    series = sample.of(metric)
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
    """Distribution-free interval of the median from order statistics; `None` if n is too small.

    The k-th smallest and k-th largest with P(Bin(n, ½) < k) ≤ (1 − level)/2
    (Hollander, Wolfe & Chicken 2014, section 3.6).
    """
    k = median_rank(len(ranked), level)
    return (ranked[k - 1], ranked[-k]) if k else None


@lru_cache(maxsize=512)
def median_rank(n: int, level: float) -> int:
    """K of `median_interval`; 0 where even the extremes do not reach the level."""
    k, chances, below = 0, 1, 1  # of 2ⁿ: n over k, and their sum up to k
    while k <= n // 2 and below / 2**n <= (1 - level) / 2:
        chances = chances * (n - k) // (k + 1)
        below += chances
        k += 1
    return min(k, (n + 1) // 2)


def _warnings(ranked: Sequence[float]) -> tuple[str, ...]:
    centre = statistics.median(ranked)
    sigma = ROBUST_SIGMA * statistics.median(abs(v - centre) for v in ranked)
    far = sum(1 for v in ranked if sigma > 0 and abs(v - centre) > FAR * sigma)
    if not far:
        return ()
    return (f"{far} of {len(ranked)} rounds lie far from the others; they are kept",)
