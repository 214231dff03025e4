"""The exact test of "the label has no effect" for runs in random order within rounds.

If the programs are equal, every run of a round is equally likely to have the candidate's label.
Both statistics are sums over rounds of a score of the run that has it, so that their exact null
distributions are convolutions. See `docs/method.md#paired-test`.
"""

import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from bench_framework import _native
from bench_framework.stats import signed_rank
from bench_framework.stats.portable_math import log
from bench_framework.stats.signed_rank import Floats

UNITS: Final = 4096
"""Sum over rounds of the score's range, after rounding to integers."""
PAIR: Final = 2
ROUNDS_AT_ONCE: Final = 500
"""Rounds after which label counts are divided: 3⁵⁰⁰ labels are still a finite number."""
RESOLUTION: Final = 12
"""Decimals to which log values are rounded, because equal ratios differ in their last bits."""


MAIN_WEIGHT: Final = 0.8
"""Share of the level for the main score; the signed rank has the rest.

The main score hardly sees a change that is limited to slow runs. The signed rank sees it.
"""


@dataclass(frozen=True, slots=True)
class OneSided:
    """The p-values of both statistics in one direction."""

    main: float
    rank: float

    @property
    def p(self) -> float:
        """Return the p-value of both statistics together."""
        return min(1.0, self.by_main, self.rank / (1 - MAIN_WEIGHT))

    @property
    def by_main(self) -> float:
        """Return the p-value of the main score at its share of the level."""
        return self.main / MAIN_WEIGHT


def examine(values: Floats, shift: float = 0.0) -> tuple[OneSided, OneSided]:
    """Test whether the candidate's log values are smaller by more than `shift`, or larger.

    `values` has the shape (rounds, runs): candidate, reference, and the control if there is one; at
    least one round. `shift` is the log ratio of the candidate under the null hypothesis.
    """
    return examine_side(values, shift, larger=False), examine_side(values, shift, larger=True)


def examine_side(values: Floats, shift: float, *, larger: bool) -> OneSided:
    """Test as `examine` does, but in one direction: less than `shift`, or `larger`."""
    moved = shifted(values, shift)
    if values.shape[1] == PAIR:
        rank = _wilcoxon(moved[:, 0] - moved[:, 1], larger=larger)
    else:
        rank = tail(rank_score(moved), larger=larger)
    return OneSided(tail(main_score(moved), larger=larger), rank)


def attainable(rounds: int, runs: int) -> float:
    """Return the highest level that an interval can have: 1 − 2·runs⁻ʳᵒᵘⁿᵈˢ ÷ weight."""
    labels: int = runs**rounds
    if labels > sys.float_info.max:  # of 647 rounds with three runs
        return 1.0
    return max(0.0, 1 - 2 / MAIN_WEIGHT / labels)


def shifted(values: Floats, shift: float) -> Floats:
    """Return the rounded values with `shift` subtracted from the candidate's."""
    return _like(values, _native.shifted(values, shift))


def main_score(values: Floats) -> Floats:
    """Return the sum of log-rank and Cauchy score of each run; the sum of every round is zero."""
    return _like(values, _native.main_score(values, _logs_of_halves(2 * values.size)))


def rank_score(values: Floats) -> Floats:
    """Return the rank of each run's distance from its round's mean, with the sign of it."""
    return _like(values, _native.rank_score(values))


def _like(values: Floats, doubles: bytes) -> Floats:
    table: Floats = np.frombuffer(doubles).reshape(values.shape)
    return table


@lru_cache(maxsize=256)
def _logs_of_halves(most: int) -> Floats:
    """Return ln(i/2) for i = 0 … most; 0 in place of ln 0."""
    return np.array([0.0, *(log(i / 2) for i in range(1, most + 1))])


def _wilcoxon(differences: Floats, *, larger: bool) -> float:
    """Return the tail of the signed-rank statistic: that of `rank_score` with two runs."""
    ranks = signed_rank.signed_ranks(differences)
    both, observed = signed_rank.tail(ranks), int(ranks.sum())
    if (observed if larger else -observed) > 0:
        return float(both[abs(observed)]) / 2
    beyond = abs(observed) + 1
    return 1 - (float(both[beyond]) / 2 if beyond < len(both) else 0.0)


def tail(score: Floats, *, larger: bool) -> float:
    """Return a tail of the sum of the first column under uniform choices of a column per round."""
    return _native.label_tail(score, larger, _scale(*score.shape))


@lru_cache(maxsize=256)
def _scale(rounds: int, runs: int) -> tuple[float, int, float, float]:
    rest = rounds % ROUNDS_AT_ONCE
    return UNITS, ROUNDS_AT_ONCE, float(runs**ROUNDS_AT_ONCE), float(runs**rest)
