"""Estimates and confidence intervals of the two statistics of a paired comparison.

All values are natural logarithms of ratios, candidate ÷ reference, so that 0 means equal.

- Typical ratio, θ₂: the Hodges-Lehmann estimate with Walsh averages and the exact null
  distribution of the signed-rank statistic.
- Fastest third (floor), θ₁: the difference of the means of the smallest third of each side. Its
  interval contains all shifts that the label-swap test does not reject.

See `docs/method.md#paired-test` and `docs/method.md#intervals`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from bench_framework.model.verdict import Interval
from bench_framework.stats import label_swaps, signed_rank
from bench_framework.stats.portable_math import drop_unstable_digits, exp

Floats = npt.NDArray[np.float64]

SWAPS_LEAST: Final = 2047
"""Fewest swaps. These are all swaps of 12 rounds."""
SWAPS_ENOUGH: Final = 40_000
"""Most swaps for a level that fewer swaps can reach."""
SWAPS_MOST: Final = 200_000
"""Most swaps for levels that fewer swaps cannot reach: families of 500 comparisons and more."""
QUICK_SWAPS: Final = 499
"""Swaps that give the half-width of a 95 % interval within 10 %."""
PRECISION: Final = 0.005
"""Precision of a bound of θ₁, as a share of the half-width. Bounds are moved outward by it."""
WIDENINGS: Final = 40
"""Steps of 50 % by which a search for a bound moves outward before the bound counts as infinite."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """An estimate of a log ratio with its confidence interval.

    Attributes:
        estimate: the point estimate of ln(candidate ÷ reference).
        lo: lower end; −∞ if the rounds or the swaps cannot reach the level.
        hi: upper end; +∞ if the rounds or the swaps cannot reach the level.
        level: confidence level of the interval, such as 0.95.
    """

    estimate: float
    lo: float
    hi: float
    level: float

    @property
    def bounded(self) -> bool:
        """Return whether both ends are finite."""
        return math.isfinite(self.lo) and math.isfinite(self.hi)

    @property
    def half_width(self) -> float:
        """Return half the distance between the ends, on the log scale."""
        return (self.hi - self.lo) / 2

    @property
    def ratio(self) -> Interval:
        """Return the interval as a ratio, exp(bounds). Infinite ends become 0 and infinity."""
        lo, hi = (
            exp(min(v, 700.0)) if math.isfinite(v) else max(0.0, v) for v in (self.lo, self.hi)
        )
        return Interval(exp(self.estimate), lo, hi, self.level)

    def inside(self, limit: float) -> bool:
        """Return whether the whole interval is strictly between −limit and +limit."""
        return -limit < self.lo and self.hi < limit


def walsh_averages(differences: Floats) -> Floats:
    """Return the Walsh averages (dᵢ + dⱼ)/2 for all i ≤ j, sorted; n(n+1)/2 values."""
    i, j = _pairs(len(differences))
    return np.sort((differences[i] + differences[j]) / 2)


@lru_cache(maxsize=8)
def _pairs(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the indices of all pairs i ≤ j below n, as two arrays."""
    return np.triu_indices(n)


def attainable(n: int) -> float:
    """Return the highest level that an interval over n rounds can have: 1 − 2·2⁻ⁿ."""
    return 1 - 2.0 ** (1 - n) if n else 0.0


def typical(differences: Floats, level: float) -> Bounds:
    """Estimate θ₂, the typical log ratio, with its confidence interval.

    Source: Hodges & Lehmann, Annals of Mathematical Statistics 34 (1963); Hollander, Wolfe &
    Chicken 2014, sections 3.2 and 3.3.

    Args:
        differences: log ratios, one per round; at least one.
        level: requested confidence level, such as 0.95.

    Returns:
        Bounds at the requested level, or at the attainable level if that is lower.
    """
    (bounds,) = typical_at(differences, (level,))
    return bounds


def typical_at(differences: Floats, levels: tuple[float, ...]) -> tuple[Bounds, ...]:
    """Estimate θ₂ with its confidence interval at several levels, in the order of `levels`."""
    n = len(differences)
    walsh = walsh_averages(differences)
    estimate = float(np.median(walsh))
    bounds = []
    for level in levels:
        reached = min(level, attainable(n))
        cut = signed_rank.walsh_cut(n, reached) or 0
        bounds.append(Bounds(estimate, float(walsh[cut]), float(walsh[-1 - cut]), reached))
    return tuple(bounds)


