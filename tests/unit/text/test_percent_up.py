"""One value has one text, in sentences and in tables."""

import csv
import re
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bench_framework.text.numbers import format_percent, percent, percent_up

EXAMPLES = Path(__file__).parents[3] / "results" / "examples"
THIN = "\u202f"


@given(st.floats(min_value=1e-6, max_value=20))
def test_a_detectable_effect_is_never_stated_too_small_and_at_most_one_digit_too_large(
    fraction: float,
) -> None:
    stated = Decimal(percent_up(fraction).removesuffix(f"{THIN}%"))
    exact = Decimal(repr(fraction)) * 100
    step = min(Decimal(1), Decimal(1).scaleb(exact.adjusted() - 1))
    assert exact <= stated < exact + step


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (1.0158, "102"),
        (0.0099, "0.99"),
        (0.0035, "0.35"),
        (0.007, "0.70"),
        (1.234, "124"),
        (0.0132, "1.4"),
        (0.0042, "0.42"),
    ],
)
def test_figures_that_two_formats_once_printed_differently(fraction: float, text: str) -> None:
    assert percent_up(fraction) == f"{text}{THIN}%"


def test_each_stated_detectable_difference_is_one_of_the_data() -> None:
    """Find the MDE of each sentence of the example reports among the MDEs of their data."""
    stated = 0
    for folder in sorted(EXAMPLES.iterdir()):
        with (folder / "comparisons.csv").open(encoding="utf-8") as file:
            known = {float(row["mde"]) for row in csv.DictReader(file) if row["mde"]}
        texts = {percent_up(mde).replace(THIN, " ") for mde in known}
        report = (folder / "report.md").read_text(encoding="utf-8").replace(THIN, " ")
        figures = re.findall(r"(?:only detect differences of|MDE) ([\d.]+ %)", report)
        assert {*figures} <= texts
        stated += len(figures)
    assert stated, "no report states a detectable difference"


@given(st.floats(min_value=0, max_value=2), st.integers(0, 2))
def test_a_percentage_is_that_of_the_decimal_and_not_of_a_product_of_floats(
    fraction: float, decimals: int
) -> None:
    exact = (Decimal(repr(fraction)) * 100).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN)
    assert format_percent(fraction, decimals=decimals) == f"{exact:f}{THIN}%"


def test_percentages_that_a_product_of_floats_rounds_to_another_value() -> None:
    assert percent(0.00115) == f"0.12{THIN}%"
    assert percent(0) == f"0{THIN}%"
    assert format_percent(0.00015, decimals=2) == f"0.02{THIN}%"
    assert format_percent(-0.02) == f"−2{THIN}%"
