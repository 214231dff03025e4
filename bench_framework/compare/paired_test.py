"""The test of one pair: the min-P test over the fastest third and the signed ranks.

Both statistics use the same label swaps. p₁ and p₂ are their two-sided p-values. The p-value of
the pair is the share of swaps whose smaller p-value is at most the observed smaller one. It is
valid for any noise. It is never above twice the smaller of p₁ and p₂, so that the exact signed-rank
p-value often decides without any swap. See `docs/method.md#paired-test`.
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
"""Swaps that are drawn first."""
CHUNK_GROWTH: Final = 4
"""Each further chunk has this multiple of the swaps drawn so far."""
DOUBT: Final = 0.001
"""Swaps are drawn until the 99.9 % Clopper-Pearson interval of p excludes all possible levels."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The range of levels that Holm's procedure can ask of a p-value before adjustment.

    Attributes:
        strict: α/(J·M), for the first of M comparisons at J interim analyses.
        loose: α/J, for the last comparison.
    """

    strict: float
    loose: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The result of the test of one pair at one interim analysis.

    All p-values are two-sided and not yet adjusted for interim analyses (J) and the family (Holm).

    Attributes:
        rounds: number of rounds that contain both cells.
        p: p-value of the pair: min-P, or its upper bound 2·p₂ if that is already significant.
        p_typical: p₂, the exact p-value of the signed-rank test of the typical ratio θ₂.
        p_floor: p₁, the p-value of the swap test of the fastest third θ₁; `None` if no swap was
            needed.
        typical_sign: sign of θ₂'s test statistic: −1 if the candidate's values are smaller.
        floor_sign: sign of θ₁.
        swaps: number of label swaps used, without the observed order.
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
        """Return whether the fastest third has the smaller p-value; if equal, θ₂ decides."""
        return self.p_floor is not None and self.p_floor < self.p_typical

    @property
    def p_other(self) -> float:
        """Return the larger of the two p-values; 1 if the swap test was not needed."""
        if self.p_floor is None:
            return 1.0
        return max(self.p_floor, self.p_typical)


def logs(pair: Pair) -> tuple[Floats, Floats]:
    """Return the natural logarithms of candidate and reference, each of shape (rounds,)."""
    return np.array([log(v) for v in pair.candidate]), np.array([log(v) for v in pair.reference])


@lru_cache(maxsize=8192)
def examine(pair: Pair, levels: Levels, seed: int) -> Evidence:
    """Test a pair. The p-value is 1 if nothing differs or no round contains both cells.

    Args:
        pair: values of both cells over their common rounds.
        levels: swaps are drawn as long as p may be within this range.
        seed: seed of the plan. The swaps also depend on the values (`label_swaps.Swaps`).
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
    # If the two have opposite signs, the verdict also needs the p-value of the other one.
    sampler = _SwapSampler(x, y, ranks, tail, seed)
    p, p_floor = sampler.run(levels)
    return Evidence(len(pair), min(p, 2 * p_typical), p_typical, p_floor, *signs, sampler.count)


def examine_looks(
    pair: Pair, rounds: Sequence[int], levels: Levels, seed: int
) -> tuple[Evidence, ...]:
    """Test a pair after each of the given rounds.

    Later interim analyses are left out after the first one that is significant at the strictest
    level, because the smallest p-value counts.
    """
    evidence: list[Evidence] = []
    for last in rounds:
        evidence.append(examine(pair.until(last), levels, seed))
        if evidence[-1].p <= levels.strict:
            break
    return tuple(evidence)


class _SwapSampler:
    """Draws label swaps in growing chunks until every level in question is above or below p."""

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
        """Return p of the pair and p₁."""
        most = math.ceil(4 / levels.strict)
        chunk = FIRST_CHUNK
        while True:
            drawn = self._source.take(min(chunk, most - self.count))
            self._add(drawn)
            p, p_floor, hits = self._p()
            listed = self._source.exhaustive and drawn.shape[1] == 0
            if listed or self.count >= most:
                return p, p_floor
            if not self._source.exhaustive and _levels_excluded(hits, self.count, levels):
                return p, p_floor
            chunk = (
                CHUNK_GROWTH * max(self.count, FIRST_CHUNK) if not self._source.exhaustive else most
            )

    def _add(self, drawn: label_swaps.Bits) -> None:
        self._floors.append(np.abs(label_swaps.floor_under(self._x, self._y, drawn)))
        self._rank_sizes.append(label_swaps.ranks_under(self._ranks, drawn))
        self.count += drawn.shape[1]

    def _p(self) -> tuple[float, float, int]:
        """Return (b + 1)/(B + 1) for the pair and for θ₁ alone, and b.

        B is the number of swaps, b the number of those at least as extreme as observed. Values
        that are equal within single precision count as extreme, so that p is conservative.
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
                # The p₁ of a swap counts all swaps with an equal θ₁. Such a group is therefore
                # counted as a whole or not at all.
                whole = int((every >= last - self._tolerance).sum()) <= allowed
                hit = hit | (
                    floors >= last - self._tolerance if whole else floors > last + self._tolerance
                )
        hits = int(hit.sum())
        return (hits + 1) / total, p_floor, hits


def _levels_excluded(hits: int, count: int, levels: Levels) -> bool:
    low = betaincinv(hits, count - hits + 1, DOUBT / 2) if hits else 0.0
    high = betaincinv(hits + 1, count - hits, 1 - DOUBT / 2) if hits < count else 1.0
    return bool(low > levels.loose or high < levels.strict)
