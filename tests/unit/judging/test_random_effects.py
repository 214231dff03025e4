"""Tests of the random-effects summary against published figures, statsmodels and arithmetic."""

import math
import random

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from bench_framework.extensions.fleet.host_comparison import random_effects

VACCINATED = [
    *[(4, 123), (6, 306), (3, 231), (62, 13598), (33, 5069), (180, 1541), (8, 2545), (505, 88391)],
    *[(29, 7499), (17, 1716), (186, 50634), (5, 2498), (27, 16913)],
]
OTHERS = [
    *[(11, 139), (29, 303), (11, 220), (248, 12867), (47, 5808), (372, 1451), (10, 629)],
    *[(499, 88391), (45, 7277), (65, 1665), (141, 27338), (3, 2341), (29, 17854)],
]
"""Cases of tuberculosis and people in 13 trials of a vaccine (Colditz et al., JAMA 271, 1994)."""


def trials() -> tuple[list[float], list[float]]:
    """Return log risk ratios and their standard errors."""
    pairs = list(zip(VACCINATED, OTHERS, strict=True))
    ratios = [math.log((a / n) / (c / m)) for (a, n), (c, m) in pairs]
    errors = [math.sqrt(1 / a - 1 / n + 1 / c - 1 / m) for (a, n), (c, m) in pairs]
    return ratios, errors


def test_the_trials_of_a_vaccine() -> None:
    """The figures are those of statsmodels 0.14 (method "iterated") for this common example."""
    mean, between = random_effects(*trials())
    assert between**2 == pytest.approx(0.318068, abs=1e-6)
    assert (mean.estimate, mean.error) == pytest.approx((-0.714968, 0.180892), abs=1e-6)
    interval = mean.interval(0.95)
    assert (math.log(interval.lo), math.log(interval.hi)) == pytest.approx(
        (-1.109098, -0.320838), abs=1e-6
    )


def test_the_r_package_metafor_agrees() -> None:
    """The output of `rma.uni(yi, vi, method="PM", test="knha")`."""
    errors = [math.sqrt(variance) for variance in (0.05, 0.06, 0.04, 0.05)]
    mean, between = random_effects([0.40, -0.20, 0.55, 0.10], errors)
    assert (mean.estimate, between**2) == pytest.approx((0.22957, 0.05930), abs=5e-6)


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


def test_the_order_of_hosts_has_no_influence() -> None:
    estimates, errors = trials()
    forward, backward = (
        random_effects(estimates, errors),
        random_effects(estimates[::-1], errors[::-1]),
    )
    assert forward[0].estimate == pytest.approx(backward[0].estimate, rel=1e-12)
    assert forward[1] == pytest.approx(backward[1], rel=1e-9)
