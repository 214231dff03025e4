"""R15: digits from the interval, bounds outward, until the digits say what the numbers say.

Plain Python with decimals, so that what is printed is exactly what was judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import Final

PDG_TWO_DIGITS_BELOW: Final = 355
"""Two digits of a half-width whose first three digits are below this, else one (Particle Data
Group, Review of Particle Physics, introduction, section 5.3)."""
MOST_DECIMALS: Final = 6
FINE_ENOUGH: Final = 4
"""Decimals of a ratio at which digits are added only for the sake of the verdict: a hundredth of a
percent. Bounds still go outward, so that fewer digits never say more."""
LARGEST_RATIO: Final = 1e6
"""An upper bound above this is rounded outward as far as it goes: nothing is known of that side."""
EXACT_DECIMALS: Final = 3
"""Of a ratio without an interval to take them from."""


_WIDE: Final = Context(prec=400)
"""Room for every float with six decimals."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """An estimate and its interval as they are printed."""

    estimate: Decimal
    lo: Decimal
    hi: Decimal
    decimals: int


def relation(lo: float | Decimal, hi: float | Decimal, threshold: float | Decimal) -> int:
    """−1: the interval lies below the threshold; 1: above; 0: it reaches it."""
    if hi < threshold:
        return -1
    return 1 if lo > threshold else 0


def thresholds(margin: float) -> tuple[float, float, float]:
    """What an interval of a ratio is compared with: both margin bounds and 1."""
    return (1 / (1 + margin), 1.0, 1 + margin)


@lru_cache(maxsize=64)
def _limits(margin: float) -> tuple[Decimal, ...]:
    """`thresholds` as decimals: a report asks for those of a few margins thousands of times."""
    return tuple(decimal(threshold) for threshold in thresholds(margin))


def decimal(value: float) -> Decimal:
    """The shortest decimal that is this number: 1.3 is 1.3 and not the binary fraction just above."""
    return Decimal(repr(float(value)))


def decimals_of(half_width: float) -> int:
    """Decimals by the PDG rule; may be negative for wide intervals of large numbers."""
    if not half_width > 0 or not math.isfinite(half_width):
        return EXACT_DECIMALS
    exponent = decimal(half_width).adjusted()
    leading = decimal(half_width).scaleb(2 - exponent)
    return (1 if leading < PDG_TWO_DIGITS_BELOW else 0) - exponent


def rounded(
    estimate: float, lo: float, hi: float, *, margin: float, least: int = 2, keep: bool = True
) -> Rounded:
    """A ratio and its interval in the digits that R15 gives.

    Where six decimals do not keep the relation to 1 and to the margin bounds, the relation of
    the result is the weaker one; verdicts are taken from the result.

    Args:
        estimate: ratio.
        lo: lower bound, at most `estimate`.
        hi: upper bound; finite.
        margin: δ as a fraction.
        least: fewest decimals; 2 for a ratio that is printed as whole percents.
        keep: add digits for the sake of the relation. Not for a pair without a verdict: a bound that misses
            1 by a hair would be printed with digits that the data do not carry, for nothing.
    """
    wanted = [relation(lo, hi, t) for t in thresholds(margin)]
    start = max(least, min(FINE_ENOUGH, decimals_of((hi - lo) / 2)))
    made = _at(estimate, lo, hi, start)
    if not keep:
        return made
    for decimals in range(start, MOST_DECIMALS + 1):
        made = _at(estimate, lo, hi, decimals)
        if [relation(made.lo, made.hi, limit) for limit in _limits(margin)] == wanted:
            break
    return made


def _at(estimate: float, lo: float, hi: float, decimals: int) -> Rounded:
    step = Decimal(1).scaleb(-decimals)
    return Rounded(
        decimal(estimate).quantize(step, ROUND_HALF_EVEN, _WIDE),
        decimal(lo).quantize(step, ROUND_FLOOR, _WIDE),
        decimal(hi).quantize(step, ROUND_CEILING, _WIDE),
        decimals,
    )


def plain(value: float, lo: float, hi: float, *, most: int = MOST_DECIMALS) -> Rounded:
    """A value and its interval where no limit has a meaning: digits by the PDG rule, bounds outward."""
    return _at(value, lo, hi, max(0, min(most, decimals_of((hi - lo) / 2))))


def up_to_two_digits(value: float) -> Decimal:
    """A positive number rounded up to two significant digits: 0.1062 → 0.11."""
    if value <= 0:
        return Decimal(0)
    exact = decimal(value)
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), ROUND_CEILING)
