"""Shapley values: the mean contribution of a change over all orders of the changes.

Source: L. S. Shapley, "A Value for n-Person Games", Contributions to the Theory of Games II (1953).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import numpy as np

from bench_framework.compare.contrasts import Floats, summed_weights


def subsets(count: int) -> Iterator[frozenset[int]]:
    """Yield every set of `count` changes, smaller sets first."""
    for size in range(count + 1):
        yield from map(frozenset, itertools.combinations(range(count), size))


def value(player: int, count: int, worth: Mapping[frozenset[int], Floats]) -> Floats:
    """Return Σ |S|!(m − |S| − 1)!/m! · (v(S ∪ {player}) − v(S)) over all S without the player.

    The sum is computed for each round. m is `count`, and v is `worth`.
    """
    total = np.zeros_like(worth[frozenset()])
    for subset, alone in worth.items():
        if player not in subset:
            total = total + _chance(len(subset), count) * (worth[subset | {player}] - alone)
    return total


def weights(player: int, count: int, cells: Mapping[frozenset[int], str]) -> dict[str, float]:
    """Return the factor of each cell's logarithm in a Shapley value."""
    alone = [
        (_chance(len(subset), count), {cells[subset | {player}]: 1.0, cell: -1.0})
        for subset, cell in cells.items()
        if player not in subset
    ]
    return summed_weights(alone)


def _chance(size: int, count: int) -> float:
    """Return the share of all orders that have a given set directly before a change."""
    return math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count)
