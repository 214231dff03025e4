"""Holm's procedure against statsmodels, and the meaning of its divisors."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from bench_framework.stats.holm_family import adjust_for_looks, holm


@pytest.mark.parametrize("seed", range(10))
def test_adjusted_values_are_those_of_statsmodels(seed: int) -> None:
    p = (np.random.default_rng(seed).random(12) ** 4).tolist()
    rejected, adjusted, *_ = multipletests(p, alpha=0.05, method="holm")
    result = holm(p, size=12, level=0.05)
    assert [f.p for f in result] == pytest.approx(adjusted.tolist())
    assert [f.rejected for f in result] == rejected.tolist()


def test_divisors_count_down_and_stop_with_the_procedure() -> None:
    assert [f.divisor for f in holm([0.04, 0.001, 0.03, 0.002], size=4, level=0.05)] == [2, 4, 2, 3]


def test_members_without_a_value_still_share_the_level() -> None:
    (alone,) = holm([0.01], size=10, level=0.05)
    assert not alone.rejected
    assert alone.p == pytest.approx(0.1)
    assert alone.divisor == 10


def test_an_empty_family_is_empty() -> None:
    assert holm([], size=5, level=0.05) == ()


def test_looks_share_the_level_by_bonferroni() -> None:
    assert adjust_for_looks(0.01, 4) == pytest.approx(0.04)
    assert adjust_for_looks(0.5, 4) == 1.0


def test_equal_p_values_are_treated_alike_whatever_their_order() -> None:
    one = holm([0.001, 0.001, 0.02, 0.001], size=6, level=0.05)
    assert [a.divisor for a in one] == [6, 6, 3, 6]
    assert [a.rejected for a in one] == [True, True, False, True]
    other = holm([0.02, 0.001, 0.001, 0.001], size=6, level=0.05)
    assert sorted(one, key=lambda a: a.p) == sorted(other, key=lambda a: a.p)
