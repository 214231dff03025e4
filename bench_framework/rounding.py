"""Rounding of estimates and intervals (``docs/method.md#rounding``).

The width of an interval gives the number of digits. Bounds are rounded outward. Digits are added
until the rounded interval has the same relation to 1 and to the margin as the exact one. Decimals
guarantee that the printed interval is exactly the one from which the verdict follows.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import Final

PDG_TWO_DIGITS_BELOW: Final = 355
"""A half-width whose first three digits are below this has two digits, otherwise one (Particle Data
Group, Review of Particle Physics, introduction, section 5.3)."""
MOST_DECIMALS: Final = 6
FINE_ENOUGH: Final = 4
"""Decimals of a ratio (a hundredth of a percent) beyond which digits are added only if the verdict
needs them. Bounds are rounded outward, so fewer digits never claim more."""
LARGEST_RATIO: Final = 1e6
"""An upper bound above this is treated as unbounded."""
EXACT_DECIMALS: Final = 3
"""Decimals of a ratio without an interval."""

WIDE: Final = Context(prec=400)
"""A context with enough precision for every float with six decimals. The default one has 28 digits."""


@dataclass(frozen=True, slots=True)
class Rounded:
    """An estimate and its interval with the printed digits."""

    estimate: Decimal
    lo: Decimal
    hi: Decimal
    decimals: int


def relation(lo: float | Decimal, hi: float | Decimal, threshold: float | Decimal) -> int:
    """Return −1 if the interval is below the threshold, 1 if it is above, 0 if it contains it."""
    if hi < threshold:
        return -1
    return 1 if lo > threshold else 0


def thresholds(margin: float) -> tuple[float, float, float]:
    """Return the thresholds of a ratio: the lower margin bound, 1, and the upper margin bound."""
    return (1 / (1 + margin), 1.0, 1 + margin)


@lru_cache(maxsize=64)
def _limits(margin: float) -> tuple[Decimal, ...]:
    """Return `thresholds` as decimals, cached: a report needs them thousands of times."""
    return tuple(decimal(threshold) for threshold in thresholds(margin))


def decimal(value: float) -> Decimal:
    """Return the shortest decimal of a float: 1.3, not the exact value of its binary fraction."""
    return Decimal(repr(float(value)))


def decimals_of(half_width: float) -> int:
    """Return the number of decimals by the PDG rule; negative for wide intervals of large numbers."""
    if not half_width > 0 or not math.isfinite(half_width):
        return EXACT_DECIMALS
    exponent = decimal(half_width).adjusted()
    return (1 if decimal(half_width).scaleb(2 - exponent) < PDG_TWO_DIGITS_BELOW else 0) - exponent


def rounded(
    estimate: float,
    lo: float,
    hi: float,
    *,
    margin: float,
    least: int = 2,
    most: int = FINE_ENOUGH,
    keep: bool = True,
    start: int | None = None,
) -> Rounded:
    """Round a ratio and its interval (``docs/method.md#rounding``).

    If six decimals do not preserve the relation to 1 and to the margin bounds, the result has the
    weaker relation. Verdicts are taken from the result.

    `hi` is finite. The text has at least `least` decimals, 2 for a ratio in whole percents, or
    `start` in place of those that the width gives, and at most `most` unless the relation needs
    more. `keep` is false for a pair without a verdict, whose bounds close to 1 would get digits
    that the data do not support.
    """
    exact = [relation(lo, hi, t) for t in thresholds(margin)]
    if start is None:
        start = max(least, min(most, decimals_of((hi - lo) / 2)))
    result = _at(estimate, lo, hi, start)
    if not keep:
        return result
    for decimals in range(start, MOST_DECIMALS + 1):
        result = _at(estimate, lo, hi, decimals)
        if [relation(result.lo, result.hi, limit) for limit in _limits(margin)] == exact:
            break
    return result


def three_digits(value: float) -> int:
    """Return the number of decimals with which a positive value has three significant digits."""
    # 0.9998 is printed as 1.00: it is rounded before its digits are counted.
    return (
        max(0, 2 - Context(prec=3).plus(decimal(value)).adjusted()) if value > 0 else EXACT_DECIMALS
    )


def _at(estimate: float, lo: float, hi: float, decimals: int) -> Rounded:
    step = Decimal(1).scaleb(-decimals)
    return Rounded(
        decimal(estimate).quantize(step, ROUND_HALF_EVEN, WIDE),
        decimal(lo).quantize(step, ROUND_FLOOR, WIDE),
        decimal(hi).quantize(step, ROUND_CEILING, WIDE),
        decimals,
    )


def plain(value: float, lo: float, hi: float, *, most: int = MOST_DECIMALS) -> Rounded:
    """Round a value and its interval without thresholds: PDG digits, bounds rounded outward."""
    return _at(value, lo, hi, max(0, min(most, decimals_of((hi - lo) / 2))))


def up_to_two_digits(value: float) -> Decimal:
    """Round a positive number up to two significant digits: 0.1062 → 0.11."""
    if value <= 0:
        return Decimal(0)
    exact = decimal(value)
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), ROUND_CEILING)
