"""Facts about the figures of an earlier report: what was measured here, and how the two compare."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.fact import Fact
from bench_framework.model.plan.published import OtherResult
from bench_framework.model.reasons import Reason


class Outcome(StrEnum):
    """How a published figure compares with the measured one (docs/method.md#published-figures).

    The worst is first: of several inputs, the first one that one of them has applies.
    """

    REFUTED = "refuted"
    """The document's own figures disprove it. Only the author of a scenario says so."""
    OPPOSITE = "opposite"
    NO_DIFFERENCE = "no-difference"
    NOT_REPRODUCED = "not-reproduced"
    NOT_TESTED = "not-tested"
    IMPRECISE = "too-imprecise"
    SAME_DIRECTION = "same-direction"
    """The published direction, of which no size is published, with an estimate within the margin."""
    SMALLER = "smaller"
    LARGER = "larger"
    REPRODUCED = "reproduced"


TestForm = Literal["ratio", "value", "exponent"]
"""``ratio``: candidate ÷ reference. ``value``: a quantity or a share. ``exponent``: a scaling exponent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTest:
    """The test of a published figure on one input, or between two sizes of an input."""

    form: TestForm
    outcome: Outcome
    evidence: Evidence
    """The measured figure. A ratio is candidate ÷ reference, whichever direction is better."""
    reason: Reason | None = None
    """Why it has this outcome, if the outcome does not say it."""
    higher: bool = False
    """True if larger values of the metric are better, which a figure such as "faster" needs."""
    sizes: tuple[str, ...] = ()
    """Labels of the two inputs of an exponent."""


class PublishedResult(Fact, kind="published"):
    """Published figures that one comparison tests. The claim's subject is the comparison."""

    outcome: Outcome
    quotes: tuple[str, ...]
    """The statements, as published."""
    figure: str = ""
    """The figure that is tested, as published; the most precise one of all quotes."""
    tests: tuple[PublishedTest, ...] = ()
    reason: Reason | None = None
    """Why it has this outcome: a reason of those tests that have it."""
    on: int = 0
    """Number of tests with this outcome, 0 if these are all of them."""
    note: str = ""
    """Text of the author: why the figure is not tested, or which figures disprove it."""
    measured: Outcome | None = None
    """The outcome of the tests, if the statement is refuted by figures of its document."""
    other_results: tuple[OtherResult, ...] = ()
    """Results of other scenarios about the same statements."""

    @property
    def higher(self) -> bool:
        """True if larger values of the metric are better."""
        return any(test.higher for test in self.tests)


class PublishedCounts(Fact, kind="published-counts"):
    """The number of comparisons with published figures by outcome, for the report that is the subject.

    Of figures that are not tested, every statement counts.
    """

    counts: tuple[tuple[Outcome, int], ...]
