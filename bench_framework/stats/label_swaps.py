"""Label swaps within rounds, and the two statistics under each of them.

The order within a round was drawn at random, so that exchanging the two values of a round changes
nothing if the two cells are equal: the swaps give the exact null for any noise (METHOD 2).
Exchanging *all* rounds only turns the sign, so one half of the swaps stands for the other.
"""

from __future__ import annotations

import hashlib
import statistics
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Bits = npt.NDArray[np.uint8]

FULL_EVERY: Final = 4
"""Visits between two questions whether both sides are full under every swap: a visit more adds nothing but time."""
ENUMERATE_UP_TO: Final = 12
"""2¹² = 4 096 is the last power of two under 4 999: all swaps are listed, none is drawn."""


class Swaps:
    """A reproducible stream of swaps of n rounds, the observed order left out.

    The stream depends on the seed and on the unordered pairs of values only: neither names nor
    the order of cells nor which side is called the candidate can move it.
    """

    def __init__(self, x: Floats, y: Floats, seed: int) -> None:
        self.n = len(x)
        self.exhaustive = self.n <= ENUMERATE_UP_TO
        self.limit = 2 ** max(0, self.n - 1) - 1 if self.exhaustive else None
        """How many swaps there are; `None` where they are drawn without end."""
        self._given = 0
        low, high = np.minimum(x, y), np.maximum(x, y)
        digest = hashlib.sha256(
            f"{seed}/{self.n}/".encode() + low.tobytes() + high.tobytes()
        ).digest()
        self._random = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))

    def take(self, count: int) -> Bits:
        """The next `count` swaps, shape (n, count), 1 where a round is exchanged.

        Rounds come first so that one round of many swaps lies together in memory.
        """
        if self.limit is not None:
            return self._listed(count, self.limit)
        drawn = self._random.integers(0, 256, size=(self.n, -(-count // 8)), dtype=np.uint8)
        self._given += count
        return np.unpackbits(drawn, axis=1)[:, :count]

    def _listed(self, count: int, limit: int) -> Bits:
        codes = np.arange(self._given + 1, min(self._given + count, limit) + 1, dtype=np.int64)
        self._given += len(codes)
        return ((codes >> np.arange(self.n)[:, None]) & 1).astype(np.uint8)


def fastest_third(n: int) -> int:
    """K = ⌈n/3⌉."""
    return -(-n // 3)


def floor_difference(x: Floats, y: Floats) -> float:
    """θ₁ = F(x) − F(y) of log times, F the mean of the k smallest."""
    k = fastest_third(len(x))
    return statistics.fmean(np.sort(x)[:k].tolist()) - statistics.fmean(np.sort(y)[:k].tolist())


def floor_under(x: Singles, y: Singles, swaps: Bits) -> Singles:
    """θ₁ under each swap, shape (swaps,). `x` and `y` are centred log times in single precision.

    The 2n values are visited once, smallest first. Under each swap a value belongs to the one side
    or the other, and counts as long as its side has fewer than k: no sorting per swap. One number per
    swap says how full both sides are: by how many of the values visited the one leads the other.
    """
    n, count = swaps.shape
    k = fastest_third(n)
    values = np.concatenate([x, y])
    signs = (1 - 2 * swaps).view(np.int8)  # +1: each value of the round is on its own side
    lead = np.zeros(count, dtype=np.int8 if n <= np.iinfo(np.int8).max else np.int16)
    reached, room, counted = (
        np.empty_like(lead),
        np.empty(count, dtype=np.bool_),
        np.empty(count, np.int8),
    )
    total, part = np.zeros(count, dtype=np.float32), np.empty(count, dtype=np.float32)
    for visited, place in enumerate(np.argsort(values, kind="stable").tolist(), 1):
        row, left = signs[place % n], 2 * k - visited
        ours = place < n
        np.add(lead, row, out=lead) if ours else np.subtract(lead, row, out=lead)
        if visited > k:
            # (visited + the lead of its side) / 2 values are on the side of this one; it counts up to the k-th.
            np.multiply(lead, row, out=reached)
            np.less_equal(reached, left, out=room) if ours else np.greater_equal(
                reached, -left, out=room
            )
            row = np.multiply(row, room.view(np.int8), out=counted)
        np.multiply(row, values[place] if ours else -values[place], out=part, dtype=np.float32)
        total += part
        if left <= 0 and left % FULL_EVERY == 0 and count and max(lead.max(), -lead.min()) <= -left:
            break
    return total / np.float32(k)


def ranks_under(ranks: npt.NDArray[np.int64], swaps: Bits) -> npt.NDArray[np.int64]:
    """|V| of the signed-rank statistic under each swap, shape (swaps,)."""
    total = np.full(swaps.shape[1], int(ranks.sum()), dtype=np.int32)
    for rank, row in zip(ranks.tolist(), swaps, strict=True):
        if rank:
            total -= np.multiply(row, 2 * rank, dtype=np.int32)
    size: npt.NDArray[np.int64] = np.abs(total).astype(np.int64)
    return size


def centred(x: Floats, y: Floats) -> tuple[Singles, Singles, float]:
    """Both arms minus their common middle in single precision, and the tolerance of an equality."""
    middle = float(np.median(np.concatenate([x, y])))
    a, b = (x - middle).astype(np.float32), (y - middle).astype(np.float32)
    scale = float(max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)))
    return a, b, 1e-6 * scale
