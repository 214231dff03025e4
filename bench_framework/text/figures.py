"""The figures of claims as text, for the macros of ``sentences.j2``: numbers and intervals, no words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from bench_framework.model.result.judgement import WITH_BASELINE
from bench_framework.rounding import rounded, up_to_two_digits
from bench_framework.text.differences import Amount
from bench_framework.text.numbers import (
    AB_TIMES_FROM,
    TIMES_FROM,
    format_duration,
    format_percent,
    format_size,
    interval_text,
    is_factor,
    shortest,
    show_plain,
    significant,
    size_unit,
    time_unit,
)
from bench_framework.units import THIN_SPACE

if TYPE_CHECKING:
    from bench_framework.model.facts.answers import Doubling
    from bench_framework.model.facts.evidence import Evidence, Quantity
    from bench_framework.model.facts.records import DerivedFact
    from bench_framework.model.plan.plan import Plan
    from bench_framework.model.result.judgement import Comparison
    from bench_framework.model.verdict import Share

TENTHS: Final = 3
"""Decimals of a ratio that is stated in tenths of a percent, as imported figures are."""
MOST_STATED: Final = 100_000
"""The number of rounds or runs above which no number is stated."""


def in_times(plan: Plan, comparisons: Iterable[Comparison]) -> bool:
    """Return whether a page states all changes of the main metric as factors, such as ``2.3× faster``.

    It does if the change of one variant from the baseline is below −50 % or above +100 %. Otherwise all are
    percentages. `benchctl ab` has factors from 1.1 on.
    """
    least = AB_TIMES_FROM if plan.compares_commands else TIMES_FROM
    with_baseline = (
        c for c in comparisons if c.family in WITH_BASELINE and c.metric == plan.judge.headline
    )
    return any(
        is_factor(c.of_values.ratio, least) for c in with_baseline if c.of_values is not None
    )


def exponent(claim: Evidence) -> str:
    """Return a scaling exponent with its interval, such as ``"0.98 [0.97, 0.99]"``."""
    assert claim.figures is not None
    return str(interval_text(rounded(*claim.figures, margin=0.05, least=2)))


def doubling(step: Evidence | Doubling, unit: str = "", *, bounds: bool = True) -> str:
    """Return the factor of an exponent for twice the input: ``"1.84× the time [1.82, 1.87]"`` with a unit."""
    assert step.figures is not None
    factor = show_plain(*(math.pow(2.0, power) for power in step.figures), most=2)
    return f"{factor.estimate}{unit}{f' {factor.bounds}' if bounds else ''}"


def derived(claim: Evidence, fact: DerivedFact) -> str:
    """Return a derived figure with its interval and unit."""
    assert claim.estimate is not None
    return derived_figure(
        claim.estimate,
        claim.lo,
        claim.hi,
        fact.unit,
        fact.family,
        smallest=fact.smallest,
        margin=claim.margin,
    )


def derived_figure(
    estimate: float,
    lo: float | None,
    hi: float | None,
    kind: str,
    family: str,
    *,
    smallest: float | None = None,
    margin: float | None = None,
) -> str:
    """Return a derived value with its interval and unit: ``"1.21 [1.18, 1.24] GiB/s"``.

    `kind` is ``s``, ``bytes/s`` or ``ratio``. `smallest` is the smallest rate of a list, which sets
    the unit. `margin` is that of a pair with a verdict.
    """
    unit, scale = "", 1.0
    if kind == "s":
        unit, scale = time_unit(estimate)
    elif kind == "bytes/s":
        unit, scale = size_unit(estimate if smallest is None else smallest, family)
        unit += "/s"
    low, high = (estimate, estimate) if lo is None or hi is None else (lo, hi)
    value = show_plain(estimate * scale, low * scale, high * scale, most=3)
    if margin is not None and not low <= 1 <= high:
        # Rounding must not let the interval of a judged pair reach 1 if the results exclude 1.
        value = interval_text(rounded(estimate, low, high, margin=margin))
    interval = f" {value.bounds}" if lo is not None else ""
    return f"{value.estimate}{interval}{THIN_SPACE}{unit}".rstrip(THIN_SPACE)


def about(count: int) -> str:
    """Return a number of rounds or runs with two digits, rounded up."""
    return str(int(up_to_two_digits(float(count))))


def quantity(given: Quantity) -> str:
    """Return an amount of bytes or seconds with its unit."""
    if given.unit == "s":
        return format_duration(given.value)
    return format_size(given.value, given.family)


def in_unit(value: float, unit: str) -> str:
    """Return a value with four digits in its unit; one of another unit than seconds and bytes is a plain number."""
    if unit == "s":
        return format_duration(value, digits=4)
    return format_size(value, digits=4) if unit == "bytes" else shortest(value, 10)


def rates(values: Sequence[float], family: str) -> tuple[str, str]:
    """Return two rates in one unit, which only the second one states."""
    unit, scale = size_unit(min(values), family)
    first, second = (significant(value * scale, 3) for value in values)
    return first, f"{second}{THIN_SPACE}{unit}/s"


def whole_percent(share: Share) -> str:
    """Return a share in whole percents with its interval, such as ``54 % [48, 60]``."""
    text = format_percent(share.value, decimals=0)
    if share.lo is None or share.hi is None:
        return text
    return f"{text} [{math.floor(share.lo * 100)}, {math.ceil(share.hi * 100)}]"


def share(given: Share) -> str:
    """Return a share of samples as ``12.3 % [10.1, 14.6]``, or as ``12.34 %`` without an interval."""
    return percentage(given.value, given.lo, given.hi)


def percentage(value: float, lo: float | None = None, hi: float | None = None) -> str:
    """Return a fraction as ``"12.3 % [10.1, 14.6]"``, or as ``"12.34 %"`` without an interval."""
    if lo is None or hi is None:
        return format_percent(value, decimals=2)
    figure = show_plain(value * 100, lo * 100, hi * 100, most=2)
    return f"{figure.estimate}{THIN_SPACE}% {figure.bounds}"


def times_the(given: Share, noun: str, *, bounds: bool = True) -> str:
    """Return a quotient as ``1.21× the rate [1.18, 1.24]``, or without its interval."""
    low, high = (given.value, given.value) if given.lo is None else (given.lo, given.hi)
    value = show_plain(given.value, low, high or given.value, most=3)
    interval = f" {value.bounds}" if bounds and given.lo is not None else ""
    return f"{value.estimate}× the {noun}{interval}"


def times(values: Sequence[float]) -> tuple[str, ...]:
    """Return durations in the unit of the first one, with a sign if one is negative."""
    unit, scale = time_unit(values[0])
    return tuple(f"{significant(value * scale, 3)}{THIN_SPACE}{unit}" for value in values)


def closed(claim: Evidence) -> Amount:
    """Return the closed share of a gap, or how much wider it is if it grew."""
    assert claim.figures is not None
    ends = [(-v if claim.figures[2] < 0 else v) * 100 for v in claim.figures]
    value = show_plain(ends[0], min(ends[1:]), max(ends[1:]), most=1)
    return Amount(f"{value.estimate}{THIN_SPACE}%", value.lo, value.hi, times=False, less=False)


def crossover_size(claim: Evidence, family: str) -> str:
    """Return the size at which two variants cross over, with its interval."""
    assert claim.figures is not None
    unit, scale = size_unit(claim.figures[0], family)
    value = show_plain(*(figure * scale for figure in claim.figures), most=2)
    return f"{value.estimate}{THIN_SPACE}{unit} {value.bounds}"
