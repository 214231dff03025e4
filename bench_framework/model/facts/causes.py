"""The evidence for a cause: where a time difference is, and what else differs between both sides."""

import math
from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.facts.fact import Fact
from bench_framework.model.plan.policies import Metric

PartKind = Literal["phase", "outside", "user", "sys", "waiting"]
"""``phase``: a phase that the worker reports. ``outside``: elapsed time outside of all phases.
``user``, ``sys``: processor time. ``waiting``: elapsed time without processor time."""

HANDLED: Final = "handled_bytes"
"""Name of the bytes that the worker reports, which are no metric."""
LEAST_SHARE: Final = 0.05
"""Smaller shares of a difference are not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePart:
    """A part of the elapsed time of two configurations, in seconds: medians over common rounds."""

    name: str
    """Name of the phase, else the kind."""
    kind: PartKind
    """`phase`: a phase of the worker; `outside`: time outside of all phases; `waiting`: no processor time."""
    value: float
    """Value of the candidate."""
    reference: float
    """Value of the reference."""
    difference: float
    """Median over the rounds of the candidate's value minus that of the reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A share of a part of a time difference that something explains, measured outside timing."""

    part: PartKind
    """`waiting` or `sys`."""
    metric: str
    """Kind of waiting, or `minor_faults`, at their cost on this machine."""
    share: float
    """Share of the difference of the part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterDifference:
    """A counter whose values differ by more than a factor of two. Counts, or bytes; medians."""

    metric: str
    """Name of the metric, or `handled_bytes` for the bytes that the worker reports."""
    value: float
    """Median of the candidate."""
    reference: float
    """Median of the reference."""

    @property
    def factor(self) -> float:
        """The larger value ÷ the smaller one; infinite if that is 0."""
        least, most = sorted((self.value, self.reference))
        return most / least if least else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseEvidence:
    """The evidence for a change as the cause of a time difference."""

    cell_id: str
    """Id of the candidate's configuration."""
    ref_cell_id: str
    """Id of the reference's configuration."""
    metric: Metric
    """The time that differs."""
    rounds: int
    """Number of common rounds."""
    difference: float
    """Median over the common rounds of the metric minus that of the reference, in seconds."""
    parts: tuple[TimePart, ...]
    """Parts of the time, that with the largest difference first. They need not add up to the difference,
    because they are medians and a program may use several cores."""
    counters: tuple[CounterDifference, ...]
    """Counters that differ by more than a factor of two, the largest ratio first."""
    explained: tuple[Explained, ...] = ()
    """Shares of the parts that something explains; nothing for a part for which it is unknown."""
    fault_cost: float | None = None
    """Processor time of a minor page fault in seconds; null if it is unknown."""

    @property
    def cells(self) -> tuple[str, str]:
        """Ids of both configurations."""
        return self.cell_id, self.ref_cell_id

    def share(self, part: TimePart) -> float:
        """Return the share of the time difference that a part has; 0 without a difference."""
        return part.difference / self.difference if self.difference else 0.0

    @property
    def unexplained(self) -> float:
        """The share of the time difference that the sum of all parts leaves; negative if it is too large."""
        return 1 - sum(map(self.share, self.parts))


class TwoDifferences(Fact, kind="two-differences"):
    """A change that is not shown to be the cause of a time difference, because something else differs as well."""

    name: str
    """The contrast, or the text of the hypothesis."""
    parts: tuple[TimePart, ...] = ()
    """The parts of the time that the change does not name, the largest first, if they have most of the difference."""
    share: float = 0.0
    """Their share of the difference."""
    counters: tuple[CounterDifference, ...] = ()
    """The counters that differ by more than a factor of two and that the change does not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A contrast or a hypothesis whose sides differ in a time, with the evidence."""

    input_id: str
    name: str
    """The contrast, or the text of the hypothesis."""
    offered: bool
    """True if the scenario offers the change as the cause: a hypothesis, or a contrast with `phases` or
    `counters`."""
    evidence: CauseEvidence
    second: TwoDifferences | None = None
    """The other difference, if the change is offered as the cause."""
