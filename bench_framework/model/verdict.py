"""Verdicts, thresholds and intervals. Immutable, no I/O."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Final, Literal

Direction = Literal["lower", "higher"]
"""Which values of a metric are better."""
LEAST_LEVEL: Final = 0.95 - 1e-9
"""The lowest level of an interval that pages call one at 95 %."""


class Verdict(StrEnum):
    """The closed set of verdicts (docs/method.md#verdicts). Files use these codes."""

    BETTER = "better"
    BETTER_SIZE_UNCERTAIN = "better-size-uncertain"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    WORSE_SIZE_UNCERTAIN = "worse-size-uncertain"
    WORSE = "worse"
    SINGLE_RUN = "single-run"
    OTHER_OUTPUT = "other-output"
    NOT_COMPARABLE = "not-comparable"
    FAILED = "failed"
    EXCLUDED = "excluded"

    @property
    def better(self) -> bool:
        """True if the candidate is significantly better."""
        return self in _DECIDED[:2]

    @property
    def worse(self) -> bool:
        """True if the candidate is significantly worse."""
        return self in _DECIDED[2:]

    @property
    def decided(self) -> bool:
        """True if there is a significant difference in either direction."""
        return self in _DECIDED

    def is_as(self, word: str) -> bool:
        """Return whether the verdict is `word`: ``better``, ``worse`` or ``equivalent``."""
        return {"better": self.better, "worse": self.worse}.get(word, self.value == word)

    @property
    def size_uncertain(self) -> bool:
        """True if a significant difference may be smaller than the margin."""
        return self in _DECIDED[1:3]

    @property
    def opposite(self) -> Verdict:
        """Verdict of the same pair with candidate and reference exchanged."""
        return _DECIDED[-1 - _DECIDED.index(self)] if self in _DECIDED else self

    @property
    def settled(self) -> bool:
        """True if the comparison is conclusive: a difference or equivalence."""
        return self in _DECIDED or self is Verdict.EQUIVALENT

    @property
    def refused(self) -> bool:
        """True if a side failed or cannot be compared with the other one, whatever their times are."""
        return self in REFUSALS


REFUSALS: Final = (Verdict.FAILED, Verdict.OTHER_OUTPUT, Verdict.NOT_COMPARABLE)
"""Verdicts about a side that has no comparable result."""
_DECIDED = (
    Verdict.BETTER,
    Verdict.BETTER_SIZE_UNCERTAIN,
    Verdict.WORSE_SIZE_UNCERTAIN,
    Verdict.WORSE,
)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Sizes of a difference that matter, as fractions of the reference's value: 0.02 is 2 %."""

    margin: float
    """The equivalence margin δ. Ratios between 1 ÷ (1 + δ) and 1 + δ make no practical difference: variants are
    equivalent if their ratio is shown to be in this range."""
    minimum_effect: float
    """The minimum effect size ε. A smaller or equal difference is not reported as one, however significant it is."""

    def at_least(self, least: float) -> Thresholds:
        """Return thresholds of which none is smaller than a fraction."""
        return Thresholds(max(self.margin, least), max(self.minimum_effect, least))


@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio (candidate ÷ baseline) with its confidence interval at a level such as 0.95."""

    ratio: float
    """Estimated ratio."""
    lo: float
    """Lower end of the interval."""
    hi: float
    """Upper end of the interval."""
    level: float
    """Confidence level, such as 0.95."""
    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "ser_json_inf_nan": "strings",
        "use_attribute_docstrings": True,
    }
    """JSON has no infinity: an infinite bound is stored as a text."""

    @property
    def bounded(self) -> bool:
        """True if both bounds are positive and finite, so that they can be printed."""
        return self.lo > 0 and math.isfinite(self.hi)

    @property
    def figures(self) -> tuple[float, float, float]:
        """Ratio, lower bound and upper bound."""
        return self.ratio, self.lo, self.hi

    @property
    def inverse(self) -> Interval:
        """Interval of baseline ÷ candidate. The inverse of a bound of 0 is infinity."""
        return Interval(
            1 / self.ratio, 1 / self.hi, 1 / self.lo if self.lo > 0 else math.inf, self.level
        )

    def of_values(self, *, higher: bool) -> Interval:
        """Return the ratio of the values. With `higher`, larger ones are better, and this is the inverse."""
        return self.inverse if higher else self

    def contradicts(self, other: Interval, margin: float) -> bool:
        """Return whether neither interval contains the other ratio, and the ratios differ by more than `margin`."""
        low, high = sorted((self, other), key=lambda interval: interval.ratio)
        limit = max(low.hi, low.ratio * (1 + margin))
        return high.ratio > limit and low.ratio < high.lo


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A quotient with its interval, if it has one."""

    value: float
    """The quotient."""
    lo: float | None = None
    """Lower end of its interval; null without one."""
    hi: float | None = None
    """Upper end of it."""


@dataclass(frozen=True, slots=True)
class Phases:
    """The ratios of a comparison before and after a change during the record, each with its 95 % interval."""

    until: int
    """Last round before the change."""
    first: Interval
    """Ratio up to `until`."""
    rest: Interval
    """Ratio after it."""

    @property
    def inverse(self) -> Phases:
        """The phases with both sides exchanged."""
        return Phases(self.until, self.first.inverse, self.rest.inverse)


@dataclass(frozen=True, slots=True)
class SessionRatios:
    """The ratios of a comparison by session (docs/method.md#sessions)."""

    ratios: tuple[Interval, ...]
    """Ratio of each session with its 95 % interval by the rounds of that session."""
    another: Interval
    """Interval of 95 % in which another session on this machine is expected, with the mean."""
    differ: bool = False
    """True if the ratio changed between sessions by more than chance and the margin."""

    @property
    def count(self) -> int:
        """Number of sessions."""
        return len(self.ratios)

    @property
    def inverse(self) -> SessionRatios:
        """The ratios with both sides exchanged."""
        ratios = tuple(interval.inverse for interval in self.ratios)
        return SessionRatios(ratios, self.another.inverse, self.differ)
