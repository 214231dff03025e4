"""The exact test of "the label has no effect" for runs in random order within rounds.

If the programs are equal, every run of a round is equally likely to have the candidate's label.
Both statistics are sums over rounds of a score of the run that has it, so that their exact null
distributions are convolutions. See `docs/method.md#paired-test`.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from bench_framework.stats import signed_rank
from bench_framework.stats.portable_math import log

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SCALE_QUANTILE: Final = 0.4
"""Quantile of the absolute differences within rounds that scales the Cauchy score.

At a low quantile, baseline and control alone set the scale, and a large effect has little weight.
"""
SMALLEST_SCALE: Final = 1e-6
"""Smallest scale of the Cauchy score, for clocks so coarse that most differences are zero."""
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
class Tails:
    """One-sided p-values: the chance of a sum as small (`low`) or as large (`high`) as observed."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Result:
    """The tails of both statistics, for a shift of the candidate's log values."""

    main: Tails
    rank: Tails

    @property
    def low(self) -> float:
        """Return the one-sided p-value that the candidate's values are smaller."""
        return min(1.0, self.main.low / MAIN_WEIGHT, self.rank.low / (1 - MAIN_WEIGHT))

    @property
    def high(self) -> float:
        """Return the one-sided p-value that the candidate's values are larger."""
        return min(1.0, self.main.high / MAIN_WEIGHT, self.rank.high / (1 - MAIN_WEIGHT))


def examine(values: Floats, shift: float = 0.0) -> Result:
    """Test whether the candidate's log values differ from the others by more or less than `shift`.

    Args:
        values: log values, shape (rounds, runs): candidate, reference, and the control if there is
            one; at least one round.
        shift: log ratio of the candidate under the null hypothesis.
    """
    moved = shifted(values, shift)
    pair = values.shape[1] == PAIR
    rank = _wilcoxon(moved[:, 0] - moved[:, 1]) if pair else _tails(rank_score(moved))
    return Result(_tails(main_score(moved)), rank)


def attainable(rounds: int, runs: int) -> float:
    """Return the highest level that an interval can have: 1 − 2·runs⁻ʳᵒᵘⁿᵈˢ ÷ weight."""
    return max(0.0, 1 - 2 / MAIN_WEIGHT / float(runs**rounds))


def shifted(values: Floats, shift: float) -> Floats:
    """Return the values with `shift` subtracted from the candidate's."""
    moved = values.copy()
    moved[:, 0] -= shift
    rounded: Floats = np.round(moved, RESOLUTION)
    return rounded


def main_score(values: Floats) -> Floats:
    """Return the sum of log-rank and Cauchy score of each run; the sum of every round is zero."""
    doubled = _doubled_midranks(values.ravel()).reshape(values.shape)
    log_rank = _centred(_logs_of_halves(2 * values.size)[doubled])
    pairs = list(itertools.combinations(range(values.shape[1]), 2))
    differences = np.array([values[:, a] - values[:, b] for a, b in pairs])
    sizes = np.abs(differences).ravel()
    place = int(SCALE_QUANTILE * (len(sizes) - 1))
    scale = max(float(np.partition(sizes, place)[place]), SMALLEST_SCALE)
    weighted = differences / (scale * scale + differences * differences)
    cauchy = np.zeros(values.shape)
    for (a, b), score in zip(pairs, weighted, strict=True):
        cauchy[:, a] += score
        cauchy[:, b] -= score
    total: Floats = _normalised(log_rank) + _normalised(cauchy)
    return total


def rank_score(values: Floats) -> Floats:
    """Return the rank of each run's distance from its round's mean, with the sign of it."""
    distances = np.round(_centred(values), RESOLUTION)
    ranks = _doubled_midranks(np.abs(distances).ravel()).reshape(values.shape)
    return _centred(np.sign(distances) * ranks)


def _centred(values: Floats) -> Floats:
    centred: Floats = values - values.sum(axis=1, keepdims=True) / values.shape[1]
    return centred


def _normalised(score: Floats) -> Floats:
    size = math.sqrt(math.fsum((score * score).ravel().tolist()))
    return score / size if size else score


def _doubled_midranks(values: Floats) -> Ints:
    """Return twice the rank of each value; equal values have their mean rank."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    last = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]), len(values) - 1)
    ranks = np.empty(len(values), dtype=np.int64)
    if len(last) == len(values):
        ranks[order] = 2 * last + 2
    else:
        counts = np.diff(last, prepend=-1)
        ranks[order] = np.repeat(2 * last - counts + 3, counts)
    return ranks


@lru_cache(maxsize=256)
def _logs_of_halves(most: int) -> Floats:
    """Return ln(i/2) for i = 0 … most; 0 in place of ln 0."""
    return np.array([0.0, *(log(i / 2) for i in range(1, most + 1))])


def _wilcoxon(differences: Floats) -> Tails:
    """Return the tails of the signed-rank statistic: those of `rank_score` with two runs."""
    ranks = signed_rank.signed_ranks(differences)
    both, observed = signed_rank.tail(ranks), int(ranks.sum())
    beyond = abs(observed) + 1
    extreme = float(both[abs(observed)]) / 2
    rest = 1 - (float(both[beyond]) / 2 if beyond < len(both) else 0.0)
    if not observed:
        return Tails(rest, rest)
    return Tails(extreme, rest) if observed < 0 else Tails(rest, extreme)


def _tails(score: Floats) -> Tails:
    """Return the tails of the sum of the first column under uniform choices of a column per round."""
    ranges = score.max(axis=1) - score.min(axis=1)
    total = math.fsum(ranges.tolist())
    if not total:
        return Tails(1.0, 1.0)
    steps = np.rint((score - score.min(axis=1, keepdims=True)) * (UNITS / total)).astype(np.int64)
    observed = int(steps[:, 0].sum())
    # Small steps first, so that the reached part of the array stays short.
    steps = np.sort(steps, axis=1)
    steps = steps[np.argsort(steps[:, -1], kind="stable")]
    counts, top = np.zeros(int(steps[:, -1].sum()) + 1), 0
    counts[0] = 1.0
    for place, row in enumerate(steps[:, 1:].tolist(), 1):
        before = counts[: top + 1].copy()
        for step in row:
            counts[step : step + top + 1] += before
        top += row[-1]
        if not place % ROUNDS_AT_ONCE:
            counts /= float(steps.shape[1] ** ROUNDS_AT_ONCE)
    counts /= float(steps.shape[1] ** (len(steps) % ROUNDS_AT_ONCE))
    low, high = counts[: observed + 1], counts[observed:][::-1]
    return Tails(min(1.0, float(np.cumsum(low)[-1])), min(1.0, float(np.cumsum(high)[-1])))
