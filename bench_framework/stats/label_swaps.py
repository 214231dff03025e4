"""Label swaps within rounds: the null distribution of a paired comparison.

The order within a round is random. If two cells are equal, exchanging their two values within a
round changes nothing, so that the swaps give the exact null distribution for any noise
(`docs/method.md#paired-test`). Exchanging the values of *all* rounds only changes the sign of a
statistic, so that half of the swaps is enough.
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
"""Values visited between two checks of whether both sides are full under every swap."""
ENUMERATE_UP_TO: Final = 12
"""Most rounds for which all swaps are enumerated instead of drawn: 2¹² = 4 096 swaps."""


class Swaps:
    """A reproducible stream of label swaps of n rounds. The observed order is not part of it.

    The stream depends only on the seed and on the unordered pair of values of each round. Names,
    the order of cells and the choice of the candidate have no influence.
    """

    def __init__(self, x: Floats, y: Floats, seed: int) -> None:
        self.n = len(x)
        self.exhaustive = self.n <= ENUMERATE_UP_TO
        self.limit = 2 ** max(0, self.n - 1) - 1 if self.exhaustive else None
        """Number of distinct swaps if they are enumerated; `None` if they are drawn at random."""
        self._given = 0
        low, high = np.minimum(x, y), np.maximum(x, y)
        digest = hashlib.sha256(
            f"{seed}/{self.n}/".encode() + low.tobytes() + high.tobytes()
        ).digest()
        self._random = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))

    def take(self, count: int) -> Bits:
        """Return the next `count` swaps, shape (n, count): 1 where a round is exchanged.

        The first axis is the round, so that one round of many swaps is contiguous in memory. There
        are fewer columns if all swaps have been enumerated.
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
    """Return k = ⌈n/3⌉, the number of rounds in the fastest third."""
    return -(-n // 3)


def floor_difference(x: Floats, y: Floats) -> float:
    """Return θ₁ = F(x) − F(y) of log values, with F the mean of the k = ⌈n/3⌉ smallest."""
    k = fastest_third(len(x))
    return statistics.fmean(np.sort(x)[:k].tolist()) - statistics.fmean(np.sort(y)[:k].tolist())


def floor_under(x: Singles, y: Singles, swaps: Bits) -> Singles:
    """Compute θ₁ under each swap.

    The 2n values are visited once, in ascending order, so that no swap needs a sort. Under each
    swap, a value belongs to one of the two sides, and counts as long as its side has fewer than k
    values. One number per swap, the lead of the first side over the second in values visited,
    gives the number of values on both sides.

    Args:
        x: centred log values of the candidate, shape (n,), as `centred` returns them.
        y: centred log values of the reference, shape (n,).
        swaps: shape (n, swaps); 1 where a round is exchanged.

    Returns:
        θ₁ of each swap, shape (swaps,), in single precision.
    """
    n, count = swaps.shape
    k = fastest_third(n)
    values = np.concatenate([x, y])
    signs = (1 - 2 * swaps).view(np.int8)  # +1: the values of the round are not exchanged
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
            # (visited + lead) / 2 values are on the side of this value. It counts up to the k-th.
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
    """Compute |V|, the absolute signed-rank statistic, under each swap.

    Args:
        ranks: signed ranks of the observed differences, shape (n,).
        swaps: shape (n, swaps); 1 where a round is exchanged.

    Returns:
        |V| of each swap, shape (swaps,).
    """
    total = np.full(swaps.shape[1], int(ranks.sum()), dtype=np.int32)
    for rank, row in zip(ranks.tolist(), swaps, strict=True):
        if rank:
            total -= np.multiply(row, 2 * rank, dtype=np.int32)
    size: npt.NDArray[np.int64] = np.abs(total).astype(np.int64)
    return size


def centred(x: Floats, y: Floats) -> tuple[Singles, Singles, float]:
    """Subtract the common median of both sides and convert them to single precision.

    Returns:
        Both sides, and the largest difference of two values of θ₁ that counts as rounding error.
    """
    middle = float(np.median(np.concatenate([x, y])))
    a, b = (x - middle).astype(np.float32), (y - middle).astype(np.float32)
    scale = float(max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)))
    return a, b, 1e-6 * scale
