"""The evidence of a statement: names, figures, verdict, and how much data they rest on."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import NO_USE_OF_INTERVAL, Reason
from bench_framework.model.verdict import Direction, Interval, Phases, Verdict

Scope = tuple[tuple[str, str], ...]
"""Pairs such as ``("input", "10MiB")``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFigures:
    """Figures of a claim that applies to one session of commands, without rounds."""

    value: float | None = None
    """The figure of a single run, in the unit of the metric."""
    runs_at_estimate: int | None = None
    """Runs per command that would detect the estimate in 4 of 5 tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A measured amount of bytes or seconds."""

    value: float
    unit: Literal["bytes", "s"]
    family: str
    """Family of units of the scenario."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """The correction of an interval for several comparisons and interim analyses.

    ``first-step`` is the level of the first step of Holm's procedure.
    """

    method: Literal["holm", "first-step", "bonferroni"]
    family: int
    """Number of comparisons that share the level."""
    looks: int = 1
    """Number of interim analyses."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Names and figures of a statement, such as those of a comparison."""

    subject: str = ""
    """Label of the variant, or another subject of the sentence. Empty for a fact about the record, and for
    the figures of a fact whose names are those of its claim, such as its costs."""
    reference: str | None = None
    metric: Metric | None = None
    scope: Scope = ()
    verdict: Verdict | None = None
    estimate: float | None = None
    lo: float | None = None
    hi: float | None = None
    level: float | None = None
    adjust: Adjustment | None = None
    rounds: int | None = None
    runs: int | None = None
    runs_ref: int | None = None
    """Runs of the reference."""
    margin: float | None = None
    direction: Direction = "lower"
    """Better direction of the metric. With ``higher``, the figures are those of the inverse ratio."""
    phases: Phases | None = None
    """The ratios before and after a change of the ratio during the record."""
    mde: float | None = None
    """Minimum detectable effect of a comparison, as a fraction."""
    rounds_needed: int | None = None
    """Rounds for which the minimum detectable effect would equal the margin."""
    noise_floor: float | None = None
    cells: tuple[str, ...] = ()
    reason: Reason | None = None
    """Reason for a refusal or a lowered verdict."""
    in_times: bool = False
    """True if the page states every change of the metric as a factor."""
    session: SessionFigures | None = None
    """Set for a claim about figures of another harness, which were not measured in rounds."""

    @property
    def figures(self) -> tuple[float, float, float] | None:
        """Estimate, lower bound and upper bound, or `None` without an interval."""
        if self.estimate is None or self.lo is None or self.hi is None:
            return None
        return self.estimate, self.lo, self.hi

    @property
    def excludes(self) -> str:
        """``worse`` or ``better`` if the interval excludes a change of this kind beyond the margin, or empty."""
        unusable = self.reason is not None and (
            self.reason in NO_USE_OF_INTERVAL or self.reason.too_few
        )
        if unusable or self.session or self.margin is None or self.lo is None or self.hi is None:
            return ""
        if self.hi <= 1 + self.margin:
            return "worse"
        return "better" if self.lo >= 1 / (1 + self.margin) else ""

    def with_interval(self, interval: Interval | None) -> Self:
        """Return the evidence with the figures of an interval, unchanged if it is not bounded."""
        if interval is None or not interval.bounded:
            return self
        return replace(
            self, estimate=interval.ratio, lo=interval.lo, hi=interval.hi, level=interval.level
        )
