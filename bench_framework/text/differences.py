"""Differences between two configurations as text, for the macros of ``sentences.j2``: no words.

Percentages of elapsed time are percentages of the reference's time: 9 % less time is a ratio of
0.91. From 2× on, a sentence states the speedup or slowdown as a factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from bench_framework.model.metrics import WALL
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.rounding import LARGEST_RATIO, Rounded, plain, rounded, three_digits
from bench_framework.text.numbers import (
    TIMES_FROM,
    IntervalText,
    fixed,
    is_factor,
    show_change,
    show_factor,
    signed_change,
)
from bench_framework.units import THIN_SPACE

if TYPE_CHECKING:
    from bench_framework.model.facts.axes import Product
    from bench_framework.model.facts.evidence import Evidence

Figures = tuple[float, float, float]
"""Estimate, lower bound and upper bound."""
FEWEST_DECIMALS: Final = 2
MORE_DECIMALS: Final = 6
"""The largest number of decimals that are tried beyond those of the intervals."""


def printed(c: Evidence) -> Figures | None:
    """Return the figures that sentences print: the candidate's value over the reference's value."""
    figures = c.figures
    if figures is not None and c.direction == "higher" and figures[1] and figures[2]:
        return inverted(figures)
    return figures


def inverted(figures: Figures) -> Figures:
    """Return the figures of the reference's value over the candidate's value."""
    estimate, lo, hi = figures
    return 1 / estimate, 1 / hi, 1 / lo


@dataclass(frozen=True, slots=True)
class Amount(IntervalText):
    """A difference as it is printed, such as ``8.4 %``, or ``2.1`` for a factor."""

    times: bool
    """True for a factor."""
    less: bool
    """True if the candidate's value is the smaller one."""

    @classmethod
    def of_factor(cls, ratio: Rounded, *, less: bool) -> Amount:
        """Return a factor with its interval."""
        return cls(str(ratio.estimate), str(ratio.lo), str(ratio.hi), times=True, less=less)


def amount(
    c: Evidence, times_from: float = TIMES_FROM, least: int = 1, *, certain: bool = False
) -> Amount:
    """Return a difference as a factor from `times_from` on, and as a percentage below it.

    `least` is the number of decimals of a factor, at most three significant digits. With `certain`,
    a difference that may be below the margin is a percentage. On a page of factors, it is a factor with the
    digits of the table. A decrease is a factor only of time: sentences have no word for "n× less memory".
    """
    figures = printed(c)
    assert figures is not None
    estimate, lo, _ = figures
    margin = c.margin or 0.0
    invertible = lo > 0 and c.metric in (WALL, None)
    if c.in_times and lo > 0 and (estimate >= 1 or invertible):
        return page_factor(figures, margin)
    if not certain or c.verdict in (Verdict.BETTER, Verdict.WORSE):
        slower = estimate >= times_from
        faster = estimate <= 1 / times_from and invertible
        if slower or faster:
            ends = figures if slower else inverted(figures)
            times = factor(*ends, margin, least=least)
            return Amount.of_factor(times, less=not slower)
    return _percentage(figures, margin)


def page_factor(figures: Figures, margin: float, *, keep: bool = True) -> Amount:
    """Return a difference with the factor and the digits of a page whose changes are factors."""
    less = figures[0] < 1
    text = show_factor(*(inverted(figures) if less else figures), margin, keep=keep)
    return Amount(text.estimate, text.lo, text.hi, times=True, less=less)


def _percentage(figures: Figures, margin: float) -> Amount:
    """Return a percentage of at most three significant digits."""
    most = 2 + three_digits(100 * abs(figures[0] - 1))
    ratio = rounded(*figures, margin=margin, most=most)
    less = ratio.hi < 1
    figure, *bounds = [
        (1 - v) * 100 if less else (v - 1) * 100 for v in (ratio.estimate, ratio.lo, ratio.hi)
    ]
    low, high = sorted(bounds)
    text, least, most_text = (fixed(value, ratio.decimals - 2) for value in (figure, low, high))
    return Amount(f"{text}{THIN_SPACE}%", least, most_text, times=False, less=less)


def cost(c: Evidence) -> Amount:
    """Return a cost or saving with at most three digits and without its interval."""
    figures = printed(c)
    assert figures is not None
    margin = c.margin or 0.0
    if figures[0] >= TIMES_FROM:
        times = rounded(*figures, margin=margin, least=1)
        return Amount(_short(times.estimate, times.decimals, 3), "", "", times=True, less=False)
    change = rounded(*figures, margin=margin)
    share = _short(abs(change.estimate - 1) * 100, change.decimals - 2, 2)
    return Amount(f"{share}{THIN_SPACE}%", "", "", times=False, less=change.hi < 1)


