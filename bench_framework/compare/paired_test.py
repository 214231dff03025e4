"""The test of one pair at every interim analysis. See `docs/method.md#paired-test`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bench_framework.compare.samples import Pair
from bench_framework.stats import intervals, run_labels
from bench_framework.stats.portable_math import log

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The result of the test of one pair at one interim analysis.

    p-values are two-sided and not yet adjusted for interim analyses (J) and the family (Holm).

    Attributes:
        p_opposite: p-value of a difference in the opposite direction. It is small if the main score
            and the signed rank contradict each other.
        sign: −1 if the evidence says that the candidate's values are smaller, 1 if larger, 0 if
            neither.
    """

    rounds: int
    p: float
    p_opposite: float = 1.0
    sign: int = 0


def logs(pair: Pair) -> tuple[Floats, Floats]:
    """Return the natural logarithms of candidate and reference, each of shape (rounds,)."""
    return np.array([log(v) for v in pair.candidate]), np.array([log(v) for v in pair.reference])


def table(pair: Pair) -> Floats:
    """Return the logarithms of candidate, reference and, if present, control: (rounds, runs)."""
    columns = [*logs(pair), *([np.array([log(v) for v in pair.control])] if pair.control else [])]
    return np.stack(columns, axis=1)


@lru_cache(maxsize=1024)
def inverter(pair: Pair) -> intervals.LabelInverter:
    """Return the intervals of a pair, which families and the final judgement share."""
    return intervals.LabelInverter(table(pair))


@lru_cache(maxsize=8192)
def examine(pair: Pair) -> Evidence:
    """Test a pair. The p-value is 1 if nothing differs or no round contains both cells."""
    if not len(pair):
        return Evidence(0, 1.0)
    low, high = (side.p for side in run_labels.examine(table(pair)))
    small, large = sorted((min(1.0, 2 * low), min(1.0, 2 * high)))
    return Evidence(len(pair), small, large, (low > high) - (low < high))


def examine_looks(pair: Pair, rounds: Sequence[int], needed: int = 1) -> tuple[Evidence, ...]:
    """Test a pair after each of the given rounds, with p = 1 before it has `needed` rounds."""
    parts = [pair.until(last) for last in rounds]
    return tuple(
        examine(part) if len(part) >= needed else Evidence(len(part), 1.0) for part in parts
    )
