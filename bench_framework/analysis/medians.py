"""Comparisons without a swap test: memory by medians, deterministic metrics exactly (METHOD 5)."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Final

from bench_framework.analysis import summary
from bench_framework.analysis.verdict import by_interval
from bench_framework.model.judgement import Comparison, Interval, Verdict

if TYPE_CHECKING:
    from bench_framework.analysis.samples import Pair
    from bench_framework.model.plan import Metric

EXACT_METRICS: Final = frozenset({"binary_size", "stripped_size", "instructions", "dependencies"})
"""The same in every run of the same binary: a difference is a difference."""
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
    a = summary.median_interval(ours, reached - 1e-12) or (ours[0], ours[-1])
    b = summary.median_interval(theirs, reached - 1e-12) or (theirs[0], theirs[-1])
    shown = Interval(estimate, a[0] / b[1], a[1] / b[0], 1 - 2 * (1 - reached))
    verdict, reason = _verdict(shown, wanted, reached, margin, epsilon)
    return Comparison(
        cell_id=cell_id, ref_cell_id=ref_cell_id, metric=metric, family="memory", verdict=verdict,
        reason=reason, shown=shown, statistic="median", rounds=n, margin=margin, epsilon=epsilon,
    )  # fmt: skip


def _verdict(
    shown: Interval, wanted: float, reached: float, margin: float, epsilon: float
) -> tuple[Verdict, str]:  # fmt: skip
    if reached < wanted and reached < LEAST_SURE:
        return Verdict.UNDECIDED, "too few rounds"
    if reached < wanted:
        return Verdict.UNDECIDED, "too few rounds for so many comparisons"
    if 1 / (1 + margin) < shown.lo and shown.hi < 1 + margin:
        small = (
            abs(math.log(shown.ratio)) < math.log1p(epsilon)
            or by_interval(shown, margin) is Verdict.UNDECIDED
        )
        return (Verdict.EQUIVALENT, "") if small else (by_interval(shown, margin), "")
    if abs(math.log(shown.ratio)) < math.log1p(epsilon):
        return Verdict.UNDECIDED, ""
    return by_interval(shown, margin), ""


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

    Within ε they are equivalent; beyond the margin better or worse; between, size open.

    Raises:
        ValueError: a value is not above zero.
    """
    if value <= 0 or reference <= 0:
        raise ValueError(f"{metric} has no ratio: {value} against {reference}")
    quotient = value / reference
    shown = Interval(quotient, quotient, quotient, 1.0)
    apart = abs(math.log(quotient)) > math.log1p(epsilon)
    verdict = by_interval(shown, margin) if apart else Verdict.EQUIVALENT
    return Comparison(
        cell_id=cell_id, ref_cell_id=ref_cell_id, metric=metric, family="exact",
        verdict=verdict if verdict is not Verdict.UNDECIDED else Verdict.EQUIVALENT,
        shown=shown, statistic="exact", margin=margin, epsilon=epsilon,
    )  # fmt: skip
