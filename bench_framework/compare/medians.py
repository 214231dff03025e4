"""Comparisons without a swap test: memory by medians, deterministic metrics exactly (METHOD 5)."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.compare import summaries
from bench_framework.compare.decide import Decision, decide_by_interval
from bench_framework.model.judgement import Comparison
from bench_framework.model.metrics import METRICS, is_exact
from bench_framework.model.verdict import Interval, Thresholds, Verdict
from bench_framework.stats.portable_math import exp, expm1, log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.compare.samples import Pair
    from bench_framework.model.policies import Metric

EXACT_METRICS: Final = frozenset(name for name in METRICS if is_exact(name))
"""The same in every run of the same binary: a difference is a difference."""
RANGES: Final = 3
RANGES_OF_TWO: Final = 10
"""How many ranges of its repetitions a count is taken to be uncertain by; two lie close by chance more often."""
SURE: Final = 0.99
"""Level of the interval of counts that vary. Simulated: docs/method.md, section 5."""
LEAST_SURE: Final = 0.95


def compare_medians(
    cell_id: str,
    ref_cell_id: str,
    metric: Metric,
    pair: Pair,
    *,
    level: float,
    size: int,
    margin: float,
    epsilon: float,
) -> Comparison:
    """Ratio of two medians with an interval from order statistics.

    Each median gets its interval at 1 − α/(2·size), so that both hold together, and all `size`
    comparisons of the family with them (Bonferroni); the ratio lies between the quotients of
    their ends. A ratio within ±`epsilon` is never called a difference.

    Args:
        cell_id: candidate.
        ref_cell_id: baseline.
        metric: such as ``peak_rss``.
        pair: common rounds, at least one.
        level: α of the family.
        size: comparisons that share α.
        margin: δ.
        epsilon: ε.
    """
    n = len(pair)
    wanted = 1 - level / (2 * max(1, size))
    reached = min(wanted, 1 - 2.0 ** (1 - n))
    ours, theirs = sorted(pair.candidate), sorted(pair.reference)
    estimate = statistics.median(ours) / statistics.median(theirs)
    a = summaries.median_interval(ours, reached - 1e-12) or (ours[0], ours[-1])
    b = summaries.median_interval(theirs, reached - 1e-12) or (theirs[0], theirs[-1])
    shown = Interval(estimate, a[0] / b[1], a[1] / b[0], 1 - 2 * (1 - reached))
    found = _decide(shown, wanted, reached, Thresholds(margin, epsilon))
    return Comparison(
        cell_id=cell_id,
        ref_cell_id=ref_cell_id,
        metric=metric,
        family="memory",
        verdict=found.verdict,
        reason=found.reason,
        shown=shown,
        statistic="median",
        rounds=n,
        margin=margin,
        epsilon=epsilon,
    )


def _decide(shown: Interval, wanted: float, reached: float, thresholds: Thresholds) -> Decision:
    if reached < wanted:
        reason = (
            "too few rounds" if reached < LEAST_SURE else "too few rounds for so many comparisons"
        )
        return Decision(Verdict.INCONCLUSIVE, shown, "median", reason)
    return decide_by_interval(shown, "median", thresholds)


def compare_exact(
    cell_id: str,
    ref_cell_id: str,
    metric: Metric,
    value: float,
    reference: float,
    *,
    margin: float,
    epsilon: float = 0.0,
) -> Comparison:
    """Two values of a deterministic metric, both above zero.

    Within ε they are equivalent; beyond the margin better or worse; between, size uncertain.

    Raises:
        ValueError: a value is not above zero.
    """
    if value <= 0 or reference <= 0:
        raise ValueError(f"{metric} has no ratio: {value} against {reference}")
    quotient = value / reference
    shown = Interval(quotient, quotient, quotient, 1.0)
    found = decide_by_interval(shown, "exact", Thresholds(margin, epsilon)).verdict
    return Comparison(
        cell_id=cell_id,
        ref_cell_id=ref_cell_id,
        metric=metric,
        family="exact",
        verdict=found if found.decided else Verdict.EQUIVALENT,
        shown=shown,
        statistic="exact",
        margin=margin,
        epsilon=epsilon,
    )


def compare_counts(
    cell_id: str,
    ref_cell_id: str,
    metric: Metric,
    counts: Sequence[float],
    reference: Sequence[float],
    *,
    margin: float,
) -> Comparison:
    """Two deterministic counts, each repeated a few times; all above zero.

    Where every repetition gives one number this is `compare_exact`. Where they vary, each median is taken to be
    uncertain by three times the range of its repetitions (ten times with two; on the log scale), and the verdict
    is that of the ratio's interval: inconclusive if that reaches 1 and leaves the margin.

    Raises:
        ValueError: a count is not above zero, or there is none.
    """
    if not counts or not reference:
        raise ValueError(f"{metric} was not counted")
    exact = compare_exact(
        cell_id,
        ref_cell_id,
        metric,
        statistics.median(counts),
        statistics.median(reference),
        margin=margin,
    )
    ranges = RANGES if min(len(counts), len(reference)) > 2 else RANGES_OF_TWO  # noqa: PLR2004 -- repetitions
    half = ranges * (spread(counts) + spread(reference))
    if not half or exact.shown is None:
        return replace(exact, runs=len(counts), runs_ref=len(reference))
    ratio = exact.shown.ratio
    shown = Interval(ratio, ratio * exp(-half), ratio * exp(half), SURE)
    verdict = decide_by_interval(shown, "exact", Thresholds(margin, 0.0)).verdict
    reason = ""
    if not verdict.settled:
        reason = f"counts of one program vary by up to {100 * expm1(max(spread(counts), spread(reference))):.2g} %"
    return replace(
        exact,
        verdict=verdict,
        reason=reason,
        shown=shown,
        runs=len(counts),
        runs_ref=len(reference),
    )


def spread(counts: Sequence[float]) -> float:
    """Logarithm of the largest count over the smallest; 0 where all are equal."""
    return log(max(counts) / min(counts))
