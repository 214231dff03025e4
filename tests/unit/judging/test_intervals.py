"""Intervals: closed forms, coverage, and agreement with the tests that they invert."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from bench_framework.compare import paired_test
from bench_framework.compare.paired_test import Levels
from bench_framework.stats import intervals, signed_rank
from tests.unit.judging.conftest import pair_of_logs


def test_hodges_lehmann_of_a_known_sample() -> None:
    """Hollander, Wolfe & Chicken 2014, example 3.1 (depression scores): θ = −0.46, 95.5 %
    (−0.786, −0.010).

    Their level 0.96 excludes the five extreme averages. This one uses the exact cut for 95 %.
    """
    before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    bounds = intervals.typical(after - before, 0.95)
    assert bounds.estimate == pytest.approx(-0.46)
    assert (bounds.lo, bounds.hi) == pytest.approx((-0.786, -0.010))


def test_few_rounds_give_the_level_that_they_can() -> None:
    bounds = intervals.typical(np.array([0.1, 0.2, 0.4]), 0.99)
    assert (bounds.lo, bounds.hi, bounds.level) == (0.1, 0.4, 0.75)


def test_one_round_has_an_estimate_and_no_confidence() -> None:
    bounds = intervals.typical(np.array([0.1]), 0.95)
    assert (bounds.estimate, bounds.lo, bounds.hi, bounds.level) == (0.1, 0.1, 0.1, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_the_typical_interval_contains_what_its_test_does_not_reject(seed: int) -> None:
    d = np.random.default_rng(seed).normal(0, 1, 18)
    bounds = intervals.typical(d, 0.95)
    assert signed_rank.p_value(d - bounds.lo + 1e-9) <= 0.05
    assert signed_rank.p_value(d - bounds.hi - 1e-9) <= 0.05
    assert signed_rank.p_value(d - bounds.lo - 1e-6) > 0.05
    assert signed_rank.p_value(d - bounds.hi + 1e-6) > 0.05


@pytest.mark.parametrize("seed", range(6))
def test_the_floor_interval_contains_what_its_test_does_not_reject(seed: int) -> None:
    """At 12 rounds all swaps are enumerated, so that the test is exact at the bounds."""
    random = np.random.default_rng(seed)
    x, y = random.exponential(0.1, 12) + 0.05, random.exponential(0.1, 12)
    bounds = intervals.floor(x, y, 0.95, 0)

    def p_of(shift: float) -> float:
        p = paired_test.examine(pair_of_logs(x - shift, y), Levels(1e-6, 0.9), 0).p_floor
        assert p is not None
        return p

    room = 2 * intervals.PRECISION * bounds.half_width
    assert p_of(bounds.lo - 1e-4) <= 0.05
    assert p_of(bounds.hi + 1e-4) <= 0.05
    assert p_of(bounds.lo + 2 * room + 1e-4) > 0.05
    assert p_of(bounds.hi - 2 * room - 1e-4) > 0.05


def test_equal_series_have_a_floor_interval_around_zero() -> None:
    x = np.random.default_rng(0).normal(0, 0.1, 20)
    bounds = intervals.floor(x, x, 0.95, 0)
    assert bounds.lo <= 0 <= bounds.hi
    assert bounds.bounded


def test_constant_series_have_an_interval_without_width() -> None:
    bounds = intervals.floor(np.full(20, 0.3), np.full(20, 0.1), 0.95, 0)
    assert bounds.estimate == pytest.approx(0.2)
    assert bounds.half_width < 0.01


def test_a_level_that_the_swaps_cannot_reach_has_no_end() -> None:
    inverter = intervals.FloorInverter(np.arange(4.0), np.arange(4.0) + 1, 0, 100)
    assert inverter.bounds(0.999).hi == math.inf


def _noise(random: np.random.Generator, n: int, *, skewed: bool) -> np.ndarray:
    return random.exponential(0.1, n) if skewed else random.normal(0, 0.1, n)


@pytest.mark.parametrize("skewed", [False, True])
def test_95_percent_intervals_cover_the_truth_in_95_of_100(skewed: bool) -> None:
    random = np.random.default_rng(2024)
    replays, truth, typical, floor = 1000, 0.03, 0, 0
    for i in range(replays):
        x, y = _noise(random, 15, skewed=skewed) + truth, _noise(random, 15, skewed=skewed)
        bounds = intervals.typical(x - y, 0.95)
        typical += bounds.lo <= truth <= bounds.hi
        if i % 4 == 0:
            by_floor = intervals.floor(x, y, 0.95, i)
            floor += by_floor.lo <= truth <= by_floor.hi
    assert binomtest(typical, replays, 0.95, alternative="less").pvalue > 0.001
    assert binomtest(floor, replays // 4, 0.95, alternative="less").pvalue > 0.001


def test_the_quick_half_width_is_near_the_real_one() -> None:
    ratios = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        x, y = random.exponential(0.1, 40), random.exponential(0.1, 40)
        ratios.append(
            intervals.approximate_floor_half_width(x, y, 0.95, 0)
            / intervals.floor(x, y, 0.95, 0).half_width
        )
    assert 0.75 < float(np.median(ratios)) < 1.25


def test_the_level_of_a_large_family_still_gives_the_floor_an_interval() -> None:
    """24 variants × 3 inputs and 10 interim analyses: α/(J·M) is about 10⁻⁵."""
    random = np.random.default_rng(1)
    bounds = intervals.floor(random.normal(0.5, 0.01, 40), random.normal(0, 0.01, 40), 1 - 1e-5, 0)
    assert bounds.bounded
    assert 0 < bounds.lo < 0.5 < bounds.hi
