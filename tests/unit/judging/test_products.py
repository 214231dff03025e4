"""A product is correct as printed, and its result equals the total of the table above it."""

import math
import re
from decimal import Decimal

from hypothesis import given, strategies as st

from bench_framework.model.facts.axes import Product
from bench_framework.model.verdict import Interval
from bench_framework.text.differences import Factor, printed_product, product

TOKIO = (Factor(1.059496, 2), Factor(0.908450, 2), Factor(1.034382, 2), Factor(1.082509, 2))


def parts(text: str) -> tuple[Decimal, str]:
    """Return the product of the factors before the equals sign, and the result after it."""
    left, right = text.split(" = ")
    return math.prod(map(Decimal, re.findall(r"[\d.]+", left)), start=Decimal(1)), right


def test_figures_of_two_decimals_would_make_another_product() -> None:
    assert f"{1.06 * 0.91 * 1.03 * 1.08:.2f}" == "1.07"
    assert printed_product(TOKIO, 1.081876) == "1.059 × 0.908 × 1.034 × 1.083 = 1.08"


def test_the_unexplained_part_of_the_total_is_a_separate_factor() -> None:
    text = printed_product((Factor(1.050664, 3), Factor(1.021688, 2)), 1.076513)
    assert text == "1.0507 × 1.022 × 1.003 unexplained = 1.08"


def test_without_a_total_the_product_has_the_digits_of_the_intervals() -> None:
    assert printed_product((Factor(0.983, 3), Factor(0.908, 3)), None) == "0.983 × 0.908 = 0.893"


def test_the_digits_of_a_factor_are_those_of_its_interval() -> None:
    factors = (Interval(0.983, 0.981, 0.985, 0.95), Interval(0.908, 0.86, 0.96, 0.95))
    assert product(Product(factors=factors, total=None)) == "0.983 × 0.91 = 0.89"


@given(
    st.lists(st.builds(Factor, st.floats(0.2, 5), st.integers(2, 4)), min_size=1, max_size=6),
    st.one_of(st.none(), st.floats(0.9, 1.1)),
)
def test_the_printed_figures_always_multiply_to_the_printed_product(
    factors: list[Factor], left: float | None
) -> None:
    total = None if left is None else math.prod(f.ratio for f in factors) * left
    exact, printed = parts(printed_product(factors, total))
    assert str(exact.quantize(Decimal(printed))) == printed
