"""The figures of claims as text, for the macros of ``sentences.j2``: numbers and intervals, no words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from bench_framework.rounding import LARGEST_RATIO, Rounded, rounded, three_digits
from bench_framework.text import numbers
from bench_framework.text.numbers import fixed, signed_change
from bench_framework.units import MINUS, THIN_SPACE

if TYPE_CHECKING:
    from bench_framework.model.facts import Case, Claim, DerivedFact

FACTOR_FROM: Final = 2.0
"""The ratio from which on a change that is not significant is stated as "n×"."""
FEWEST_DECIMALS: Final = 2
MORE_DECIMALS: Final = 6
"""The largest number of decimals that are tried beyond those of the intervals."""


def exponent(claim: Claim) -> str:
    """Return a scaling exponent with its interval, such as ``"0.98 [0.97, 0.99]"``."""
    assert claim.figures is not None
    value = rounded(*claim.figures, margin=0.05, least=2)
    return f"{value.estimate} [{value.lo}, {value.hi}]".replace("-", MINUS)


def per_doubling(claim: Claim, unit: str) -> str:
    """Return the factor of a scaling exponent for twice the input, with a unit and an interval."""
    assert claim.figures is not None
    return numbers.per_doubling(*claim.figures, unit)


def derived(claim: Claim, fact: DerivedFact) -> str:
    """Return a derived figure with its interval and unit."""
    assert claim.estimate is not None
    return numbers.derived_figure(
        claim.estimate,
        claim.lo,
        claim.hi,
        fact.unit,
        fact.family,
        smallest=fact.smallest,
        margin=claim.margin,
    )


def factor(
    estimate: float, lo: float, hi: float, margin: float, *, least: int = 1, keep: bool = True
) -> Rounded:
    """Round a ratio that is printed as "n×" to `least` decimals, at most three significant digits."""
    most = max(1, three_digits(estimate))
    return rounded(estimate, lo, hi, margin=margin, least=min(least, most), most=most, keep=keep)


def percent_change(
    estimate: float, lo: float, hi: float, margin: float, *, least: int = 2, keep: bool = True
) -> str:
    """Return the change of a ratio from 1 with its interval, such as ``"−1.8 % [−6.5, +3.2]"``.

    A ratio from 2 on is stated as a factor: ``"27.5× [24.6, 32.1]"``.

    `least` and `keep` are parameters of `rounding.rounded`.
    """
    if estimate >= FACTOR_FROM and hi <= LARGEST_RATIO:
        times = factor(estimate, lo, hi, margin, keep=keep)
        return f"{times.estimate}× [{times.lo}, {times.hi}]"
    ratio = rounded(estimate, lo, min(hi, LARGEST_RATIO), margin=margin, least=least, keep=keep)
    change, low, high = (
        signed_change(value, ratio.decimals) for value in (ratio.estimate, ratio.lo, ratio.hi)
    )
    return f"{change}{THIN_SPACE}% [{low}, {high if hi <= LARGEST_RATIO else '+∞'}]"


def case(case: Case, margin: float) -> str:
    """Return the result on one input as a signed change with its interval."""
    return percent_change(case.ratio, case.lo, case.hi, margin)


class Factor(NamedTuple):
    """A ratio and the number of decimals that its interval supports."""

    ratio: float
    decimals: int


def printed_product(factors: Sequence[Factor], total: float | None) -> str:
    """Return a product such as ``"0.92 × 0.94 = 0.86"``.

    With a total, an example is ``"1.051 × 1.022 × 1.003 unexplained = 1.077"``. Each figure has the
    digits of its interval, and more if the printed product would not be exact otherwise.

    `total` is `None` if the product of the steps is the total. There is at least one step.
    """
    product = math.prod(f.ratio for f in factors)
    least = max(FEWEST_DECIMALS, min(f.decimals for f in factors))
    text = ""
    for more in range(MORE_DECIMALS + 1):
        last = fixed(product if total is None else total, least)
        figures = [fixed(f.ratio, max(f.decimals, FEWEST_DECIMALS) + more) for f in factors]
        product_printed = math.prod(map(Decimal, figures))
        left = ""
        if total is not None and fixed(product_printed, least) != last:
            left = fixed(total / product, least + more)
            product_printed *= Decimal(left)
        unexplained = f" × {left} unexplained" if left else ""
        text = f"{' × '.join(figures)}{unexplained} = {last}"
        if fixed(product_printed, least) == last and (not left or float(left) != 1):
            break
    return text
