"""Wilcoxon's signed-rank statistic with its exact null distribution, including ties and zeros.

If labels are exchanged within rounds, every difference keeps its size and gets a random sign. The null
distribution of the sum of signed ranks is therefore exact for any noise, given the ranks. Zeros do
not change under a swap, contain no information and are left out (Wilcoxon 1945). Ties get
midranks, which are doubled so that they are integers (Hollander, Wolfe & Chicken 2014,
section 3.1).
"""

import math
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from bench_framework import _native
from bench_framework.stats.portable_math import normal_quantile

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EXACT_UNTIED: Final = 1000
"""Most differences without ties for which the exact null distribution is used."""
EXACT_TIED: Final = 200
"""Most differences with ties for which the exact null distribution is used.

Above these numbers, the normal approximation is used. Its tails are heavier than the exact ones
there, so that the p-value is conservative.
"""


def signed_ranks(differences: Floats) -> Ints:
    """Return the doubled midranks of |d| with the sign of d.

    Log ratios of shape (n,) are rounded to 12 decimals, because equal ratios differ in their last
    bits.
    """
    return np.array(_native.signed_ranks(differences), dtype=np.int64)


def tail(ranks: Ints) -> Floats:
    """Return P(|V| ≥ v) for v = 0 … Σ|r|, where V = Σ ±r has independent signs of equal chance.

    The signs and zeros of the doubled midranks have no influence. The result has the shape (1 +
    Σ|r|,).
    """
    sizes = np.sort(np.abs(ranks[ranks != 0]))
    n = len(sizes)
    if n == 0:
        return np.ones(1)
    if (sizes == 2 * np.arange(1, n + 1)).all():
        return _untied(n)
    return _two_sided(_distribution(sizes)) if n <= EXACT_TIED else _normal(sizes)


def p_value(differences: Floats) -> float:
    """Return the exact two-sided p-value of the signed-rank test; 1 if all differences are zero."""
    ranks = signed_ranks(differences)
    return float(tail(ranks)[abs(int(ranks.sum()))])


def walsh_cut(n: int, level: float) -> int | None:
    """Return how many Walsh averages are outside the confidence interval on each side.

    This is the largest c with P(W⁺ ≤ c) ≤ (1 − level) / 2. The interval is from the (c+1)-th
    smallest to the (c+1)-th largest of the n(n+1)/2 averages (Hollander, Wolfe & Chicken 2014,
    section 3.3). The result is `None` if n values cannot reach `level`.
    """
    target = (1 - level) / 2
    if n < 1:
        return None
    if n > EXACT_UNTIED:
        mean, sd = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return max(0, int(mean + normal_quantile(target) * sd - 0.5))
    below = np.searchsorted(_cumulative(n), target * (1 + 1e-12), side="right")
    return int(below) - 1 if below else None


@lru_cache(maxsize=64)
def _untied(n: int) -> Floats:
    single = _two_sided(_positive_sum(n)) if n <= EXACT_UNTIED else _normal(np.arange(1, n + 1))
    return np.repeat(single, 2)[1:]  # V is even there: P(|V| ≥ 2v − 1) = P(|V| ≥ 2v)


@lru_cache(maxsize=64)
def _cumulative(n: int) -> Floats:
    return np.cumsum(_positive_sum(n))


@lru_cache(maxsize=64)
def _positive_sum(n: int) -> Floats:
    """Return P(W⁺ = w) for w = 0 … n(n+1)/2 and n values without ties."""
    return _distribution(np.arange(1, n + 1))


def _distribution(sizes: Ints) -> Floats:
    """Return P(W⁺ = w), where W⁺ is the sum of the sizes that have a positive sign."""
    total = int(sizes.sum())
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    top = 0
    for size in sizes.tolist():
        grown = chances[: top + size + 1].copy()
        grown[size:] += chances[: top + 1]
        top += size
        chances[: top + 1] = grown / 2
    return chances


def _two_sided(chances: Floats) -> Floats:
    """Return P(|2W⁺ − S| ≥ v) for v = 0 … S from P(W⁺ = w): twice the upper tail, by symmetry."""
    total = len(chances) - 1
    upper = np.cumsum(chances[::-1])[::-1]
    v = np.arange(total + 1)
    first = (total + v + 1) // 2  # smallest w with 2w − S ≥ v
    both = 2 * upper[first]
    both[0] = 1.0
    return np.minimum(both, 1.0)


def _normal(sizes: Ints) -> Floats:
    sd = math.sqrt(int((sizes * sizes).sum()))
    v = np.arange(int(sizes.sum()) + 1)
    return np.minimum(1.0, 2 * np.frombuffer(_native.normal_cdf(-np.maximum(v - 1, 0) / sd)))
