"""What a report states: one frozen dataclass per kind of statement, with typed fields and no words.

A `Claim` is a fact with its evidence. ``text/sentences.j2`` has one macro per fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from bench_framework.model.formula import Unit
from bench_framework.model.policies import Metric
from bench_framework.model.reasons import Reason
from bench_framework.model.verdict import Interval, Verdict

Scope = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseFloorFact:
    """The noise floor of an input and a metric, which is the estimate of the claim.

    Without an estimate, the control has too few rounds, or there is no control.
    """

    kind: Literal["noise-floor"] = "noise-floor"
    control_differs: bool = False
    """True if the A/A check failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingFact:
    """The growth of a metric between two neighbouring sizes: the scaling exponent of the claim."""

    kind: Literal["scaling"] = "scaling"
    smaller: str
    """Label of the smaller input."""
    larger: str
    word: Literal["linear", "sub-linear", "super-linear", "not resolved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryShare:
    """The peak memory of a configuration: the estimate of the claim, in bytes."""

    kind: Literal["memory-share"] = "memory-share"
    family: str
    """Family of units of the scenario."""
    share: float | None = None
    """Quotient of memory and size of the input, `None` if the size is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedFact:
    """A figure computed from named cells, with its formula."""

    kind: Literal["derived"] = "derived"
    formula: str
    unit: Unit
    family: str
    """Family of units of the scenario."""
    assuming: str = ""
    """Assumption of a figure that is projected and not measured."""
    smallest: float | None = None
    """The smallest rate of the input, which sets the unit of all of its rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The number of planned configurations by state."""

    kind: Literal["coverage"] = "coverage"
    planned: int
    measured: int = 0
    failed: int = 0
    other_output: int = 0
    not_comparable: int = 0
    not_started: int = 0
    not_selected: int = 0
    """Configurations that ``-k`` leaves out."""
    excluded: int = 0
    """Combinations that a rule of the scenario excludes. They are not among the planned ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMeasured:
    """A combination or a configuration without measurements, for the reason of the claim."""

    kind: Literal["not-measured"] = "not-measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneProgram:
    """Two variants that are the same program: settings without an effect on it."""

    kind: Literal["one-program"] = "one-program"
    axes: tuple[str, ...]
    """Names of the axes or changes without an effect."""
    values: tuple[str, ...] = ()
    """The values of these axes in both variants, if other values give another program."""
    where: str = ""
    """The other axes that vary, with their values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The ratio of a comparison on one input, as the quotient of the values."""

    input: str
    ratio: float
    lo: float
    hi: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SignChange:
    """A variant that is better on one input and worse on another one."""

    kind: Literal["sign-change"] = "sign-change"
    cases: tuple[Case, ...]
    """The significant results, ordered by the size of the input."""
    turns: tuple[tuple[str, str], ...] = ()
    """Neighbouring sizes of one kind of input between which the sign changes."""


Fact = (
    NoiseFloorFact
    | ScalingFact
    | MemoryShare
    | DerivedFact
    | Coverage
    | NotMeasured
    | OneProgram
    | SignChange
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence with its evidence. Every output prints its results as claims.

    `kind` names the wording rule in ``features/claim_writer.py``, such as ``main``, ``answer``,
    ``comparison``, ``memory``, ``sign-change``, ``scaling``, ``noise-floor``, ``trust``,
    ``recommendation``, ``coverage``.
    """

    id: str
    """``c1``, ``c2``, … in the order of creation. Equal records have equal ids."""
    kind: str
    subject: str
    """Label of the variant, or another subject of the sentence."""
    reference: str | None = None
    metric: Metric | None = None
    scope: Scope = ()
    """Pairs such as ``("input", "10MiB")``."""
    verdict: Verdict | None = None
    estimate: float | None = None
    lo: float | None = None
    hi: float | None = None
    level: float | None = None
    adjust: str | None = None
    rounds: int | None = None
    runs: int | None = None
    margin: float | None = None
    noise_floor: float | None = None
    cells: tuple[str, ...] = ()
    reason: Reason | None = None
    """Reason for a refusal or a lowered verdict."""
    fact: Fact | None = None
    values: Mapping[str, float | int | str] = field(default_factory=dict)
    """Further figures that the sentence prints."""
    text: str = ""
    """The sentence, which `text.write` makes from the other fields only."""

    @property
    def figures(self) -> tuple[float, float, float] | None:
        """Estimate, lower bound and upper bound, or `None` without an interval."""
        if self.estimate is None or self.lo is None or self.hi is None:
            return None
        return self.estimate, self.lo, self.hi

    def with_interval(self, interval: Interval | None) -> Claim:
        """Return the claim with the figures of an interval, unchanged if it is not bounded."""
        if interval is None or not interval.bounded:
            return self
        return replace(
            self, estimate=interval.ratio, lo=interval.lo, hi=interval.hi, level=interval.level
        )
