"""Wilcoxon's signed-rank statistic with its exact null, ties and zeros included.

Under label swaps within rounds every difference keeps its size and gets a random sign, so the null
of the sum of signed ranks is exact whatever the distribution, given the ranks. Zeros do not change
under a swap: they carry no information and are left out (Wilcoxon 1945). Ties get midranks, doubled
so that they stay whole numbers (Hollander, Wolfe & Chicken 2014, section 3.1).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

EXACT_UNTIED: Final = 1000
EXACT_TIED: Final = 200
"""Above these lengths the normal approximation is used; its tails are heavier than the exact ones
there, so that it errs on the careful side."""
RESOLUTION: Final = 12
"""Decimals of a log ratio that are compared: equal ratios differ in their last bits."""


def signed_ranks(differences: Floats) -> Ints:
    """Doubled midranks of |d| with the sign of d; 0 where d is 0. Shape as `differences`."""
    d = np.round(differences, RESOLUTION)
    size = np.abs(d)
    kept = size > 0
    values, inverse, counts = np.unique(size[kept], return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    doubled = 2 * last - counts + 1  # first + last rank of each group of ties
    ranks = np.zeros(len(d), dtype=np.int64)
    if len(values):
        ranks[kept] = doubled[inverse] * np.sign(d[kept]).astype(np.int64)
    return ranks


def tail(ranks: Ints) -> Floats:
    """P(|V| ≥ v) for v = 0 … Σ|r|, V = Σ ±r with fair independent signs.

    Args:
        ranks: doubled midranks; signs and zeros do not matter.
    """
    sizes = np.sort(np.abs(ranks[ranks != 0]))
    n = len(sizes)
    if n == 0:
        return np.ones(1)
    if np.array_equal(sizes, 2 * np.arange(1, n + 1)):
        single = _two_sided(_positive_sum(n)) if n <= EXACT_UNTIED else _normal(sizes // 2)
        return np.repeat(single, 2)[1:]  # V is even there: P(|V| ≥ 2v − 1) = P(|V| ≥ 2v)
    return _two_sided(_distribution(sizes)) if n <= EXACT_TIED else _normal(sizes)


def p_value(differences: Floats) -> float:
    """Two-sided exact p of the signed-rank statistic; 1 where every difference is zero."""
    ranks = signed_ranks(differences)
    return float(tail(ranks)[abs(int(ranks.sum()))])


def walsh_cut(n: int, level: float) -> int | None:
    """How many Walsh averages lie outside on each side, from 0; `None` if n cannot reach `level`.

    The largest c with P(W⁺ ≤ c) ≤ (1 − level) / 2; the interval runs from the (c+1)-th smallest
    to the (c+1)-th largest of the n(n+1)/2 averages.
    """
    target = (1 - level) / 2
    if n < 1:
        return None
    if n > EXACT_UNTIED:
        mean, sd = n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return max(0, int(mean + float(ndtri(target)) * sd - 0.5))
    below = np.searchsorted(_cumulative(n), target * (1 + 1e-12), side="right")
    return int(below) - 1 if below else None


@lru_cache(maxsize=64)
def _cumulative(n: int) -> Floats:
    return np.cumsum(_positive_sum(n))


@lru_cache(maxsize=64)
def _positive_sum(n: int) -> Floats:
    """P(W⁺ = w) for w = 0 … n(n+1)/2 without ties."""
    return _distribution(np.arange(1, n + 1))


def _distribution(sizes: Ints) -> Floats:
    """P(sum of the sizes with a plus = w), by adding one size after the other."""
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
    """P(|2W⁺ − S| ≥ v) for v = 0 … S, from P(W⁺ = w); symmetric, so twice the upper tail."""
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
    return np.minimum(1.0, 2 * ndtr(-np.maximum(v - 1, 0) / sd))
