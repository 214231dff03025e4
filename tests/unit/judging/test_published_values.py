"""The tests against published values, R, and the one-sided tests of scipy and statsmodels."""

import math

import numpy as np
import pytest
from scipy.stats import wilcoxon
from statsmodels.stats.weightstats import ttost_paired

from bench_framework.compare.decide import equivalence_level
from bench_framework.compare.verdict import examine_looks, judge_family
from bench_framework.model.plan.looks import Looks
from bench_framework.model.verdict import Verdict
from bench_framework.stats import intervals, signed_rank
from bench_framework.stats.holm_family import holm
from tests.unit.judging.conftest import case_of, pair_of_logs

CORN = np.array([14, 56, 60, 16, 6, 8, -48, 49, 24, 28, 29, 41, -67, 23, 75], dtype=float)
"""Wilcoxon 1945, table II: Darwin's corn, crossed minus selfed, in eighths of an inch."""


def test_the_signed_rank_test_of_wilcoxons_data_agrees_with_r() -> None:
    """``wilcox.test(corn)``: p-value = 0.04126."""
    assert signed_rank.p_value(CORN) == pytest.approx(0.04126, abs=5e-6)


def test_holm_agrees_with_r() -> None:
    """``p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm")`` of R: 0.04 0.06 0.06 0.06."""
    assert [a.p for a in holm([0.01, 0.02, 0.03, 0.04], size=4, level=0.05)] == pytest.approx(
        [0.04, 0.06, 0.06, 0.06]
    )


def verdict_of(x: np.ndarray, y: np.ndarray, looks: int) -> Verdict:
    """Judge log times once, with `looks` planned interim analyses."""
    pair = pair_of_logs(x, y)
    case = case_of(pair, examine_looks(pair, (len(x),)))
    (result,) = judge_family([case], Looks.at((len(x),) * looks, family=1, level=0.05))
    return result.verdict


@pytest.mark.parametrize("looks", [1, 4])
@pytest.mark.parametrize("seed", range(25))
def test_the_interval_inside_the_margin_is_two_one_sided_tests(seed: int, looks: int) -> None:
    """Schuirmann 1987: both one-sided tests at 5 % ÷ J reject exactly if the interval is within the margin."""
    d = np.random.default_rng(seed).normal(0.004, 0.016, 20)
    limit, alpha = math.log1p(0.02), 0.05 / looks
    one_sided = (
        wilcoxon(d - limit, alternative="less", method="exact").pvalue,
        wilcoxon(d + limit, alternative="greater", method="exact").pvalue,
    )
    bounds = intervals.typical(d, equivalence_level(looks))
    assert (-limit < bounds.lo and bounds.hi < limit) == (max(one_sided) <= alpha)


def test_equivalence_agrees_with_the_t_tests_of_statsmodels_on_normal_noise() -> None:
    """This test uses two statistics at J = 1 and is stricter: it is equivalent only if the t tests are."""
    equal, theirs = 0, 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        x, y = random.normal(0.002, 0.016, 30), random.normal(0, 0.016, 30)
        p, *_ = ttost_paired(x, y, -math.log1p(0.02), math.log1p(0.02))
        ours = verdict_of(x, y, 1) is Verdict.EQUIVALENT
        equal += ours
        theirs += p <= 0.05
        assert not ours or p <= 0.08, seed
    assert 0.6 * theirs <= equal <= theirs + 3
    assert equal >= 20
