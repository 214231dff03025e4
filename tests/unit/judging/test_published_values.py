"""The estimators against published values and their definitions: R, textbooks, all swaps."""

import itertools
import math
from statistics import median

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
from bench_framework.stats.proportions import at_least, at_most
from tests.unit.judging.conftest import case_of, pair_of_logs

CORN = np.array([14, 56, 60, 16, 6, 8, -48, 49, 24, 28, 29, 41, -67, 23, 75], dtype=float)
"""Wilcoxon 1945, table II: Darwin's corn, crossed minus selfed, in eighths of an inch."""


def positive(d: np.ndarray) -> int:
    """Return R's V: the sum of the positive ranks, from doubled midranks."""
    ranks = signed_rank.signed_ranks(d)
    return int(ranks[ranks > 0].sum()) // 2


def test_the_signed_rank_test_of_wilcoxons_data_agrees_with_r() -> None:
    """``wilcox.test(corn)``: V = 96, p-value = 0.04126."""
    assert positive(CORN) == 96
    assert signed_rank.p_value(CORN) == pytest.approx(0.04126, abs=5e-6)


def test_the_example_of_a_paired_test_in_r() -> None:
    """``example(wilcox.test)``: V = 40, one-sided p-value = 0.01953.

    Hollander, Wolfe & Chicken 2014, example 3.1 (depression scores): θ = −0.46, 95.5 %
    (−0.786, −0.010). Their level 0.96 excludes the five extreme averages. This interval uses the
    exact cut for 95 %.
    """
    before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    assert positive(before - after) == 40
    assert signed_rank.p_value(before - after) / 2 == pytest.approx(0.01953, abs=5e-6)
    bounds = intervals.typical(after - before, 0.95)
    assert (bounds.estimate, bounds.lo, bounds.hi) == pytest.approx((-0.46, -0.786, -0.010))


def test_the_interval_of_seven_pairs_agrees_with_r() -> None:
    """R's exact ``conf.int``, as printed in the reference of the package statease: V = 24, p = 0.1094, −2.5 to 15."""
    d = np.array([23, 45, 12, 67, 34, 89, 56.0]) - np.array([19, 38, 22, 51, 29, 74, 44.0])
    result = intervals.typical(d, 0.95)
    assert positive(d) == 24
    assert signed_rank.p_value(d) == pytest.approx(0.1094, abs=5e-5)
    assert (result.lo, result.hi) == (-2.5, 15.0)


@pytest.mark.parametrize("n", [6, 9, 10])
def test_the_signed_rank_null_is_the_count_of_all_sign_changes(n: int) -> None:
    """P(|V| ≥ v) for every v, by enumeration of the 2ⁿ sums."""
    ranks = 2 * np.arange(1, n + 1)
    sums = [abs(int(np.dot(ranks, signs))) for signs in itertools.product([-1, 1], repeat=n)]
    tail = signed_rank.tail(ranks)
    for v in range(len(tail)):
        assert tail[v] == pytest.approx(sum(s >= v for s in sums) / 2**n)


@pytest.mark.parametrize("seed", range(4))
def test_hodges_lehmann_is_the_median_of_all_averages_of_two(seed: int) -> None:
    d = np.random.default_rng(seed).normal(0.1, 1, 11)
    averages = [(d[i] + d[j]) / 2 for i in range(11) for j in range(i, 11)]
    assert intervals.typical(d, 0.95).estimate == pytest.approx(median(averages))


def test_holm_agrees_with_r() -> None:
    """``p.adjust(c(0.01, 0.02, 0.03, 0.04), "holm")`` of R: 0.04 0.06 0.06 0.06."""
    assert [a.p for a in holm([0.01, 0.02, 0.03, 0.04], size=4, level=0.05)] == pytest.approx(
        [0.04, 0.06, 0.06, 0.06]
    )


@pytest.mark.parametrize(
    ("count", "tries", "lower", "upper"),
    [
        (81, 263, 0.2527, 0.3676),
        (15, 148, 0.0578, 0.1617),
        (0, 20, 0.0, 0.1684),
        (1, 29, 0.0009, 0.1776),
    ],
)
def test_bounds_of_rates_are_the_published_ones(
    count: int, tries: int, lower: float, upper: float
) -> None:
    """Newcombe 1998, table I, method 5: two-sided 95 %, so that each end is a bound at 97.5 %."""
    assert at_least(count, tries, 0.975) == pytest.approx(lower, abs=5e-5)
    assert at_most(count, tries, 0.975) == pytest.approx(upper, abs=5e-5)


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
