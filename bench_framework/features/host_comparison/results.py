"""Results of one scenario on several hosts. Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.fingerprint import Fingerprint
from bench_framework.model.judgement import Judgement
from bench_framework.model.plan import Plan
from bench_framework.model.policies import Metric
from bench_framework.model.run import Host
from bench_framework.model.verdict import Interval, Verdict

FEWEST: Final = 3
"""Fewest hosts of one kind for a random-effects summary."""
Agreement = Literal["agrees", "depends", "inconclusive"]


@dataclass(frozen=True, slots=True)
class HostRecord:
    """A record, with the name of the host that measured it."""

    host: str
    record_id: str
    machine: Host
    plan: Plan
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class MeasuredHost:
    """A host, its record and its kind. Hosts of one kind have equal fingerprints."""

    name: str
    record_id: str
    kind: Fingerprint


@dataclass(frozen=True, slots=True)
class HostResult:
    """The result of a host. The verdict is `None` if its record does not have the comparison."""

    host: str
    verdict: Verdict | None
    interval: Interval | None = None
    """Typical ratio with its 95 % interval, or the only interval of a median or an exact value."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class KindSummary:
    """A random-effects summary over hosts of one kind."""

    kind: str
    """Digest of the fingerprint."""
    hosts: tuple[str, ...]
    interval: Interval
    """Mean ratio with its 95 % interval."""
    between: float
    """Standard deviation between hosts, as a fraction of the ratio: 0.02 is 2 %."""


@dataclass(frozen=True, slots=True)
class HostsCompared:
    """A comparison of a candidate with its reference on all hosts."""

    candidate: str
    reference: str
    input: str
    """Label of the input. It is empty if there is only one input."""
    metric: Metric
    margin: float
    direction: Literal["lower", "higher"]
    agreement: Agreement
    results: tuple[HostResult, ...]
    kinds: tuple[KindSummary, ...]
    text: str = ""
    """The sentence about it, without a full stop."""


@dataclass(frozen=True, slots=True)
class HostComparison:
    """The results of one scenario on several hosts."""

    scenario: str
    question: str
    margin: float
    """Margin of the headline metric."""
    hosts: tuple[MeasuredHost, ...]
    comparisons: tuple[HostsCompared, ...]

    @property
    def split(self) -> bool:
        """True if each comparison is of one host, because the hosts measured different inputs."""
        return all(len(compared.results) == 1 for compared in self.comparisons)

    @property
    def agreement(self) -> Agreement:
        """The least agreement of all comparisons: one that depends on the host, or is inconclusive."""
        states = {compared.agreement for compared in self.comparisons}
        order: tuple[Agreement, ...] = ("depends", "inconclusive")
        return next((state for state in order if state in states), "agrees")


def outcome(verdict: Verdict | None) -> Verdict | None:
    """Return what must be equal on all hosts: a verdict without the certainty of its size."""
    if verdict is not None and verdict.decided:
        return Verdict.BETTER if verdict.better else Verdict.WORSE
    return verdict
