"""Label swaps within rounds, and the two statistics under each of them.

The order within a round was drawn at random, so that exchanging the two values of a round changes
nothing if the two cells are equal: the swaps give the exact null for any noise (METHOD 2).
Exchanging *all* rounds only turns the sign, so one half of the swaps stands for the other.
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Bits = npt.NDArray[np.uint8]

ENUMERATE_UP_TO: Final = 12
"""2¹² = 4 096 is the last power of two under 4 999: all swaps are listed, none is drawn."""
BLOCK_ELEMENTS: Final = 2_000_000
"""Swaps × rounds worked on at once: 8 MB of single precision."""


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
        digest = hashlib.sha256(f"{seed}/{self.n}/".encode() + low.tobytes() + high.tobytes()).digest()
        self._random = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))

    def take(self, count: int) -> Bits:
        """The next `count` swaps, shape (count, n), 1 where a round is exchanged."""
        if self.exhaustive:
            return self._listed(count)
        width = -(-self.n // 8)
        drawn = self._random.integers(0, 256, size=(count, width), dtype=np.uint8)
        self._given += count
        return np.unpackbits(drawn, axis=1)[:, : self.n]

    def _listed(self, count: int) -> Bits:
        assert self.limit is not None
        codes = np.arange(self._given + 1, min(self._given + count, self.limit) + 1, dtype=np.int64)
        self._given += len(codes)
        return ((codes[:, None] >> np.arange(self.n)) & 1).astype(np.uint8)


def fastest_third(n: int) -> int:
    """K = ⌈n/3⌉."""
    return -(-n // 3)


def floor_difference(x: Floats, y: Floats) -> float:
    """θ₁ = F(x) − F(y) of log times, F the mean of the k smallest."""
    k = fastest_third(len(x))
    return float(np.sort(x)[:k].mean() - np.sort(y)[:k].mean())


def floor_under(x: Singles, y: Singles, swaps: Bits) -> Singles:
    """θ₁ under each swap, shape (swaps,). `x` and `y` are centred log times in single precision."""
    n = len(x)
    k = fastest_third(n)
    step = max(1, BLOCK_ELEMENTS // max(1, n))
    parts = []
    for start in range(0, len(swaps), step):
        exchanged = swaps[start : start + step].view(np.bool_)
        ours = np.where(exchanged, y, x)
        theirs = np.where(exchanged, x, y)
        ours.partition(k - 1, axis=1)
        theirs.partition(k - 1, axis=1)
        parts.append((ours[:, :k].sum(axis=1) - theirs[:, :k].sum(axis=1)) / np.float32(k))
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)


def ranks_under(ranks: npt.NDArray[np.int64], swaps: Bits) -> npt.NDArray[np.int64]:
    """|V| of the signed-rank statistic under each swap; exact: doubled ranks stay below 2²⁴."""
    single = ranks.astype(np.float32)
    total = float(single.sum())
    moved: Singles = swaps.astype(np.float32) @ single
    size: npt.NDArray[np.int64] = np.abs(np.rint(total - 2 * moved)).astype(np.int64)
    return size


def centred(x: Floats, y: Floats) -> tuple[Singles, Singles, float]:
    """Both arms minus their common middle in single precision, and the tolerance of an equality."""
    middle = float(np.median(np.concatenate([x, y])))
    a, b = (x - middle).astype(np.float32), (y - middle).astype(np.float32)
    scale = float(max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0)))
    return a, b, 1e-6 * scale
