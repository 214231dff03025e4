"""The test of one comparison: min-P over the fastest third and the signed ranks (METHOD 2).

Both statistics see the same label swaps. With p₁ and p₂ their two-sided shares, the p of the pair
is the share of swaps whose smaller one is at most the observed one: valid for any noise, and never
above twice either share, so that the exact signed-rank p alone often decides without a swap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from bench_framework.stats import label_swaps, signed_rank
from bench_framework.stats.portable_math import log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.compare.samples import Pair

Floats = npt.NDArray[np.float64]

FIRST_CHUNK: Final = 499
CHUNK_GROWTH: Final = 4
DOUBT: Final = 0.001
"""Sampling stops when the 99.9 % Clopper-Pearson interval of p excludes the levels."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The range in which a level of the Holm procedure can lie: α/(J·M) to α/J."""

    strict: float
    loose: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one look at a pair found. Log scale; p before J and Holm.

    Attributes:
        rounds: rounds that both cells have.
        p: of the pair: min-P, or 2·p₂ where that decides already.
        p_typical: exact signed-rank p₂.
        p_floor: p₁ over the same swaps; `None` where no swap was needed.
        typical_sign, floor_sign: direction of each statistic: −1, 0 or 1.
        swaps: how many were used, the observed order not counted.
    """

    rounds: int
    p: float
    p_typical: float
    p_floor: float | None
    typical_sign: int
    floor_sign: int
    swaps: int

    @property
    def floor_decides(self) -> bool:
        """Whether the fastest third has the smaller p; a tie goes to the typical ratio."""
        return self.p_floor is not None and self.p_floor < self.p_typical

    @property
    def p_other(self) -> float:
        """The p of the statistic that does not decide; 1 where it was not needed."""
        if self.p_floor is None:
            return 1.0
        return max(self.p_floor, self.p_typical)


def logs(pair: Pair) -> tuple[Floats, Floats]:
    """Natural logarithms of both sides."""
    return np.array([log(v) for v in pair.candidate]), np.array([log(v) for v in pair.reference])


@lru_cache(maxsize=8192)
def examine(pair: Pair, levels: Levels, seed: int) -> Evidence:
    """The evidence in a pair; p is 1 where nothing differs or nothing was measured.

    Args:
        pair: common rounds.
        levels: sampling of swaps goes on while p may lie within this range.
        seed: of the plan; see `label_swaps.Swaps` for what else the swaps depend on.
    """
    if not len(pair):
        return Evidence(0, 1.0, 1.0, None, 0, 0, 0)
    x, y = logs(pair)
    ranks = signed_rank.signed_ranks(x - y)
    tail = signed_rank.tail(ranks)
    observed = int(ranks.sum())
    p_typical = float(tail[abs(observed)])
    floor = label_swaps.floor_difference(x, y)
    signs = (int(np.sign(observed)), int(np.sign(round(floor, signed_rank.RESOLUTION))))
    opposed = signs[0] * signs[1] < 0
    if 2 * p_typical <= levels.strict and not opposed:
        return Evidence(len(pair), 2 * p_typical, p_typical, None, *signs, 0)
    # Where the two point apart, the verdict needs to know how sure the other one is.
    race = _SwapRace(x, y, ranks, tail, seed)
    p, p_floor = race.run(levels)
    return Evidence(len(pair), min(p, 2 * p_typical), p_typical, p_floor, *signs, race.count)


def examine_looks(
    pair: Pair, rounds: Sequence[int], levels: Levels, seed: int
) -> tuple[Evidence, ...]:
    """The evidence at each look; looks after one that passes the strictest level are not needed."""
    found: list[Evidence] = []
    for last in rounds:
        found.append(examine(pair.until(last), levels, seed))
        if found[-1].p <= levels.strict:
            break
    return tuple(found)


class _SwapRace:
    """Swaps in growing chunks until p is on one side of every level in question."""

    def __init__(
        self, x: Floats, y: Floats, ranks: npt.NDArray[np.int64], tail: Floats, seed: int
    ) -> None:
        self._x, self._y, self._tolerance = label_swaps.centred(x, y)
        self._source = label_swaps.Swaps(x, y, seed)
        self._ranks, self._tail = ranks, tail
        self._rank_size = abs(int(ranks.sum()))
        self._p_typical = float(tail[self._rank_size])
        untouched = np.zeros((len(x), 1), dtype=np.uint8)
        self._floor_size = float(abs(label_swaps.floor_under(self._x, self._y, untouched)[0]))
        self._floors: list[npt.NDArray[np.float32]] = []
        self._rank_sizes: list[npt.NDArray[np.int64]] = []
        self.count = 0

    def run(self, levels: Levels) -> tuple[float, float]:
        """Give p of the pair and p₁."""
        most = math.ceil(4 / levels.strict)
        chunk = FIRST_CHUNK
        while True:
            drawn = self._source.take(min(chunk, most - self.count))
            self._add(drawn)
            p, p_floor, hits = self._p()
            listed = self._source.exhaustive and drawn.shape[1] == 0
            if listed or self.count >= most:
                return p, p_floor
            if not self._source.exhaustive and _settled(hits, self.count, levels):
                return p, p_floor
            chunk = (
                CHUNK_GROWTH * max(self.count, FIRST_CHUNK) if not self._source.exhaustive else most
            )

    def _add(self, drawn: label_swaps.Bits) -> None:
        self._floors.append(np.abs(label_swaps.floor_under(self._x, self._y, drawn)))
        self._rank_sizes.append(label_swaps.ranks_under(self._ranks, drawn))
        self.count += drawn.shape[1]

    def _p(self) -> tuple[float, float, int]:
        """Give (b + 1)/(B + 1) for the pair and for the floor alone, and b.

        Ties count as reached, within the rounding of single precision: careful on both sides.
        """
        floors, rank_sizes = np.concatenate(self._floors), np.concatenate(self._rank_sizes)
        total = self.count + 1
        reach = floors >= self._floor_size - self._tolerance
        p_floor = (1 + int(reach.sum())) / total
        if p_floor <= self._p_typical:
            cut = int(np.searchsorted(-self._tail, -p_floor))  # smallest |V| with tail ≤ p₁
            hit = reach | (rank_sizes >= cut)
        else:
            hit = rank_sizes >= self._rank_size
            allowed = math.floor(self._p_typical * total)
            if allowed >= 1:
                every = np.append(floors, np.float32(self._floor_size))
                last = float(np.partition(every, total - allowed)[total - allowed])
                # A swap's own p₁ counts all that tie with it: a group of ties is in whole or out.
                whole = int((every >= last - self._tolerance).sum()) <= allowed
                hit = hit | (
                    floors >= last - self._tolerance if whole else floors > last + self._tolerance
                )
        hits = int(hit.sum())
        return (hits + 1) / total, p_floor, hits


def _settled(hits: int, count: int, levels: Levels) -> bool:
    low = betaincinv(hits, count - hits + 1, DOUBT / 2) if hits else 0.0
    high = betaincinv(hits + 1, count - hits, 1 - DOUBT / 2) if hits < count else 1.0
    return bool(low > levels.loose or high < levels.strict)
