"""Tests of rounding: digits, outward bounds, and digits that preserve the verdict."""

from decimal import Decimal

import pytest

from bench_framework.rounding import decimals_of, rounded, up_to_two_digits
from bench_framework.text.numbers import show_factor


@pytest.mark.parametrize(
    ("half", "decimals"),
    [(0.0175, 3), (0.0354, 3), (0.0356, 2), (0.0099, 3), (0.35, 2), (0.36, 1), (4.0, 0)],
)
def test_two_digits_of_a_small_half_width_and_one_of_a_large(half: float, decimals: int) -> None:
    assert decimals_of(half) == decimals


def test_bounds_are_rounded_outward() -> None:
    result = rounded(0.8934, 0.87659, 0.91051, margin=0.02)
    expected = (Decimal("0.893"), Decimal("0.876"), Decimal("0.911"))
    assert (result.estimate, result.lo, result.hi) == expected


def test_a_digit_is_added_where_rounding_would_reach_one() -> None:
    assert rounded(0.95, 0.90, 0.99996, margin=0.001).hi < 1


def test_six_digits_are_the_limit_and_give_the_weaker_relation() -> None:
    assert rounded(0.95, 0.90, 1 - 1e-9, margin=0.02).hi == 1


def test_fine_intervals_are_not_printed_beyond_a_hundredth_of_a_percent() -> None:
    assert rounded(1.3, 1.29978, 1.30017, margin=0.05).decimals == 4


def test_an_exact_ratio_has_three_decimals_or_more_for_its_verdict() -> None:
    assert rounded(1.25, 1.25, 1.25, margin=0.02).estimate == Decimal("1.250")
    assert rounded(1.0004, 1.0004, 1.0004, margin=0.02).lo == Decimal("1.0004")


@pytest.mark.parametrize(
    ("value", "expected"), [(0.1062, "0.11"), (11.0, "11"), (1.21, "1.3"), (683, "690"), (0, "0")]
)
def test_a_detectable_effect_is_rounded_up(value: float, expected: str) -> None:
    assert up_to_two_digits(value) == Decimal(expected)


@pytest.mark.parametrize(
    ("ratio", "expected"), [(0.9998, "1.00"), (0.9872, "0.987"), (9.997, "10.0"), (1.0002, "1.00")]
)
def test_a_factor_has_three_digits_also_if_it_is_rounded_to_one_more_place(
    ratio: float, expected: str
) -> None:
    text = show_factor(ratio, 0.8 * ratio, 1.2 * ratio, 0.02, keep=False)
    assert text.estimate == expected
