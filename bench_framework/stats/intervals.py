"""The two intervals of a comparison, on the log scale (METHOD 2).

Typical (θ₂): Hodges-Lehmann with Walsh averages and the exact signed-rank null.
Floor (θ₁): all shifts that its label-swap test does not reject.
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
from bench_framework.stats.portable_math import exp, settled

Floats = npt.NDArray[np.float64]

SWAPS_LEAST: Final = 2047
"""All of them for up to 12 rounds."""
SWAPS_ENOUGH: Final = 40_000
SWAPS_MOST: Final = 200_000
"""Only for levels that fewer swaps cannot reach at all: families of 500 comparisons and more."""
QUICK_SWAPS: Final = 499
"""Enough for the half-width of a 95 % interval to within a tenth."""
PRECISION: Final = 0.005
"""Of a bound of θ₁, as a share of the half-width; bounds are moved outward by it."""
WIDENINGS: Final = 40


@dataclass(frozen=True, slots=True)
class Bounds:
    """An estimate of a log ratio with its interval; infinite where the level cannot be reached."""

    estimate: float
    lo: float
    hi: float
    level: float

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.lo) and math.isfinite(self.hi)

    @property
    def half_width(self) -> float:
        """Half the distance between the ends."""
        return (self.hi - self.lo) / 2

    @property
    def ratio(self) -> Interval:
        """E to the bounds; 0 and infinity for infinite ones."""
        lo, hi = (
            exp(min(v, 700.0)) if math.isfinite(v) else max(0.0, v) for v in (self.lo, self.hi)
        )
        return Interval(exp(self.estimate), lo, hi, self.level)

    def inside(self, limit: float) -> bool:
        """Whether the whole interval lies strictly between −limit and +limit."""
        return -limit < self.lo and self.hi < limit


def walsh_averages(differences: Floats) -> Floats:
    """All (dᵢ + dⱼ)/2 with i ≤ j, sorted."""
    i, j = _pairs(len(differences))
    return np.sort((differences[i] + differences[j]) / 2)


@lru_cache(maxsize=8)
def _pairs(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """All i ≤ j below n, as two arrays."""
    return np.triu_indices(n)


def attainable(n: int) -> float:
    """The highest level that an interval over n rounds can have: 1 − 2·2⁻ⁿ."""
    return 1 - 2.0 ** (1 - n) if n else 0.0


def typical(differences: Floats, level: float) -> Bounds:
    """θ₂ with its interval.

    Args:
        differences: paired log ratios, at least one.
        level: wanted; lowered to what so few rounds can give, and stored as it is.

    Returns:
        Bounds whose level is the lower of the wanted and the attainable one.
    """
    (found,) = typical_at(differences, (level,))
    return found


def typical_at(differences: Floats, levels: tuple[float, ...]) -> tuple[Bounds, ...]:
    """θ₂ with its interval at several levels."""
    n = len(differences)
    walsh = walsh_averages(differences)
    estimate = float(np.median(walsh))
    found = []
    for level in levels:
        reached = min(level, attainable(n))
        cut = signed_rank.walsh_cut(n, reached) or 0
        found.append(Bounds(estimate, float(walsh[cut]), float(walsh[-1 - cut]), reached))
    return tuple(found)


class FloorInverter:
    """Bounds of θ₁ by inverting its label-swap test, with one set of swaps for all shifts.

    A shift c is kept while the swaps of (x − c, y) that reach |θ₁ − c| make up more than 1 − level.
    The critical value moves slowly and continuously with c, so that each bound is a root.
    """

    def __init__(self, x: Floats, y: Floats, seed: int, count: int) -> None:
        self._x, self._y, self._tolerance = label_swaps.centred(x, y)
        self.estimate = label_swaps.floor_difference(x, y)
        self._swaps = label_swaps.Swaps(x, y, seed).take(count)
        self._known: dict[tuple[float, int], float] = {}

    def _critical(self, shift: float, rank: int) -> float:
        """The rank-th largest |θ₁| over the swaps of the shifted arms; a search for a bound asks twice for its ends."""
        if (shift, rank) not in self._known:
            self._known[shift, rank] = self._largest(shift, rank)
        return self._known[shift, rank]

    def _largest(self, shift: float, rank: int) -> float:
        moved = self._x - np.float32(shift)
        size = np.abs(label_swaps.floor_under(moved, self._y, self._swaps))
        size.partition(len(size) - rank)
        return float(size[len(size) - rank])

    def bounds(self, level: float) -> Bounds:
        """The interval at a level; ends are infinite where these swaps cannot reach it."""
        count = self._swaps.shape[1]
        rank = int((1 - level) * (count + 1) * (1 + 1e-12))
        if rank < 1 or rank > count:
            return Bounds(self.estimate, -math.inf, math.inf, level)
        width = self._critical(self.estimate, rank)
        if width <= 0:
            return self._degenerate(level, rank)
        return Bounds(self.estimate, self._end(-1, width, rank), self._end(+1, width, rank), level)

    def _degenerate(self, level: float, rank: int) -> Bounds:
        """No swap moves θ₁ at the estimate itself: the two arms differ by a constant there."""
        tiny = 1e-6
        if self._critical(self.estimate + tiny, rank) < tiny:
            return Bounds(self.estimate, self.estimate - tiny, self.estimate + tiny, level)
        return Bounds(self.estimate, self._end(-1, tiny, rank), self._end(+1, tiny, rank), level)

    def _end(self, side: int, width: float, rank: int) -> float:
        """The bound on one side: where the distance from the estimate meets the critical value."""

        def excess(distance: float) -> float:
            # Swaps that touch no fast round tie with the observed order at every shift: they reach it.
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
        return self.estimate + side * (settled(root) + step)


def swaps_for(level: float) -> int:
    """Swaps that resolve a level: 4/(1 − level) from 2 047 to 40 000, and more where it takes more."""
    wanted = min(SWAPS_ENOUGH, max(SWAPS_LEAST, math.ceil(4 / (1 - level))))
    return max(wanted, min(SWAPS_MOST, math.ceil(1.5 / (1 - level))))


def floor(x: Floats, y: Floats, level: float, seed: int) -> Bounds:
    """θ₁ of log times with its interval; the level is lowered to what the rounds can give."""
    reached = min(level, attainable(len(x)))
    return FloorInverter(x, y, seed, swaps_for(reached)).bounds(reached)


def quick_floor_half_width(x: Floats, y: Floats, level: float, seed: int) -> float:
    """Half-width of θ₁'s interval from the spread of its null at the estimate: one pass of swaps."""
    inverter = FloorInverter(x, y, seed, QUICK_SWAPS)
    rank = max(1, int((1 - level) * (QUICK_SWAPS + 1)))
    count = inverter._swaps.shape[1]  # noqa: SLF001 -- one class, two doors
    return inverter._critical(inverter.estimate, min(rank, count)) if count else math.inf  # noqa: SLF001
