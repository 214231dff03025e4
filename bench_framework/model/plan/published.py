"""Statements of a published report, their figures, and what tests them. No I/O."""

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Final, Literal

from bench_framework.model.plan.written import (
    COMPLETED,
    NOT_WRITTEN,
    SOME,
    NonEmpty,
    Selection,
    only_written,
    written_as,
)
from bench_framework.units import DURATION_UNITS, MINUS, SIZE_UNITS, THIN_SPACE

TestKind = Literal["contrast", "variant", "derived", "scaling", "not-testable"]


@dataclass(frozen=True, slots=True)
class OtherResult:
    """The result of another scenario that tests the same claim."""

    scenario: str
    """Name of the other scenario."""
    comparison: str
    """Its contrast or experiment that tests the claim."""
    result: str
    """The figure there, such as `−14 % [−24, −7]`."""
    date: str
    """Date of its record."""
    differs: str
    """The difference between the two scenarios, which may explain other figures."""


@dataclass(frozen=True, slots=True)
class PublishedClaim:
    """A claim of a published report, and what tests it."""

    text: str = field(metadata=written_as("claim"))
    """The claim, quoted."""
    figure: str = ""
    """The figure as published: `2.1x faster`, `-17 %`, `60-70 % less`, `within 0.5 %`,
    `at most 5 % slower`, `12 MB`, `linear`, or only `faster`, `slower`, `less`, `more`, `equal`.
    Not needed with `not-testable`."""
    test: TestKind = field(default="not-testable", metadata=COMPLETED)
    """The key that says what tests the claim."""
    name: str = field(default="", metadata=COMPLETED)
    """Name of the contrast or of the derived value. For `not-testable`, the reason."""
    variant_id: str = field(default="", metadata=NOT_WRITTEN)
    """Variant of the tests `variant` and `scaling`."""
    input_ids: tuple[str, ...] = field(default=(), metadata=NOT_WRITTEN)
    metric: NonEmpty = ""
    """Metric of `variant` or `scaling`. Default: the headline metric."""
    contrast: str | None = only_written(None)
    """Name of the contrast that tests the claim."""
    variant: Selection | None = only_written(None)
    """Axis values of the variant that tests the claim, or `{experiment: NAME}`. A change or a
    direction is tested against the baseline, a value by the variant alone. An omitted axis has the
    baseline's value."""
    derived: str | None = only_written(None)
    """Name of the derived value that tests the claim."""
    scaling: dict[str, str] | None = only_written(None)
    """Axis values of the variant whose scaling exponents test the claim. An omitted axis has the
    baseline's value."""
    not_testable: str | None = only_written(None)
    """Reason why this scenario cannot test the claim."""
    input: dict[str, str] = only_written({})
    """Values of input axes. Without them, the claim is tested on every input and must hold on each
    of them."""
    title: str = ""
    """Subject of the claim, for the table of published figures."""
    disproved: str = ""
    """Figures of the same document that disprove the claim."""
    other_results: tuple[OtherResult, ...] = ()
    """Results of other scenarios that test the same claim."""

    @property
    def selection(self) -> dict[str, str] | None:
        """The axis values of the variant that tests the claim."""
        return self.variant if self.variant is not None else self.scaling


@dataclass(frozen=True, slots=True)
class Published:
    """A published report whose claims the scenario tests."""

    title: str
    """Title of the report."""
    url: str = ""
    """Address of the report."""
    date: str = ""
    """Date of the report."""
    claims: Annotated[tuple[PublishedClaim, ...], SOME] = field(
        default=(), metadata={"required": True}
    )
    """The claims, in the order of the report."""
    decisions: bool = False
    """True if each `decision` of an experiment is that of the report. The table of experiments then
    says so next to the measured result."""


