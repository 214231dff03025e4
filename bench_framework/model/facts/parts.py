"""Facts about the single changes that a recommended variant is made of."""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.facts.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterValue:
    """A value of a variant, and another value of the same axis that is shown to be better.

    Attributes:
        axis: name of the axis, or of the parameter that an experiment changes.
        value: value of the variant; empty for a parameter that only experiments change.
        better: the better value.
        evidence: the comparison of two variants that differ in this axis only: that with the better value
            against the other one.
    """

    axis: str
    value: str
    better: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BestParts:
    """A variant of which single parts are shown to be worse than another value.

    Attributes:
        worse: its parts for which another value of the axis is better.
        experiments: parameters of the scenario with a better value, which no variant combines with others.
        measured: label of the measured variant with the better values; empty if they were not measured together.
        command: command that measures it; empty if it was measured, or if the scenario excludes it.
    """

    kind: Literal["best-parts"] = "best-parts"
    worse: tuple[BetterValue, ...] = ()
    experiments: tuple[BetterValue, ...] = ()
    measured: str = ""
    command: str = ""
