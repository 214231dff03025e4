"""Facts about the single changes that a recommended variant is made of."""

from dataclasses import dataclass

from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.fact import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class BetterValue:
    """A value of a variant, and another value of the same axis that is shown to be better."""

    axis: str
    """Name of the axis, or of the parameter that an experiment changes."""
    value: str
    """Value of the variant; empty for a parameter that only experiments change."""
    better: str
    """The better value."""
    evidence: Evidence
    """The comparison of two variants that differ in this axis only: that with the better value against the
    other one."""
    differing_axes: tuple[str, ...] = ()
    """Other axes in which the compared variants differ from the variant."""


class BestParts(Fact, kind="best-parts"):
    """A variant of which single parts are shown to be worse than another value."""

    worse: tuple[BetterValue, ...] = ()
    """Its parts for which another value of the axis is better."""
    experiments: tuple[BetterValue, ...] = ()
    """Parameters of the scenario with a better value, which no variant combines with others."""
    measured: str = ""
    """Label of the measured variant with the better values; empty if they were not measured together."""
    command: str = ""
    """Command that measures it; empty if it was measured, or if the scenario excludes it."""
