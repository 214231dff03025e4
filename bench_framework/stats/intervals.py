"""Estimates and confidence intervals of log ratios from paired rounds.

All values are natural logarithms of ratios, candidate ÷ reference, so that 0 means equal.

- `LabelInverter`: the typical ratio of a comparison, by inversion of the label test.
- `ratio_of_means`: the ratio of the totals, which few slow rounds can decide.
- `batch_half_width`: the error of an estimate by a jackknife, which sees that the effect itself varies.
- `typical`: the Hodges-Lehmann estimate of a series, such as a contrast, with Walsh averages and the
  exact null distribution of the signed-rank statistic.

See `docs/method.md#paired-test` and `docs/method.md#intervals`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Final

import numpy as np
import numpy.typing as npt

from bench_framework.model.verdict import Interval
from bench_framework.stats import portable_math, run_labels, signed_rank
from bench_framework.stats.signed_rank import Floats

PRECISION: Final = 0.01
"""Precision of a bound, as a share of its distance. Bounds are moved outward by it."""
PLAIN_TAIL: Final = 0.025
"""One-sided level of a 95 % interval, with which the search for a bound begins."""
SMALLEST_DISTANCE: Final = 1e-9
"""Distance below which a bound is not searched."""
WIDENING: Final = 1.4
"""Factor between the distances of the search for a bound."""
WIDEST: Final = 1e7
"""Multiple of the first distance of the search at which a bound counts as infinite."""
STEP_LEAST: Final = 1e-6
"""First step of a search where all rounds have one ratio."""
BALANCE_PRECISION: Final = 1e-8
"""Precision of the estimate, on the log scale."""
BATCHES: Final = 6
"""Number of contiguous batches of rounds of the jackknife."""
FEWEST_FOR_BALANCE: Final = 3
"""Two rounds are balanced over a range of shifts, whose end would depend on the order of the two sides."""
FEWEST_FOR_BATCHES: Final = 12
"""With fewer rounds, a batch would have only one."""
T_OF_BATCHES: Final = 2.570582
"""97.5 % quantile of Student's t with `BATCHES` − 1 degrees of freedom."""
BATCH_PRECISION: Final = 1e-3
"""Precision of the estimate without a batch, as a share of the half-width."""
LEAST_BATCH_PRECISION: Final = 1e-7
SMALLEST_P: Final = 1e-300
"""Smallest p-value with a normal score in double precision."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """An estimate of ln(candidate ÷ reference) with its confidence interval.

    An end is infinite if the rounds cannot reach the level.
    """

    estimate: float
    lo: float
    hi: float
    level: float

    @property
    def bounded(self) -> bool:
        """Return whether both ends are finite."""
        return math.isfinite(self.lo) and math.isfinite(self.hi)

    @property
    def half_width(self) -> float:
        """Return half the distance between the ends, on the log scale."""
        return (self.hi - self.lo) / 2

    @property
    def ratio(self) -> Interval:
        """Return the interval as a ratio, exp(bounds). Infinite ends become 0 and infinity."""
        lo, hi = (
            portable_math.exp(min(v, 700.0)) if math.isfinite(v) else max(0.0, v)
            for v in (self.lo, self.hi)
        )
        return Interval(portable_math.exp(self.estimate), lo, hi, self.level)

    def with_batches(self, half: float) -> Bounds:
        """Return the union with the interval of the jackknife, estimate ± `half`."""
        low, high = self.estimate - half, self.estimate + half
        return self.united(Bounds(self.estimate, low, high, self.level))

    def united(self, other: Bounds) -> Bounds:
        """Return the union with another interval at this level, with the other estimate."""
        low, high = min(self.lo, other.lo), max(self.hi, other.hi)
        return Bounds(other.estimate, low, high, self.level)

    def containing(self, other: Bounds) -> Bounds:
        """Return this interval, at the level of another one that it contains if that is higher."""
        inside = self.lo <= other.lo and other.hi <= self.hi
        return replace(self, level=max(self.level, other.level)) if inside else self

    @property
    def unlimited(self) -> Bounds:
        """Return the estimate without finite ends."""
        return Bounds(self.estimate, -math.inf, math.inf, self.level)


@lru_cache(maxsize=8)
def _pairs(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the indices of all pairs i ≤ j below n, as two arrays."""
    return np.triu_indices(n)


def attainable(n: int) -> float:
    """Return the highest level that a signed-rank interval over n rounds can have: 1 − 2·2⁻ⁿ."""
    return 1 - 2.0 ** (1 - n) if n else 0.0


