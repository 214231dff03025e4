"""The exact test of "the ratio did not change during the measurement".

The order of the runs is drawn anew in each round. So if the ratio is constant, every run of a round is
equally likely to have the candidate's label, whatever the noise of neighbouring rounds. A change of the
machine that slows all programs alike has no effect. See `docs/method.md#instability`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from bench_framework.stats import run_labels
from bench_framework.stats.signed_rank import Floats

FEWEST: Final = 24
"""With fewer rounds, the estimated ratio makes the test slightly liberal."""
PHASE_PAIRS: Final = 3
"""Number of pairs of phases that are compared."""
LEVEL: Final = 0.01
"""Largest probability of a false change in any comparison of a family."""


@dataclass(frozen=True, slots=True)
class PhaseTest:
    """The phases of a record whose log ratios differ most.

    Attributes:
        p: p-value of a change, adjusted for the three pairs of phases that are compared.
        split: number of rounds before the change.
    """

    p: float
    split: int


def examine_phases(values: Floats, estimate: float) -> PhaseTest:
    """Test whether the log ratio differs between the first half, first third or last third and the rest.

    `values` has the shape (rounds, runs), as in `run_labels.examine`, and `estimate` is the log ratio of all
    rounds. With fewer than `FEWEST` rounds, p is 1.
    """
    n = len(values)
    if n < FEWEST:
        return PhaseTest(1.0, n)
    score, spread = _scores(values, estimate)
    tests = (_compare(score, spread, split) for split in (n // 2, n // 3, n - n // 3))
    return min(tests, key=lambda test: test.p)


def examine_sessions(values: Floats, estimate: float, sessions: Sequence[slice]) -> float:
    """Test whether the log ratio of any session differs from that of the others.

    `sessions` has the places of the rounds of each. The result is the p-value, adjusted for their number.
    """
    score, spread = _scores(values, estimate)
    places = np.arange(len(values))
    smallest = min(
        _tail_of(score, spread, (places >= part.start) & (places < part.stop)) for part in sessions
    )
    return min(1.0, len(sessions) * smallest)


def _scores(values: Floats, estimate: float) -> tuple[Floats, Floats]:
    """Return the main scores at an estimate, and the sum of their squares in each round."""
    score = run_labels.main_score(run_labels.shifted(values, estimate))
    squares = score * score
    return score, np.add.reduce(squares.T)  # of two or three runs, one after the other


def _compare(score: Floats, spread: Floats, split: int) -> PhaseTest:
    """Compare the rounds before a place with those after it."""
    p = _tail_of(score, spread, np.arange(len(score)) < split)
    return PhaseTest(min(1.0, PHASE_PAIRS * p), split)


def _tail_of(score: Floats, spread: Floats, inside: npt.NDArray[np.bool_]) -> float:
    """Return the two-sided p-value of a contrast of some rounds with all others."""
    total = math.fsum(spread.tolist())
    share = math.fsum(spread[inside].tolist()) / total if total > 0 else 0.0
    weights = np.where(inside, 1 - share, -share)
    weighted = np.ascontiguousarray(score * weights[:, None])
    return 2 * min(run_labels.tail(weighted, larger=larger) for larger in (False, True))
