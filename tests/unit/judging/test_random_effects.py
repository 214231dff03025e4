"""Tests of the random-effects summary against statsmodels and arithmetic."""

import math
import random

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from bench_framework.extensions.fleet.host_comparison import random_effects


@pytest.mark.parametrize("seed", range(20))
def test_statsmodels_agrees(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(3, 12)
    errors = [chance.uniform(0.002, 0.02) for _ in range(count)]
    estimates = [chance.gauss(0.1, 0.02) + chance.gauss(0, error) for error in errors]
    arrays = np.array(estimates), np.array(errors) ** 2
    other = combine_effects(*arrays, method_re="iterated")
    mean, between = random_effects(estimates, errors)
    assert between**2 == pytest.approx(other.tau2, abs=1e-9)
    assert mean.estimate == pytest.approx(other.mean_effect_re, abs=1e-7)
    expected = other.sd_eff_w_re_hksj / math.sqrt(min(1.0, other.scale_hksj_re))
    assert mean.error == pytest.approx(expected, rel=1e-4)


def test_equal_estimates_have_the_interval_of_their_errors() -> None:
    """By hand: the variance of the mean of three estimates with error 0.03 is 0.03² ÷ 3."""
    mean, between = random_effects([0.2, 0.2, 0.2], [0.03, 0.03, 0.03])
    assert between == 0.0
    assert mean.estimate == pytest.approx(0.2)
    assert mean.error == pytest.approx(0.03 / math.sqrt(3))


def test_equal_errors_by_hand() -> None:
    """The estimates have the variance 0.01, of which the errors explain 0.0004."""
    mean, between = random_effects([0.0, 0.1, 0.2], [0.02, 0.02, 0.02])
    assert between**2 == pytest.approx(0.01 - 0.0004)
    assert mean.freedom == 2
    assert mean.estimate == pytest.approx(0.1)
    assert mean.error == pytest.approx(0.1 / math.sqrt(3))
