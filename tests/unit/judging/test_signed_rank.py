"""The signed-rank null distribution against scipy, published critical values and enumeration."""

import itertools

import numpy as np
import pytest
from scipy.stats import wilcoxon

from bench_framework.stats import signed_rank


@pytest.mark.parametrize("n", [1, 2, 5, 12, 25, 50])
def test_without_ties_it_is_scipys_exact_wilcoxon(n: int) -> None:
    d = np.random.default_rng(n).normal(0.2, 1, n)
    assert signed_rank.p_value(d) == pytest.approx(wilcoxon(d, method="exact").pvalue, rel=1e-9)


@pytest.mark.parametrize(
    "d",
    [
        [1.0, 1.0, -1.0, 2.0, 2.0, 3.0],
        [0.5, -0.5, 0.5, 0.5, 0.5],
        [0.0, 1.0, 2.0, -3.0, 0.0, 3.0],
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    ],
)
def test_ties_and_zeros_are_exact_under_all_sign_changes(d: list[float]) -> None:
    values = np.array(d)
    ranks = signed_rank.signed_ranks(values)
    observed = abs(int(ranks.sum()))
    signs = list(itertools.product([-1, 1], repeat=len(d)))
    reached = sum(abs(int((np.abs(ranks) * np.array(s)).sum())) >= observed for s in signs)
    assert signed_rank.p_value(values) == pytest.approx(reached / len(signs))


def test_equal_ratios_that_differ_in_their_last_bits_are_ties() -> None:
    d = np.log(np.array([2.0, 6.0])) - np.log(np.array([1.0, 3.0]))
    assert signed_rank.signed_ranks(d).tolist() == [3, 3]


def test_no_difference_at_all_is_no_evidence() -> None:
    assert signed_rank.p_value(np.zeros(20)) == 1.0


@pytest.mark.parametrize(
    ("n", "critical"),
    [(5, None), (6, 0), (7, 2), (8, 3), (10, 8), (15, 25), (20, 52), (25, 89), (50, 434)],
)
def test_cuts_are_the_published_critical_values(n: int, critical: int | None) -> None:
    """Two-sided 5 %: Wilcoxon & Wilcox 1964, table 2."""
    assert signed_rank.walsh_cut(n, 0.95) == critical


def test_long_tied_records_use_the_approximation_without_underflow() -> None:
    d = np.random.default_rng(1).integers(-3, 4, 400).astype(float)
    expected = wilcoxon(d[d != 0], method="approx", correction=True).pvalue
    assert signed_rank.p_value(d) == pytest.approx(expected, rel=0.05)
