"""Adjustment of p-values for interim analyses and for families of comparisons.

The module also computes the minimum detectable effect at the adjusted level.
See `docs/method.md#interim-analyses` and `docs/method.md#families`. It does not use numpy.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench_framework.model.verdict import Interval
from bench_framework.stats.portable_math import log, log1p, normal_quantile

DETECTION_POWER: Final = 0.95
"""Probability with which a true difference as large as the MDE is found."""
MDE_FACTOR: Final = 1.25
"""Safety factor of the standard error. Without it, the measured power at the MDE was 86 to 96 %."""


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The result of Holm's procedure for one comparison of a family.

    Attributes:
        rejected: whether the null hypothesis (no difference) is rejected at the family's α.
        p: the adjusted p-value. The comparison is rejected if this is at most α.
        divisor: h. The comparison was tested at level α ÷ h. For a comparison that is not
            rejected, h is the divisor of the step at which the procedure stopped.
    """

    rejected: bool
    p: float
    divisor: int


def adjust_for_looks(smallest: float, looks: int) -> float:
    """Return P = min(1, J · p), Bonferroni's adjustment of a p-value for interim analyses.

    P is valid at every interim analysis, so that measuring may stop after any of them.

    `looks` is J, the planned number of interim analyses, including those not yet taken.
    """
    return min(1.0, looks * smallest)


def holm(p_values: Sequence[float], *, size: int, level: float) -> tuple[Adjusted, ...]:
    """Apply Holm's step-down procedure to a family of comparisons.

    It controls the family-wise error rate: with probability at least 1 − α, no comparison without
    a true difference is rejected (S. Holm, Scandinavian Journal of Statistics 6, 1979).
    Equal p-values share the divisor of the first of them, so that the order of variants in a
    scenario has no influence; p-values from few rounds are often equal. The set of rejected
    comparisons is the same as without this rule.

    There are p-values of the comparisons with data. The others of the `size` planned ones count as
    p = 1. The results are in the order of `p_values`.
    """
    size = max(size, len(p_values), 1)
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    results: dict[int, Adjusted] = {}
    highest, going, divisor, stopped_at = 0.0, True, size, size
    for place, index in enumerate(order):
        if place and p_values[index] != p_values[order[place - 1]]:
            divisor = size - place
        highest = max(highest, min(1.0, divisor * p_values[index]))
        if going and highest > level:
            going, stopped_at = False, divisor
        results[index] = Adjusted(going, highest, divisor if going else stopped_at)
    return tuple(results[i] for i in range(len(p_values)))


def log_half_width(interval: Interval) -> float:
    """Return the half-width of a bounded interval on the log scale."""
    return (log(interval.hi) - log(interval.lo)) / 2


def minimum_detectable_effect(half: float, strict: float, epsilon: float) -> float:
    """Return the minimum detectable effect (MDE): the true log ratio that is found with 95 % power.

    MDE = 1.25·(z₁₋a⁄₂ + z₀.₉₅)·SE, with SE = half ÷ z₀.₉₇₅ and a = `strict`. A verdict
    also needs an estimate beyond ε, so that the first summand is at least ln(1 + ε).

    `half` is the half-width of a 95 % interval on the log scale, and `strict` is α/(J·M), the level
    of the first step of Holm's procedure. `epsilon` is ε, the minimum effect size as a fraction.
    """
    error = MDE_FACTOR * half / normal_quantile(0.975)
    power = normal_quantile(DETECTION_POWER)
    return max(normal_quantile(1 - strict / 2) * error, log1p(epsilon)) + power * error
