"""Summaries of cells, and comparisons by medians: of memory, and of deterministic metrics.

See `docs/method.md#memory` and `docs/method.md#exact-metrics`.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from bench_framework.compare.decide import IntervalVerdict, decide_by_interval
from bench_framework.compare.samples import Pair, Sample, runs_within
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.result.judgement import Comparison, Summary
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats.portable_math import exp, expm1, log

LEVEL: Final = 0.95
"""Confidence level of the interval of a median."""
FEWEST_FOR_P95: Final = 20
"""With fewer than 20 rounds, the 95th percentile would be the maximum."""
ROBUST_SIGMA: Final = 1.4826
"""σ ÷ MAD (median absolute deviation) of a normal distribution."""
OUTLIER_SIGMAS: Final = 5.0
"""A round further than this many robust σ from the median is an outlier. It is kept."""
RANGES: Final = 3
"""Uncertainty of a count, in multiples of the range of its repetitions."""
RANGES_OF_TWO: Final = 10
"""The same for two repetitions, which are close to each other by chance more often."""
COUNTS_LEVEL: Final = 0.99
"""Nominal level of the interval of varying counts (`docs/method.md#exact-metrics`)."""
LEAST_LEVEL: Final = 0.95
"""Below this level, the rounds are too few for one comparison alone."""


def summarise(sample: Sample, metric: Metric) -> Summary:
    """Summarise one metric of one cell, in its unit, over all rounds; one has a value."""
    series = sample.values(metric)
    ranked = sorted(series.values())
    lo, hi = median_interval(ranked, LEVEL) or (None, None)
    p95 = ranked[math.ceil(0.95 * len(ranked)) - 1] if len(ranked) >= FEWEST_FOR_P95 else None
    return replace(
        summary_of(sample.cell_id, metric, ranked),
        n_rounds=len(ranked),
        n_runs=runs_within(sample, series),
        n_void=len(sample.void),
        lo=lo,
        hi=hi,
        p95=p95,
        warnings=_warnings(ranked),
    )


def summary_of(cell_id: str, metric: Metric, values: Sequence[float]) -> Summary:
    """Summarise at least one value of untimed runs, without an interval."""
    return Summary(
        cell_id=cell_id,
        metric=metric,
        n_rounds=0,
        n_runs=len(values),
        n_void=0,
        median=statistics.median(values),
        lo=None,
        hi=None,
        mean=statistics.fmean(values),
        sd=statistics.stdev(values) if len(values) > 1 else None,
        min=min(values),
        max=max(values),
        p95=None,
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


def _warnings(ranked: Sequence[float]) -> tuple[Reason, ...]:
    centre = statistics.median(ranked)
    sigma = ROBUST_SIGMA * statistics.median(abs(v - centre) for v in ranked)
    outliers = sum(1 for v in ranked if sigma > 0 and abs(v - centre) > OUTLIER_SIGMAS * sigma)
    if not outliers:
        return ()
    return (Reason(ReasonCode.OUTLIERS, (outliers, len(ranked))),)


def compare_medians(draft: Comparison, pair: Pair, *, level: float, size: int) -> Comparison:
    """Compare two medians by the order-statistic intervals of both.

    Each median has an interval at level 1 − α/(2·size), so that both intervals, and those of all
    `size` comparisons of the family, are valid simultaneously (Bonferroni). The interval of the
    ratio is given by the quotients of their ends. A ratio within ±ε is never called a difference.

    The pair has at least one round.
    """
    n = len(pair)
    requested = 1 - level / (2 * max(1, size))
    reached = min(requested, 1 - 2.0 ** (1 - n))
    ours, theirs = sorted(pair.candidate), sorted(pair.reference)
    estimate = statistics.median(ours) / statistics.median(theirs)
    a = median_interval(ours, reached - 1e-12) or (ours[0], ours[-1])
    b = median_interval(theirs, reached - 1e-12) or (theirs[0], theirs[-1])
    level = max(1 - 2 * (1 - reached), 0.0)  # with a single round, the sum of both errors is 2
    interval = Interval(estimate, a[0] / b[1], a[1] / b[0], level)
    decision = decide_by_interval(interval, "median", draft.thresholds)
    if reached < requested:
        many = reached >= LEAST_LEVEL
        code = ReasonCode.TOO_FEW_FOR_COMPARISONS if many else ReasonCode.TOO_FEW_ROUNDS
        decision = IntervalVerdict(Verdict.INCONCLUSIVE, interval, "median", Reason(code))
    return replace(decision.on(draft), rounds=n)


def compare_exact(draft: Comparison, value: float, reference: float) -> Comparison:
    """Compare two values of a deterministic metric.

    Values that differ by at most ε are equivalent. Beyond the margin, the verdict is better or
    worse; between ε and the margin, better or worse, size uncertain. Two zeros are equal; one zero
    has no ratio and no verdict.
    """
    if not value and not reference:
        value = reference = 1.0
    if not value or not reference:
        return replace(draft, reason=Reason(ReasonCode.ZERO_COUNT))
    quotient = value / reference
    interval = Interval(quotient, quotient, quotient, 1.0)
    verdict = decide_by_interval(interval, "exact", draft.thresholds).verdict
    verdict = verdict if verdict.decided else Verdict.EQUIVALENT
    return replace(draft, verdict=verdict, shown=interval, statistic="exact")


def ranges_of(repetitions: int) -> int:
    """Return the uncertainty of a count with some repetitions, in multiples of their range."""
    return RANGES if repetitions > 2 else RANGES_OF_TWO  # noqa: PLR2004 -- as the constants say


def compare_counts(
    draft: Comparison, counts: Sequence[float], reference: Sequence[float]
) -> Comparison:
    """Compare two deterministic counts, each repeated a few times.

    If all repetitions of each side agree, this is `compare_exact`. Otherwise, the uncertainty of
    each median is three times the range of its repetitions on the log scale (ten times with two
    repetitions). The verdict is that of the resulting interval of the ratio
    (`docs/method.md#exact-metrics`).

    Raises `ValueError`: a side has no count.
    """
    if not counts or not reference:
        raise ValueError(draft.metric)
    every = (*counts, *reference)
    if any(every) and not all(every):
        return replace(draft, reason=Reason(ReasonCode.ZERO_COUNT))
    exact = compare_exact(draft, statistics.median(counts), statistics.median(reference))
    exact = replace(exact, runs=len(counts), runs_ref=len(reference))
    repetitions = min(len(counts), len(reference))
    half = ranges_of(repetitions) * (spread(counts) + spread(reference))
    if not half:
        return exact
    assert exact.shown is not None
    ratio = exact.shown.ratio
    interval = Interval(ratio, ratio * exp(-half), ratio * exp(half), COUNTS_LEVEL)
    verdict = decide_by_interval(interval, "exact", draft.thresholds).verdict
    reason = None
    if not verdict.settled:
        widest = expm1(max(spread(counts), spread(reference)))
        reason = Reason(ReasonCode.COUNTS_VARY, widest)
    return replace(exact, verdict=verdict, reason=reason, shown=interval)


def spread(counts: Sequence[float]) -> float:
    """Return the logarithm of the largest count over the smallest; 0 if all are equal."""
    return log(max(counts) / min(counts)) if any(counts) else 0.0
