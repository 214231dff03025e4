"""One value has one text, in sentences and in tables."""

import csv
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_framework.text.numbers import percent_up

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
    [(1.0158, "102"), (0.0099, "0.99"), (0.0035, "0.35"), (0.007, "0.70"), (1.234, "124")],
)
def test_figures_that_two_formats_once_printed_differently(fraction: float, text: str) -> None:
    assert percent_up(fraction) == f"{text}{THIN}%"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_each_stated_detectable_difference_is_one_of_the_table(name: str) -> None:
    """Find the MDE of each sentence of a report among the MDEs of its data."""
    with (EXAMPLES / name / "comparisons.csv").open(encoding="utf-8") as file:
        known = {float(row["mde"]) for row in csv.DictReader(file) if row["mde"]}
    texts = {percent_up(mde).replace(THIN, " ") for mde in known}
    report = (EXAMPLES / name / "report.md").read_text(encoding="utf-8").replace(THIN, " ")
    stated = re.findall(r"only detect differences of ([\d.]+ %) or more", report)
    stated += re.findall(r"MDE ([\d.]+ %)", report)
    assert {*stated} <= texts