class FloorInverter:
    """Confidence intervals of θ₁ by inversion of its label-swap test.

    A shift c is in the interval if more than a share 1 − level of the swaps of (x − c, y) reach
    |θ₁ − c|. One set of swaps serves all shifts. The critical value changes slowly and
    continuously with c, so that each end of the interval is a root that a search can find.
    """

    def __init__(self, x: Floats, y: Floats, seed: int, count: int) -> None:
        self._x, self._y, self._tolerance = label_swaps.centred(x, y)
        self.estimate = label_swaps.floor_difference(x, y)
        self._swaps = label_swaps.Swaps(x, y, seed).take(count)
        self._known: dict[tuple[float, int], float] = {}

    def _critical(self, shift: float, rank: int) -> float:
        """Return the rank-th largest |θ₁| over the swaps of the shifted sides.

        Results are cached, because a search evaluates the ends of its range twice.
        """
        if (shift, rank) not in self._known:
            self._known[shift, rank] = self._largest(shift, rank)
        return self._known[shift, rank]

    def _largest(self, shift: float, rank: int) -> float:
        moved = self._x - np.float32(shift)
        size = np.abs(label_swaps.floor_under(moved, self._y, self._swaps))
        size.partition(len(size) - rank)
        return float(size[len(size) - rank])

    def bounds(self, level: float) -> Bounds:
        """Return the interval at a level; its ends are infinite if the swaps cannot reach it."""
        count = self._swaps.shape[1]
        rank = int((1 - level) * (count + 1) * (1 + 1e-12))
        if rank < 1 or rank > count:
            return Bounds(self.estimate, -math.inf, math.inf, level)
        width = self._critical(self.estimate, rank)
        if width <= 0:
            return self._degenerate(level, rank)
        return Bounds(self.estimate, self._end(-1, width, rank), self._end(+1, width, rank), level)

    def _degenerate(self, level: float, rank: int) -> Bounds:
        """Return the interval where no swap changes θ₁: the two sides differ by a constant."""
        tiny = 1e-6
        if self._critical(self.estimate + tiny, rank) < tiny:
            return Bounds(self.estimate, self.estimate - tiny, self.estimate + tiny, level)
        return Bounds(self.estimate, self._end(-1, tiny, rank), self._end(+1, tiny, rank), level)

    def _end(self, side: int, width: float, rank: int) -> float:
        """Return the end on one side, whose distance from the estimate is the critical value."""

        def excess(distance: float) -> float:
            # A swap that exchanges no fast round is equal to the observed order at every shift.
            # It counts as reached.
            return (
                distance - self._tolerance - self._critical(self.estimate + side * distance, rank)
            )

        inner, outer = 0.0, width
        for _ in range(WIDENINGS):
            if excess(outer) > 0:
                break
            inner, outer = outer, outer * 1.5
        else:
            return side * math.inf
        step = PRECISION * width
        root = brentq(excess, inner, outer, xtol=step) if inner or excess(0.0) < 0 else outer
        return self.estimate + side * (drop_unstable_digits(root) + step)


def swaps_for(level: float) -> int:
    """Return how many swaps resolve a level.

    The number is 4/(1 − level), from 2 047 to 40 000. If that cannot reach the level, it is
    1.5/(1 − level), at most 200 000.
    """
    precise = min(SWAPS_ENOUGH, max(SWAPS_LEAST, math.ceil(4 / (1 - level))))
    return max(precise, min(SWAPS_MOST, math.ceil(1.5 / (1 - level))))


def floor(x: Floats, y: Floats, level: float, seed: int) -> Bounds:
    """Estimate θ₁, the log ratio of the fastest thirds, with its confidence interval.

    Args:
        x: log values of the candidate, one per round.
        y: log values of the reference in the same rounds.
        level: requested confidence level; lowered to the attainable level of so many rounds.
        seed: seed of the label swaps.
    """
    reached = min(level, attainable(len(x)))
    return FloorInverter(x, y, seed, swaps_for(reached)).bounds(reached)


def approximate_floor_half_width(x: Floats, y: Floats, level: float, seed: int) -> float:
    """Approximate the half-width of θ₁'s interval by one pass of swaps.

    It is the critical value of the swap test at the estimate, without a search for the ends.
    """
    inverter = FloorInverter(x, y, seed, QUICK_SWAPS)
    rank = max(1, int((1 - level) * (QUICK_SWAPS + 1)))
    count = inverter._swaps.shape[1]  # noqa: SLF001 -- same module
    if not count:
        return math.inf
    return inverter._critical(inverter.estimate, min(rank, count))  # noqa: SLF001
