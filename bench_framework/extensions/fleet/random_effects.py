"""The mean of an effect that varies between sources, such as hosts, from one estimate of each.

Sources: R. C. Paule and J. Mandel, "Consensus values and weighting factors", Journal of Research of
the National Bureau of Standards 87 (1982), for the variance between the sources; J. IntHout,
J. P. A. Ioannidis and G. F. Borm, "The Hartung-Knapp-Sidik-Jonkman method for random effects
meta-analysis is straightforward and considerably outperforms the standard DerSimonian-Laird
method", BMC Medical Research Methodology 14:25 (2014), for the interval. `docs/method.md#several-hosts`
gives the formulas.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Final

from bench_framework.stats.portable_math import find_root
from bench_framework.stats.welch import Contrast

PRECISION: Final = 1e-14
"""Absolute precision of the variance between the sources, on the log scale."""


def random_effects(estimates: Sequence[float], errors: Sequence[float]) -> tuple[Contrast, float]:
    """Return the mean with its standard error, and the standard deviation between the sources.

    There are at least two estimates, and their standard errors are above zero.
    """
    freedom = len(estimates) - 1

    def weighted(between: float) -> tuple[float, float, float]:
        """Return mean, sum of the weights and weighted sum of squares for a variance."""
        weights = [1 / (error * error + between) for error in errors]
        total = math.fsum(weights)
        pairs = list(zip(weights, estimates, strict=True))
        mean = math.fsum(weight * value for weight, value in pairs) / total
        return mean, total, math.fsum(weight * (value - mean) ** 2 for weight, value in pairs)

    def excess(between: float) -> float:
        return weighted(between)[2] - freedom

    between = 0.0
    if excess(0.0) > 0:
        # The sum of squares is at most freedom · variance ÷ between, so the root is not above it.
        between = find_root(excess, 0.0, statistics.variance(estimates), PRECISION)
    mean, total, squares = weighted(between)
    # Estimates that agree better than their errors by chance must not make the interval narrower.
    error = math.sqrt(max(1.0, squares / freedom) / total)
    return Contrast(mean, error, float(freedom), len(estimates)), math.sqrt(between)