Sense = Literal["", "better", "worse", "less", "more"]
_SENSES: Final[dict[str, Sense]] = {
    "faster": "better",
    "better": "better",
    "slower": "worse",
    "worse": "worse",
    "less": "less",
    "fewer": "less",
    "smaller": "less",
    "more": "more",
    "larger": "more",
}
_EQUAL: Final = ("equal", "equivalent", "identical", "the same", "unchanged")
_UNITS: Final[dict[str, tuple[str, float]]] = {
    "": ("", 1.0),
    "x": ("x", 1.0),
    "%": ("%", 0.01),
    **{name: ("bytes", float(factor)) for name, factor in SIZE_UNITS.items()},
    **{f"{name}/s": ("bytes/s", float(factor)) for name, factor in SIZE_UNITS.items()},
    **{name: ("s", factor) for name, factor in DURATION_UNITS.items()},
}
"""Printed unit → kind of unit, and the factor from the printed number to its base unit."""
_NUMBER: Final = r"(\d+(?:\.\d+)?)"
_FIGURE: Final = re.compile(
    rf"(?P<sign>[+-]?){_NUMBER}(?:\s*(?:-|to)\s*{_NUMBER})?"
    rf"\s*(?P<unit>{'|'.join(_UNITS)})\s*(?P<word>{'|'.join(_SENSES)}|)"
)
_WITHIN: Final = re.compile(rf"within\s+{_NUMBER}\s*%")
_AT_MOST: Final = re.compile(rf"at\s+most\s+{_NUMBER}\s*%\s*(?P<word>{'|'.join(_SENSES)})")
_PLAIN: Final = str.maketrans({MINUS: "-", "–": "-", "×": "x", THIN_SPACE: " ", "\u00a0": " "})


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """A published figure. It stands for every number that is rounded to it."""

    kind: Literal["direction", "change", "limit", "equal", "value", "linear"]
    """``direction`` for a word such as "faster"; ``change`` for a ratio of two values; ``limit`` for the
    largest such change; ``equal``; ``value`` for a number with or without a unit; ``linear``."""
    lo: float = 0.0
    """Smallest such number, or lower end of a range, in the base unit. Percentages are fractions."""
    hi: float = 0.0
    """Largest such number. For ``equal``: the published bound, 0 without one."""
    sense: Sense = ""
    """Direction of the change; empty for a percentage with a sign."""
    unit: str = ""
    """Printed unit, such as ``GB/s``, ``%`` or ``x``."""

    @property
    def base(self) -> str:
        """Kind of unit: ``x``, ``%``, ``bytes``, ``bytes/s``, ``s``, or empty."""
        return _UNITS[self.unit][0]

    @property
    def factor(self) -> float:
        """Factor from the printed number to the base unit."""
        return _UNITS[self.unit][1]

    @property
    def is_value(self) -> bool:
        """Return whether it is an amount or a share. A factor such as "1.57x" is a ratio."""
        return self.kind == "value" and self.unit != "x"

    def better(self, *, higher: bool) -> bool | None:
        """Return whether the change is an improvement, `None` for figures without a direction."""
        if self.kind not in {"direction", "change", "limit"}:
            return None
        if self.sense in {"better", "worse"}:
            return self.sense == "better"
        smaller = self.sense == "less" if self.sense else self.hi < 0
        return smaller is not higher

    def ratio(self, *, higher: bool) -> tuple[float, float]:
        """Return the bounds of the published ratio, candidate ÷ reference."""
        if self.kind == "value":
            return self.lo, self.hi
        if not self.sense:
            return 1 + self.lo, 1 + self.hi
        smaller = self.better(higher=higher) is not higher
        if self.base == "x":
            return (1 / self.hi, 1 / self.lo) if smaller else (self.lo, self.hi)
        return (1 - self.hi, 1 - self.lo) if smaller else (1 + self.lo, 1 + self.hi)


def parse_figure(text: str) -> PublishedFigure:
    """Return the figure of a text such as ``"2.1x faster"``. Raises `ValueError`: it has none."""
    words = text.translate(_PLAIN).strip().removeprefix("~").strip()
    if words in _SENSES:
        return PublishedFigure("direction", sense=_SENSES[words])
    if words in _EQUAL:
        return PublishedFigure("equal")
    if words == "linear":
        return PublishedFigure("linear")
    if within := _WITHIN.fullmatch(words):
        return PublishedFigure("equal", hi=float(within[1]) / 100)
    if limit := _AT_MOST.fullmatch(words):
        most = float(limit[1]) / 100
        return PublishedFigure("limit", most, most, _SENSES[limit["word"]], "%")
    match = _FIGURE.fullmatch(words)
    if match is None:
        raise ValueError(text)
    sign, unit, sense = match["sign"], match["unit"], _SENSES.get(match["word"], "")
    first, last = match[2], match[3] or match[2]
    factor = _UNITS[unit][1]
    reversed_ = Decimal(first) > Decimal(last)  # rounding can make the ends of such a range equal
    lo, hi = (_rounded_to(n, side) * factor for n, side in ((first, -1), (last, 1)))
    if reversed_ or math.isinf(hi):
        raise ValueError(text)
    if not sign and not sense:
        return PublishedFigure("value", lo, hi, unit=unit)
    # A factor has a word and no sign. A percentage has either.
    is_change = unit == "%" if sign else unit in {"x", "%"}
    whole = unit == "%" and hi >= 1 and (sign == "-" or sense in {"better", "less"})
    if not is_change or (sign and sense) or whole or lo <= 0:
        raise ValueError(text)
    return PublishedFigure("change", *((-hi, -lo) if sign == "-" else (lo, hi)), sense, unit)


def _rounded_to(number: str, side: int) -> float:
    """Return the smallest (`side` −1) or largest (1) number that is printed like this one."""
    exact = Decimal(number)
    return float(exact + side * Decimal(1).scaleb(int(exact.as_tuple().exponent)) / 2)


REFERENCE: Final = re.compile(
    r"\{(?P<kind>contrast|experiment|derived): (?P<name>(?:[^{},]|,(?! \w+:))+)(?:, metric: (?P<metric>\w+))?"
    r"(?:, input: (?P<input>[^{},]+))?\}"
)
"""A reference of an author's text to a result, such as ``{contrast: rayon against tokio}``."""
CONDITION: Final = re.compile(r"(?P<name>.+) is (?P<verdict>better|worse|equivalent)")
"""The condition of a takeaway, such as ``worker pool is better``."""
INTENDED: Final = re.compile(r"\{\s*(?:contrast|experiment|derived)\s*:[^{}]*\}?", re.IGNORECASE)
"""A text that is meant as a reference. One that `REFERENCE` does not match has a mistake."""