def _short(value: Decimal, decimals: int, digits: int) -> str:
    """Return a value with the given decimals, and at most the given significant digits."""
    return fixed(value, max(0, min(decimals, digits - len(str(int(value))))))


def signed(c: Evidence, least: int = 2, *, keep: bool = True) -> Amount:
    """Return the change of a comparison from 1, with its sign; the ratio on a page of factors."""
    figures = printed(c)
    assert figures is not None
    if c.in_times and figures[1] > 0:
        text = show_factor(*figures, c.margin or 0.0, keep=keep)
        return Amount(text.estimate, text.lo, text.hi, times=True, less=figures[0] < 1)
    return signed_amount(*figures, c.margin or 0.0, least=least, keep=keep)


def phase(c: Evidence, ratio: Interval, *, bounds: bool = True) -> str:
    """Return the change of a comparison in a phase of the record, such as ``−2.2 % [−3.4, −1.1]``."""
    natural = ratio.of_values(higher=c.direction == "higher")
    change = signed_amount(*natural.figures, c.margin or 0.0)
    figure = f"{change.estimate}{'×' if change.times else ''}"
    return f"{figure} {change.bounds}" if bounds else figure


def signed_bounds(c: Evidence, *, keep: bool = True) -> str:
    """Return both bounds as signed changes, such as ``[−6.5 %, +3.2 %]``; ``[0.94×, 1.03×]`` on a page of factors."""
    figures = printed(c)
    assert figures is not None
    if c.in_times and figures[1] > 0:
        text = show_factor(*figures, c.margin or 0.0, keep=keep)
        return f"[{text.lo}×, {text.hi}×]"
    ratio = rounded(*figures, margin=c.margin or 0.0, keep=keep)
    low, high = (
        f"{signed_change(bound, ratio.decimals)}{THIN_SPACE}%" for bound in (ratio.lo, ratio.hi)
    )
    return f"[{low}, {high}]"


def one_scale(differences: Iterable[Evidence]) -> float:
    """Return the factor from which on "n×" is used, so that a list of comparisons has one scale."""
    ratios = [figures[0] for d in differences if (figures := d.figures) is not None]
    return 1.0 if any(map(is_factor, ratios)) else TIMES_FROM


def factor(
    estimate: float, lo: float, hi: float, margin: float, *, least: int = 1, keep: bool = True
) -> Rounded:
    """Round a ratio that is printed as "n×" to `least` decimals, at most three significant digits."""
    most = max(1, three_digits(estimate))
    return rounded(estimate, lo, hi, margin=margin, least=min(least, most), most=most, keep=keep)


def signed_amount(
    estimate: float, lo: float, hi: float, margin: float, *, least: int = 2, keep: bool = True
) -> Amount:
    """Return the change of a ratio from 1 with its interval, such as −1.8 %, −6.5 and +3.2.

    A ratio from 2 on is a factor. `least` and `keep` are parameters of `rounding.rounded`.
    """
    if estimate >= TIMES_FROM and hi <= LARGEST_RATIO:
        times = factor(estimate, lo, hi, margin, keep=keep)
        return Amount.of_factor(times, less=False)
    text = show_change(estimate, lo, hi, margin, least=least, keep=keep)
    return Amount(text.estimate, text.lo, text.hi, times=False, less=estimate < 1)


class Factor(NamedTuple):
    """A ratio and the number of decimals that its interval supports."""

    ratio: float
    decimals: int


def product(steps: Product) -> str:
    """Return the product of the steps of a contribution, exact as printed."""
    factors = [Factor(f.ratio, plain(*f.figures, most=3).decimals) for f in steps.factors]
    return printed_product(factors, steps.total)


def printed_product(factors: Sequence[Factor], total: float | None) -> str:
    """Return a product such as ``"0.92 × 0.94 = 0.86"``.

    With a total, an example is ``"1.051 × 1.022 × 1.003 unexplained = 1.077"``. Each figure has the
    digits of its interval, and more if the printed product would not be exact otherwise.

    `total` is `None` if the product of the steps is the total. There is at least one step.
    """
    whole = math.prod(f.ratio for f in factors)
    least = max(FEWEST_DECIMALS, min(f.decimals for f in factors))
    text = ""
    for more in range(MORE_DECIMALS + 1):
        last = fixed(whole if total is None else total, least)
        figures = [fixed(f.ratio, max(f.decimals, FEWEST_DECIMALS) + more) for f in factors]
        product_printed = math.prod(map(Decimal, figures))
        left = ""
        if total is not None and fixed(product_printed, least) != last:
            left = fixed(total / whole, least + more)
            product_printed *= Decimal(left)
        unexplained = f" × {left} unexplained" if left else ""
        text = f"{' × '.join(figures)}{unexplained} = {last}"
        if fixed(product_printed, least) == last and (not left or float(left) != 1):
            break
    return text