def typical(differences: Floats, level: float) -> Bounds:
    """Estimate θ₂, the typical log ratio, with its confidence interval.

    Source: Hodges & Lehmann, Annals of Mathematical Statistics 34 (1963); Hollander, Wolfe &
    Chicken 2014, sections 3.2 and 3.3.

    There is at least one log ratio. The bounds have the attainable level if that is lower.
    """
    n = len(differences)
    i, j = _pairs(n)
    walsh = np.sort((differences[i] + differences[j]) / 2)
    reached = min(level, attainable(n))
    cut = signed_rank.walsh_cut(n, reached) or 0
    return Bounds(float(np.median(walsh)), float(walsh[cut]), float(walsh[-1 - cut]), reached)


def batch_half_width(values: Floats, estimate_of: Callable[[Floats], float]) -> float:
    """Return the half-width of the 95 % interval of a delete-a-batch jackknife of an estimate.

    Adjacent rounds are in one batch, so that changes of the effect that last several rounds make the
    interval wider.

    Source: Efron & Tibshirani, An Introduction to the Bootstrap (1993), section 11.5, with Student's t.
    """
    ends = [number * len(values) // BATCHES for number in range(BATCHES + 1)]
    batches = (slice(*pair) for pair in itertools.pairwise(ends))
    estimates = [estimate_of(np.delete(values, batch, axis=0)) for batch in batches]
    mean = math.fsum(estimates) / BATCHES
    squares = math.fsum((value - mean) * (value - mean) for value in estimates)
    return T_OF_BATCHES * math.sqrt((BATCHES - 1) / BATCHES * squares)


def ratio_of_means(values: Floats) -> Bounds:
    """Estimate ln(mean of the candidate ÷ mean of the reference), with the 95 % interval of the jackknife.

    `values` are positive, of candidate and reference, (rounds, 2), in at least `FEWEST_FOR_BATCHES` rounds.
    """
    estimate, half = _log_ratio_of_sums(values), batch_half_width(values, _log_ratio_of_sums)
    return Bounds(estimate, estimate - half, estimate + half, 1 - 2 * PLAIN_TAIL)


def _log_ratio_of_sums(values: Floats) -> float:
    return portable_math.log(math.fsum(values[:, 0]) / math.fsum(values[:, 1]))


def typical_with_batches(differences: Floats, level: float) -> Bounds:
    """Return the interval of `typical`, united with the jackknife from 12 rounds on."""
    bounds = typical(differences, level)
    if len(differences) < FEWEST_FOR_BATCHES:
        return bounds
    half = batch_half_width(differences, lambda part: typical(part, 0.0).estimate)
    return bounds.with_batches(half)


class LabelInverter:
    """The typical ratio of a comparison, by inversion of the test of `run_labels`.

    The estimate is the shift of the candidate at which the main score is balanced. An interval
    contains the shifts that the main score does not reject at its share of the level. So it contains
    all shifts that the test does not reject.
    """

    def __init__(self, values: Floats) -> None:
        self._values = values
        self._known: dict[tuple[float, int], run_labels.OneSided] = {}
        differences = values[:, :1] - values[:, 1:]
        self.estimate = self._balance(float(differences.min()), float(differences.max()))
        plain = typical(differences[:, 0], 0.95)
        self._unit = max(plain.half_width, STEP_LEAST) / _score(PLAIN_TAIL)
        """Expected distance of an end divided by the normal score of its level."""

    def _balance(self, low: float, high: float) -> float:
        """Return the shift between the smallest and the largest difference that balances the score."""
        total = partial(_total, self._values)
        few = len(self._values) < FEWEST_FOR_BALANCE
        if few or high - low <= BALANCE_PRECISION or total(low) <= 0 or total(high) >= 0:
            return (low + high) / 2
        return portable_math.drop_unstable_digits(
            portable_math.find_root(total, low, high, BALANCE_PRECISION)
        )

    @cached_property
    def batch_half(self) -> float:
        """Half-width of the jackknife, 0 with fewer than 12 rounds or if all have the same ratio."""
        plain, rounds = self.bounds(1 - 2 * PLAIN_TAIL), len(self._values)
        if rounds < FEWEST_FOR_BATCHES or not plain.bounded or not plain.half_width > 0:
            return 0.0
        return batch_half_width(self._values, partial(_balance_near, near=plain))

    def interval(self, level: float, sessions: Bounds | None = None) -> Bounds:
        """Return the interval that is reported: `bounds` at a level, united with that of the variation.

        This is the jackknife, or the interval from `sessions`. It has 95 % at every level: it covers the
        variation of the effect of one comparison, and the level of the test covers the number of comparisons.
        """
        return self._with_variation(self.bounds(level), sessions)

    def _with_variation(self, bounds: Bounds, sessions: Bounds | None) -> Bounds:
        return bounds.with_batches(self.batch_half) if sessions is None else bounds.united(sessions)

    def examine(self, shift: float, side: int) -> run_labels.OneSided:
        """Test if the ratio can be `shift`, for the lower (−1) or upper (1) end; levels share the results."""
        if (shift, side) not in self._known:
            # Beyond the upper end, the candidate's values are too small for the shift.
            result = run_labels.examine_side(self._values, shift, larger=side < 0)
            self._known[shift, side] = result
        return self._known[shift, side]

    def bounds(self, level: float) -> Bounds:
        """Return the interval at a level, or at the attainable level if that is lower."""
        reached = min(level, run_labels.attainable(*self._values.shape))
        if not reached:  # one round of two runs
            return Bounds(self.estimate, self.estimate, self.estimate, reached)
        limit = (1 - reached) / 2 * (1 + 1e-12)
        low, high = (self._end(side, limit, lambda result: result.by_main) for side in (-1, 1))
        toward_zero = -1 if self.estimate > 0 else 1
        if low <= 0 <= high and self.examine(0.0, toward_zero).p <= limit:
            # The signed rank alone rejects equality, so the interval must not contain it.
            end = self._end(toward_zero, limit, lambda result: result.p)
            low, high = (end, high) if toward_zero < 0 else (low, end)
        return Bounds(self.estimate, low, high, reached)

    def equivalence(
        self, level: float, limit: float, sessions: Bounds | None = None
    ) -> Bounds | None:
        """Return the interval of shifts that at least one statistic does not reject, as in `interval`.

        `level` is 1 − twice the level of each one-sided test. The result is `None` if the interval
        is not between −limit and +limit, on the log scale.
        """
        alpha = (1 - level) / 2

        def weaker(result: run_labels.OneSided) -> float:
            return max(result.main, result.rank)

        if any(weaker(self.examine(side * limit, side)) > alpha for side in (-1, 1)):
            return None
        low, high = (self._end(side, alpha, weaker) for side in (-1, 1))
        bounds = self._with_variation(Bounds(self.estimate, low, high, level), sessions)
        return bounds if -limit < bounds.lo and bounds.hi < limit else None

    def _end(self, side: int, limit: float, p_of: Callable[[run_labels.OneSided], float]) -> float:
        """Return the shift on one side of the estimate from which `p_of` the test is at most `limit`."""

        def excess(distance: float) -> float:
            p = p_of(self.examine(self.estimate + side * distance, side))
            return _score(p) - _score(limit)

        start = max(STEP_LEAST, self._unit * _score(limit))
        inner = outer = start
        while excess(outer) > 0:
            inner, outer = outer, outer * WIDENING
            if outer > start * WIDEST:
                return side * math.inf
        while inner == outer or excess(inner) <= 0:
            inner, outer = inner / WIDENING, inner
            if inner < SMALLEST_DISTANCE:
                return self.estimate + side * outer
        step = PRECISION * outer
        root = portable_math.find_root(excess, inner, outer, step)
        return self.estimate + side * (portable_math.drop_unstable_digits(root) + step)


def _total(values: Floats, shift: float) -> float:
    """Return the sum of the candidate's main score at a shift. It is zero at the estimate."""
    score = run_labels.main_score(run_labels.shifted(values, shift))
    return round(math.fsum(score[:, 0].tolist()), run_labels.RESOLUTION)


def _balance_near(values: Floats, near: Bounds) -> float:
    """Return the estimate of a part of the rounds, with a search that begins at that of all rounds."""
    ends = []
    for side in (-1, 1):
        step = near.half_width / 2
        while side * _total(values, near.estimate + side * step) >= 0 and step < WIDEST:
            step *= 2
        ends.append(near.estimate + side * step)
    low, high = ends
    precision = max(LEAST_BATCH_PRECISION, BATCH_PRECISION * near.half_width)
    root = portable_math.find_root(partial(_total, values), low, high, precision)
    return portable_math.drop_unstable_digits(root)


def _score(p: float) -> float:
    """Return the normal score of a p-value, which is nearly linear in the shift."""
    return portable_math.normal_quantile(min(max(p, SMALLEST_P), 1 - 1e-16))
