"""Definition in numpy of what `native/crates/labels` computes for the label test."""

import itertools
import math

import numpy as np
import numpy.typing as npt

from bench_framework.stats.portable_math import log
from bench_framework.stats.run_labels import RESOLUTION, ROUNDS_AT_ONCE, UNITS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SCALE_QUANTILE = 0.4
SMALLEST_SCALE = 1e-6


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


def _logs_of_halves(most: int) -> Floats:
    """Return ln(i/2) for i = 0 … most; 0 in place of ln 0."""
    return np.array([0.0, *(log(i / 2) for i in range(1, most + 1))])


def signed_ranks(differences: Floats) -> Ints:
    """Return the doubled midranks of |d| with the sign of d.

    Args:
        differences: log ratios, shape (n,).

    Returns:
        Signed ranks, shape (n,); 0 where the difference is 0.
    """
    d = np.round(differences, RESOLUTION)
    size = np.abs(d)
    nonzero = size > 0
    values, inverse, counts = np.unique(size[nonzero], return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(counts) - counts + 1  # first + last rank of each group of ties
    ranks = np.zeros(len(d), dtype=np.int64)
    if len(values):
        ranks[nonzero] = doubled[inverse] * np.sign(d[nonzero]).astype(np.int64)
    return ranks


def tails(score: Floats) -> tuple[float, float]:
    """Return the tails of the sum of the first column under uniform choices of a column per round."""
    total = math.fsum((score.max(axis=1) - score.min(axis=1)).tolist())
    if not total:
        return 1.0, 1.0
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
    return min(1.0, float(np.cumsum(low)[-1])), min(1.0, float(np.cumsum(high)[-1]))
