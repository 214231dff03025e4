"""Published figures and the measured ones as text, on one scale: numbers and intervals, hardly a word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from bench_framework.model.metrics import METRICS
from bench_framework.model.plan.published import PublishedFigure, parse_figure
from bench_framework.model.verdict import Verdict
from bench_framework.text.differences import factor
from bench_framework.text.numbers import (
    DASH,
    IntervalText,
    fixed,
    format_percent,
    interval_text,
    is_factor,
    show_change,
    show_plain,
    signed_change,
)
from bench_framework.units import THIN_SPACE

if TYPE_CHECKING:
    from bench_framework.model.facts.evidence import Evidence
    from bench_framework.model.facts.published import PublishedResult, PublishedTest

_NUMBERS: Final = re.compile(r"\d+(?:\.\d+)?")
_RANGE: Final = "–"
_FACTOR_DECIMALS: Final = 2


def needs_factors(results: Iterable[PublishedResult]) -> bool:
    """Return whether all changes of a table are factors: those of the page are, or a published or measured one is."""
    ratios, of_page = list[float](), False
    for fact in results:
        figure = parse_figure(fact.figure) if fact.tests else None
        if figure is not None and _is_ratio(figure):
            numbers = map(Decimal, _NUMBERS.findall(fact.figure))
            ratios += (float(_ratio(figure, number, fact)) for number in numbers)
        ratios += (t.evidence.estimate or 1.0 for t in fact.tests if t.form == "ratio")
        of_page |= any(t.evidence.in_times for t in fact.tests)
    return of_page or any(map(is_factor, ratios))


def _is_ratio(figure: PublishedFigure) -> bool:
    return figure.kind == "change" or (figure.kind == "value" and not figure.is_value)


def is_direction(fact: PublishedResult) -> bool:
    """Return whether a direction without a size is published."""
    return bool(fact.tests) and parse_figure(fact.figure).kind == "direction"


def published_figure(fact: PublishedResult, *, times: bool) -> str:
    """Return the published figure, a change as a percentage or as a factor: ``−17 %``, ``1.59× slower``."""
    if not fact.figure:
        return DASH
    figure = parse_figure(fact.figure)
    numbers = _NUMBERS.findall(fact.figure)
    if figure.kind == "equal":
        return f"±{format_percent(figure.hi)}" if figure.hi else "no difference"
    if figure.kind == "limit":
        bound = _ratio(figure, Decimal(numbers[0]), fact)
        return f"at most {_signed(bound, _decimals(numbers[0]))}"
    if figure.is_value:
        return _in_unit(_RANGE.join(numbers), figure)
    if not _is_ratio(figure):
        return fact.figure
    ratios = [_ratio(figure, Decimal(number), fact) for number in numbers]
    if not times:
        places = max(0, _decimals(numbers[0]) - (2 if figure.unit == "x" else 0))
        return _range([_signed(ratio, places) for ratio in ratios])
    places = _decimals(numbers[0]) if figure.unit == "x" else _FACTOR_DECIMALS
    timed = any(_is_time(t.evidence) for t in fact.tests)
    less = timed and ratios[0] < 1
    factors = [fixed(1 / ratio if less else ratio, places) for ratio in ratios]
    return _times(_RANGE.join(factors), timed=timed, less=less)


def _ratio(figure: PublishedFigure, number: Decimal, fact: PublishedResult) -> Decimal:
    """Return the ratio candidate ÷ reference that a printed number states."""
    change = number if figure.unit == "x" else number / 100
    if figure.kind == "value":
        return change
    more = figure.ratio(higher=fact.higher)[0] > 1
    if figure.unit == "x":
        return change if more else 1 / change
    return 1 + change if more else 1 - change


def _decimals(number: str) -> int:
    return len(number.partition(".")[2])


def _in_unit(number: str, figure: PublishedFigure) -> str:
    return f"{number}{THIN_SPACE}{figure.unit}".rstrip(THIN_SPACE)


def _signed(ratio: Decimal, places: int) -> str:
    return f"{signed_change(ratio, places + 2)}{THIN_SPACE}%"


def _range(texts: list[str]) -> str:
    """Return one text, or both ends of a range with the unit of the second one."""
    first, *rest = texts
    return f"{first.removesuffix(f'{THIN_SPACE}%')} to {rest[0]}" if rest else first


def _times(text: str, *, timed: bool, less: bool) -> str:
    """Return a factor; one of elapsed time with the word for its direction."""
    return f"{text}× {'faster' if less else 'slower'}" if timed else f"{text}×"


def _is_time(evidence: Evidence) -> bool:
    kind = METRICS.get(evidence.metric or "")
    return kind is not None and kind.elapsed


def measured_figure(test: PublishedTest, figure: str, *, times: bool) -> IntervalText | None:
    """Return what was measured with its interval, in the unit of the published figure."""
    figures = test.evidence.figures
    if figures is None:
        return None
    if test.form == "exponent":
        return show_plain(*figures, most=2)
    if test.form == "value":
        published = parse_figure(figure)
        value = show_plain(*(x / published.factor for x in figures), most=2)
        return replace(value, estimate=_in_unit(value.estimate, published))
    keep = test.evidence.verdict is not Verdict.INCONCLUSIVE
    margin = test.evidence.margin or 0.0
    if not times:
        return show_change(*figures, margin, keep=keep)
    ratio, lo, hi = figures
    timed = _is_time(test.evidence) and not lo <= 1 <= hi
    less = timed and hi < 1
    ends = (1 / ratio, 1 / hi, 1 / lo) if less else figures
    text = interval_text(factor(*ends, margin, least=_FACTOR_DECIMALS, keep=keep))
    return replace(text, estimate=_times(text.estimate, timed=timed, less=less))
