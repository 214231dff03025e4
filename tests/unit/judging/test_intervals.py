"""Intervals: closed forms, coverage, and agreement with the tests that they invert."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest

from bench_framework.stats import intervals, run_labels, signed_rank
from bench_framework.stats.portable_math import find_root
from tests.build import require


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


def inverter_of(*columns: np.ndarray) -> intervals.LabelInverter:
    return intervals.LabelInverter(np.stack(columns, axis=1))


@pytest.mark.parametrize("runs", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_the_label_interval_contains_what_its_main_score_does_not_reject(
    seed: int, runs: int
) -> None:
    values = np.random.default_rng(seed).exponential(0.1, (18, runs))
    values[:, 0] += 0.05
    bounds = intervals.LabelInverter(values).bounds(0.95)

    def p_of(shift: float) -> float:
        return 2 * min(side.main / 0.8 for side in run_labels.examine(values, shift))

    room = 5 * intervals.PRECISION * bounds.half_width
    assert bounds.lo < bounds.estimate < bounds.hi
    assert p_of(bounds.lo) <= 0.05
    assert p_of(bounds.hi) <= 0.05
    assert p_of(bounds.lo + room) > 0.05
    assert p_of(bounds.hi - room) > 0.05


def slower_in_slow_runs() -> np.ndarray:
    """Return values of two programs, of which the first is slower in the slower half of its runs."""
    values = np.random.default_rng(7).exponential(0.02, (240, 2))
    values[values[:, 0] > np.median(values[:, 0]), 0] += 0.03
    return values


def test_the_estimate_is_inside_of_its_interval_where_the_signed_rank_rejects_it() -> None:
    values = slower_in_slow_runs()
    values[:, 0] += 0.1
    inverter = intervals.LabelInverter(values)
    less, more = run_labels.examine(values, inverter.estimate)
    assert min(less.p, more.p) < 0.001
    bounds = inverter.bounds(0.95)
    room = bounds.half_width / 2
    assert bounds.lo + room < bounds.estimate < bounds.hi - room


@pytest.mark.parametrize("slower", [1, -1])
def test_the_interval_excludes_equality_if_the_signed_rank_alone_rejects_it(slower: int) -> None:
    values = slower_in_slow_runs()[:, ::slower]
    less, more = run_labels.examine(values)
    assert min(less.by_main, more.by_main) > 0.001
    assert min(less.p, more.p) < 0.0001
    bounds = intervals.LabelInverter(values).bounds(0.999)
    assert min(slower * bounds.lo, slower * bounds.hi) > 0


def test_the_equivalence_interval_contains_what_either_statistic_does_not_reject() -> None:
    values = np.random.default_rng(3).normal(0, 0.01, (30, 3))
    bounds = require(intervals.LabelInverter(values).equivalence(0.9, 0.02))
    for end, larger in ((bounds.lo, True), (bounds.hi, False)):
        result = run_labels.examine_side(values, end, larger=larger)
        assert max(result.main, result.rank) <= 0.05
    assert intervals.LabelInverter(values).equivalence(0.9, bounds.hi * 0.99) is None


def test_an_interval_has_the_level_of_one_that_it_contains() -> None:
    narrow, wide = (intervals.Bounds(0.0, -end, end, 0.9) for end in (0.01, 0.03))
    plain = intervals.Bounds(0.0, -0.02, 0.02, 0.95)
    assert [x.containing(plain).level for x in (narrow, wide)] == [0.9, 0.95]
    assert replace(wide, level=0.99).containing(plain).level == 0.99


def test_equal_series_have_an_interval_around_zero() -> None:
    x = np.random.default_rng(0).normal(0, 0.1, 20)
    bounds = inverter_of(x, x).bounds(0.95)
    assert bounds.lo <= 0 <= bounds.hi
    assert bounds.bounded


def test_constant_series_have_an_interval_without_width() -> None:
    bounds = inverter_of(np.full(20, 0.3), np.full(20, 0.1)).bounds(0.95)
    assert bounds.estimate == pytest.approx(0.2)
    assert bounds.half_width < 0.01


def test_few_rounds_give_the_label_interval_the_level_that_they_can() -> None:
    bounds = inverter_of(np.arange(6.0), np.arange(6.0) ** 2 / 9).bounds(0.999)
    assert bounds.level == pytest.approx(1 - 2 / 0.8 / 2**6)
    assert bounds.bounded


def _noise(random: np.random.Generator, n: int, *, skewed: bool) -> np.ndarray:
    return random.exponential(0.1, n) if skewed else random.normal(0, 0.1, n)


@pytest.mark.parametrize("skewed", [False, True])
def test_95_percent_intervals_cover_the_truth_in_95_of_100(skewed: bool) -> None:
    random = np.random.default_rng(2024)
    replays, truth, typical, label = 1000, 0.03, 0, 0
    for i in range(replays):
        x, y, z = (_noise(random, 15, skewed=skewed) for _ in range(3))
        bounds = intervals.typical(x + truth - y, 0.95)
        typical += bounds.lo <= truth <= bounds.hi
        if i % 10 == 0:
            bounds = inverter_of(x + truth, y, z).bounds(0.95)
            label += bounds.lo <= truth <= bounds.hi
    assert binomtest(typical, replays, 0.95, alternative="less").pvalue > 0.001
    assert binomtest(label, replays // 10, 0.95, alternative="less").pvalue > 0.001


def test_the_level_of_a_large_family_still_gives_an_interval() -> None:
    """24 variants × 3 inputs and 10 interim analyses: α/(J·M) is about 10⁻⁵."""
    random = np.random.default_rng(1)
    bounds = inverter_of(random.normal(0.5, 0.01, 40), random.normal(0, 0.01, 40)).bounds(1 - 1e-5)
    assert 0 < bounds.lo < 0.5 < bounds.hi
    assert bounds.half_width < 0.02


def test_one_round_has_an_estimate_and_finite_bounds_at_level_zero() -> None:
    bounds = intervals.LabelInverter(np.array([[0.03, 0.01]])).bounds(0.95)
    assert bounds.bounded
    assert (bounds.lo, bounds.hi) == (bounds.estimate, bounds.estimate)
    assert bounds.estimate == pytest.approx(0.02, abs=1e-6)
    assert bounds.level == 0


@pytest.mark.parametrize("seed", range(200))
def test_a_root_has_the_bits_of_scipys(seed: int) -> None:
    random = np.random.default_rng(seed)
    root, steepness, step = (
        random.uniform(-1, 1),
        random.uniform(0.1, 30),
        10 ** random.uniform(-6, -1),
    )

    def smooth(x: float) -> float:
        return math.atan(steepness * (x - root)) + 0.1 * (x - root) ** 3

    def stepped(x: float) -> float:  # like a score of ranks, which is constant between two values
        return float(np.floor((x - root) / step)) + 0.5

    for function in (smooth, stepped, lambda x: -smooth(x)):
        for xtol in (1e-8, 1e-3):
            assert find_root(function, -3.0, 4.0, xtol) == brentq(function, -3.0, 4.0, xtol=xtol)


def test_a_root_at_an_end_is_found() -> None:
    assert find_root(lambda x: x, 0.0, 1.0, 1e-8) == 0
    assert find_root(lambda x: x - 1, 0.0, 1.0, 1e-8) == 1
