"""Rounding of ratios: digits from the interval, bounds outward, relation to 1 and the margin preserved."""

import math
from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from bench_framework.rounding import rounded
from bench_framework.text.differences import signed_amount
from bench_framework.text.numbers import (
    TIMES_FROM,
    column_decimals,
    column_size,
    fixed,
    format_size,
    in_column,
    measured_decimals,
    metric_unit,
    percent_up,
    show_change,
    show_plain,
    show_ratio,
    signed_percent,
    significant,
    time_unit,
)
from bench_framework.units import MINUS


@pytest.mark.parametrize(
    ("ratio", "lo", "hi", "text"),
    [
        (0.90912, 0.89312, 0.92571, "0.909 [0.893, 0.926]"),
        (1.0487, 1.0241, 1.0739, "1.049 [1.024, 1.074]"),
        (0.9901, 0.9721, 1.0089, "0.990 [0.972, 1.009]"),
        (9.5912, 9.5511, 9.6301, "9.59 [9.55, 9.64]"),
        (1.31, 0.94, 1.83, "1.31 [0.94, 1.83]"),
        # A bound that could be rounded onto 1 gets more digits.
        (1.021, 1.00004, 1.042, "1.02100 [1.00004, 1.04200]"),
        # An open interval has an infinite bound, and an extreme bound is one.
        (1.2, 0.0, math.inf, "1.20 [0.00, ∞]"),
        (2.0, 1e-300, 3e275, "2.00 [0.00, ∞]"),
    ],
)
def test_the_width_of_an_interval_sets_the_number_of_digits(
    ratio: float, lo: float, hi: float, text: str
) -> None:
    assert str(show_ratio(ratio, lo, hi, 0.02)) == text


def test_a_bound_that_could_be_rounded_onto_1_gets_more_digits() -> None:
    assert str(show_ratio(0.981, 0.962, 0.99996, 0.02)).endswith("0.99996]")


def test_a_number_may_have_more_digits_than_a_decimal_by_default() -> None:
    assert fixed(1e36, 4) == f"1{'0' * 36}.0000"
    assert percent_up(1e36).startswith("1" + "0" * 38)


ratios = st.floats(0.01, 50).flatmap(
    lambda r: st.tuples(
        st.just(r),
        st.floats(0.0001, 0.5).map(lambda h: r * (1 - h)),
        st.floats(0.0001, 2).map(lambda h: r * (1 + h)),
    )
)


@given(ratios, st.sampled_from([0.01, 0.02, 0.05]))
def test_rounding_outward_never_narrows_an_interval(
    values: tuple[float, float, float], margin: float
) -> None:
    ratio, lo, hi = values
    in_table = show_ratio(ratio, lo, hi, margin)
    assert Decimal(in_table.lo) <= Decimal(repr(lo)) <= Decimal(repr(hi)) <= Decimal(in_table.hi)


@given(ratios, st.sampled_from([0.01, 0.02, 0.05]))
def test_tables_and_sentences_round_alike(
    values: tuple[float, float, float], margin: float
) -> None:
    ratio, lo, hi = values
    in_table, in_text = show_ratio(ratio, lo, hi, margin), rounded(ratio, lo, hi, margin=margin)
    texts = map(str, (in_text.estimate, in_text.lo, in_text.hi))
    assert (in_table.estimate, in_table.lo, in_table.hi) == tuple(texts)


@given(ratios, st.sampled_from([0.01, 0.02, 0.05]))
def test_a_change_in_percent_is_the_same_in_tables_and_sentences(
    values: tuple[float, float, float], margin: float
) -> None:
    in_text = signed_amount(*values, margin)
    assert in_text.times is (values[0] >= TIMES_FROM)
    if not in_text.times:
        assert str(in_text) == str(show_change(*values, margin))


def test_an_open_change_has_an_infinite_bound() -> None:
    in_table, in_text = (f(1.2, 0.0, float("inf"), 0.02) for f in (show_change, signed_amount))
    assert str(in_table) == str(in_text) == "+20\u202f% [−100, +∞]"


def test_a_measured_value_has_the_digits_of_its_interval_and_at_most_four() -> None:
    def measured(value: float, lo: float | None, hi: float | None, scale: float) -> str:
        return fixed(value * scale, measured_decimals(value, lo, hi, scale))

    assert measured(0.2091, 0.2071, 0.2112, 1e3) == "209.1"
    assert measured(0.2091, 0.19, 0.23, 1e3) == "209"
    assert measured(0.02010003, 0.02010001, 0.02010005, 1e3) == "20.10"
    assert measured(1.5, None, None, 1.0) == "1.50"


def test_a_column_follows_most_of_its_values() -> None:
    assert column_decimals([2, 2, 2, 3, 1, 2, 2, 2]) == 2
    assert column_decimals([]) == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (8.4e-3, "8.40"),  # the decimals of the column, 1, give two digits only
        (0.1463, "146.3"),
        (4.2e-5, "42.0 µs"),  # the column would print 0.0
        (2.5e-8, "25.0 ns"),
        (2e-12, "0.00200 ns"),
        (757.25, "757 s"),
        (12.0, "12000.0"),
        (0.0, "0.0"),
    ],
)
def test_a_value_in_a_column_of_milliseconds_has_three_digits(seconds: float, text: str) -> None:
    unit, factor, decimals = in_column(seconds, ("ms", 1e3), time_unit(seconds), 1)
    assert f"{fixed(seconds * factor, decimals)} {unit}".strip() == text


def test_signs_units_and_sizes() -> None:
    assert show_plain(-0.021, -0.052, 0.011).lo.startswith(MINUS)
    assert metric_unit("wall", 0.02, "iec") == ("ms", 1e3)
    assert metric_unit("peak_rss", 3e6, "si")[0] == "MB"
    assert metric_unit("records", 3e6, "iec") == ("", 1.0)
    assert format_size(64e6, "si") == "64.0\u202fMB"
    assert format_size(64 * 2**20) == "64.0\u202fMiB"
    assert (significant(470.2, 3), significant(0.0, 3)) == ("470", "0")
    assert percent_up(None) == "—"


def test_a_column_of_sizes_has_a_unit_that_suits_its_smallest() -> None:
    mib, gib = 2.0**20, 2.0**30
    assert column_size(gib, [gib, 300 * mib], "iec") == gib
    assert column_size(gib, [gib, 8 * mib], "iec") == 8 * mib
    assert column_size(gib, [200 * gib, 8 * mib], "iec") == gib  # 204 800 MiB would not be better
    assert column_size(gib, [0.0], "iec") == gib


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        *((0.963, "−3.7"), (1.2201, "+22"), (0.9999, "0"), (1.0042, "+0.4"), (2.0, "+100")),
        *((0.9996, "0"), (0.9004, "−10"), (1.0996, "+10"), (1.0994, "+9.9")),
    ],
)
def test_a_change_has_two_digits(ratio: float, text: str) -> None:
    assert signed_percent(ratio) == f"{text}\u202f%"
    assert signed_percent(float("inf")) == "∞"
