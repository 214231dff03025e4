"""Comparisons by medians: of memory, and of deterministic metrics (`docs/method.md#memory`)."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bench_framework.compare import summaries
from bench_framework.compare.decide import decide_by_interval
from bench_framework.compare.samples import Pair
from bench_framework.model.judgement import Comparison
from bench_framework.model.metrics import METRICS, is_exact
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats.portable_math import exp, expm1, log

EXACT_METRICS: Final = frozenset(name for name in METRICS if is_exact(name))
"""Metrics that are equal in every run of one binary, so that they need no statistical test."""
RANGES: Final = 3
"""Uncertainty of a count, in multiples of the range of its repetitions."""
RANGES_OF_TWO: Final = 10
"""The same for two repetitions, which are close to each other by chance more often."""
COUNTS_LEVEL: Final = 0.99
"""Nominal level of the interval of varying counts (`docs/method.md#exact-metrics`)."""
LEAST_LEVEL: Final = 0.95
"""Below this level, the rounds are too few for one comparison alone."""


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
    a = summaries.median_interval(ours, reached - 1e-12) or (ours[0], ours[-1])
    b = summaries.median_interval(theirs, reached - 1e-12) or (theirs[0], theirs[-1])
    interval = Interval(estimate, a[0] / b[1], a[1] / b[0], 1 - 2 * (1 - reached))
    judged = replace(draft, shown=interval, statistic="median", rounds=n)
    if reached < requested:
        reason = (
            "too few rounds" if reached < LEAST_LEVEL else "too few rounds for so many comparisons"
        )
        return replace(judged, verdict=Verdict.INCONCLUSIVE, reason=reason)
    decision = decide_by_interval(interval, "median", draft.thresholds)
    return replace(judged, verdict=decision.verdict, reason=decision.reason)


def compare_exact(draft: Comparison, value: float, reference: float) -> Comparison:
    """Compare two values of a deterministic metric.

    Values that differ by at most ε are equivalent. Beyond the margin, the verdict is better or
    worse; between ε and the margin, better or worse, size uncertain.

    Raises `ValueError`: a value is not positive.
    """
    if value <= 0 or reference <= 0:
        raise ValueError(f"{draft.metric} has no ratio: {value} against {reference}")
    quotient = value / reference
    interval = Interval(quotient, quotient, quotient, 1.0)
    verdict = decide_by_interval(interval, "exact", draft.thresholds).verdict
    verdict = verdict if verdict.decided else Verdict.EQUIVALENT
    return replace(draft, verdict=verdict, shown=interval, statistic="exact")


def compare_counts(
    draft: Comparison, counts: Sequence[float], reference: Sequence[float]
) -> Comparison:
    """Compare two deterministic counts, each repeated a few times.

    If all repetitions of each side agree, this is `compare_exact`. Otherwise, the uncertainty of
    each median is three times the range of its repetitions on the log scale (ten times with two
    repetitions). The verdict is that of the resulting interval of the ratio
    (`docs/method.md#exact-metrics`).

    Raises `ValueError`: a count is not positive, or a side has no count.
    """
    if not counts or not reference:
        raise ValueError(f"{draft.metric} was not counted")
    exact = compare_exact(draft, statistics.median(counts), statistics.median(reference))
    exact = replace(exact, runs=len(counts), runs_ref=len(reference))
    repetitions = min(len(counts), len(reference))
    ranges = RANGES if repetitions > 2 else RANGES_OF_TWO  # noqa: PLR2004 -- as the constants say
    half = ranges * (spread(counts) + spread(reference))
    if not half or exact.shown is None:
        return exact
    ratio = exact.shown.ratio
    interval = Interval(ratio, ratio * exp(-half), ratio * exp(half), COUNTS_LEVEL)
    verdict = decide_by_interval(interval, "exact", draft.thresholds).verdict
    reason = ""
    if not verdict.settled:
        widest = expm1(max(spread(counts), spread(reference)))
        reason = f"repeated counts of one program vary by up to {100 * widest:.2g} %"
    return replace(exact, verdict=verdict, reason=reason, shown=interval)


def spread(counts: Sequence[float]) -> float:
    """Return the logarithm of the largest count over the smallest; 0 if all are equal."""
    return log(max(counts) / min(counts))
