"""Comparison of the results of several hosts (docs/method.md#several-hosts).

Every host has compared the candidates with its own baseline. Verdicts are those of the records, and
times of different hosts are never put together. Only the log ratios of hosts of one kind are.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.features.results import NOT_MEASURED
from bench_framework.model.documents.plan import SCHEMA_VERSION, DocumentVersion
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import CONTROL_DIFFERS, Reason
from bench_framework.model.record.machine import Fingerprint, fingerprint
from bench_framework.model.record.run import Host
from bench_framework.model.result.judgement import Comparison, Judgement
from bench_framework.model.verdict import Direction, Interval, Verdict
from bench_framework.stats.holm_family import log_half_width
from bench_framework.stats.portable_math import NORMAL_95, expm1, find_root, log
from bench_framework.stats.welch import LogDifference

FEWEST: Final = 3
"""Fewest hosts of one kind for a random-effects summary."""
Agreement = Literal["agrees", "depends", "overlap", "inconclusive"]
LEVEL: Final = 0.95
PRECISION: Final = 1e-14
"""Absolute precision of the variance between the hosts, on the log scale."""
_INTERNAL: Final = frozenset({"control", "best", "bridge"})
"""Families of comparisons that describe a record, and not a candidate."""


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
    """Name of the host."""
    record_id: str
    """Id of its record."""
    kind: Fingerprint
    """Facts that are equal for hosts of one kind."""


Rows = Sequence[tuple[MeasuredHost, Comparison | None]]


@dataclass(frozen=True, slots=True)
class HostResult:
    """The result of a host. The verdict is null if its record does not have the comparison."""

    host: str
    """Name of the host."""
    verdict: Verdict | None
    """Verdict on the host."""
    interval: Interval | None = None
    """Typical ratio with its 95 % interval, or the only interval of a median or an exact value."""
    reason: Reason | None = None
    """Reason for a refused or lowered verdict; null without one."""


@dataclass(frozen=True, slots=True)
class KindSummary:
    """A random-effects summary over hosts of one kind."""

    kind: str
    """Digest of the fingerprint."""
    hosts: tuple[str, ...]
    """Names of its hosts."""
    interval: Interval
    """Mean ratio with its 95 % interval."""
    between: float
    """Standard deviation between hosts, as a fraction of the ratio: 0.02 is 2 %."""


@dataclass(frozen=True, slots=True)
class HostsCompared:
    """A comparison of a candidate with its reference on all hosts."""

    candidate: str
    """Label of the candidate."""
    reference: str
    """Label of the reference."""
    input: str
    """Label of the input. It is empty if there is only one input."""
    metric: Metric
    """Name of the metric."""
    margin: float
    """Differences within ± this fraction count as none."""
    direction: Direction
    """Better direction of the metric."""
    agreement: Agreement
    """`agrees`: one verdict on all hosts; `depends`: the verdicts and the intervals of two hosts differ; `overlap`:
    only the verdicts differ."""
    results: tuple[HostResult, ...]
    """Result of each host."""
    kinds: tuple[KindSummary, ...]
    """Summaries over hosts of one kind."""
    text: str = ""
    """The sentence about it, without a full stop."""

    @property
    def higher(self) -> bool:
        """True if larger values are better, so that a judged ratio is the inverse of the values' one."""
        return self.direction == "higher"


@dataclass(frozen=True, slots=True)
class HostComparison:
    """The result of `fleet compare`, also in `hosts.json`: results of one scenario on several hosts."""

    scenario: str
    """Name of the scenario."""
    question: str
    """Question of the scenario."""
    margin: float
    """Margin of the headline metric."""
    hosts: tuple[MeasuredHost, ...]
    """The hosts with their records."""
    comparisons: tuple[HostsCompared, ...]
    """Each comparison on all hosts."""
    agreement: Agreement
    """The least agreement of all comparisons: one that depends on the host, has other verdicts with overlapping
    intervals, or is inconclusive."""
    schema_version: DocumentVersion = SCHEMA_VERSION
    """It is also part of the document of several hosts."""

    @property
    def split(self) -> bool:
        """True if each comparison is of one host, because the hosts measured different inputs."""
        return all(len(compared.results) == 1 for compared in self.comparisons)


def outcome(verdict: Verdict | None) -> Verdict | None:
    """Return what must be equal on all hosts: a verdict without the certainty of its size."""
    if verdict is not None and verdict.decided:
        return Verdict.BETTER if verdict.better else Verdict.WORSE
    return verdict


def compare_hosts(records: Sequence[HostRecord]) -> HostComparison:
    """Compare records of one scenario from different hosts, on the headline metric."""
    first = records[0].plan
    metric = first.judge.headline
    hosts = tuple(MeasuredHost(r.host, r.record_id, fingerprint(r.machine)) for r in records)
    # Ids of cells do not depend on the host.
    by_pair = [
        {
            (c.cell_id, c.ref_cell_id): c
            for c in record.judgement.comparisons
            if c.metric == metric and c.family not in _INTERNAL
        }
        for record in records
    ]
    parts = [{given.values for given in record.plan.inputs} for record in records]
    several = len(set().union(*parts)) > 1
    compared = []
    for pair in dict.fromkeys(pair for one in by_pair for pair in one):
        plan = next(r.plan for r, one in zip(records, by_pair, strict=True) if pair in one)
        given = plan.input(plan.cell(pair[0]).input_id)
        # A host that had no part of this input does not lack the comparison.
        rows = [
            (host, one.get(pair))
            for host, part, one in zip(hosts, parts, by_pair, strict=True)
            if given.values in part
        ]
        compared.append(_compared(plan, given.label if several else "", rows))
    margin = first.judge.margin_of(metric)
    states = {one.agreement for one in compared}
    order: tuple[Agreement, ...] = ("depends", "overlap", "inconclusive")
    agreement: Agreement = next((state for state in order if state in states), "agrees")
    return HostComparison(first.name, first.question, margin, hosts, tuple(compared), agreement)


def _bounded(c: Comparison) -> Interval | None:
    """Return the ratio as the records judged it: below 1 is better for every metric."""
    return c.shown if c.shown is not None and c.shown.bounded else None


def _compared(plan: Plan, label: str, rows: Rows) -> HostsCompared:
    first = next(c for _, c in rows if c is not None)
    results = tuple(
        HostResult(host.name, None, reason=NOT_MEASURED)
        if c is None
        else HostResult(host.name, c.verdict, _bounded(c), c.reason)
        for host, c in rows
    )
    candidate, reference = (
        plan.variant(plan.cell(cell_id).variant_id).label
        for cell_id in (first.cell_id, first.ref_cell_id)
    )
    of_pair = (candidate, reference, label, first.metric, first.thresholds.margin, first.direction)
    return HostsCompared(*of_pair, _agreement(results), results, tuple(_kinds(rows)))


def _agreement(results: Sequence[HostResult]) -> Agreement:
    outcomes = {outcome(result.verdict) for result in results}
    open_ = outcomes & {None, Verdict.INCONCLUSIVE}
    settled = [result for result in results if outcome(result.verdict) not in open_]
    differing = [
        (a, b)
        for a, b in itertools.combinations(settled, 2)
        if outcome(a.verdict) != outcome(b.verdict)
    ]
    if differing:
        return (
            "overlap" if all(_overlap(a.interval, b.interval) for a, b in differing) else "depends"
        )
    return "inconclusive" if open_ else "agrees"


def _overlap(a: Interval | None, b: Interval | None) -> bool:
    """Return whether both hosts may have the same ratio. One without an interval has another reason to differ."""
    return a is not None and b is not None and a.lo <= b.hi and b.lo <= a.hi


def _kinds(rows: Rows) -> Iterator[KindSummary]:
    """Yield a summary for each kind of which enough hosts have a typical ratio."""
    kinds: dict[str, list[tuple[str, float, float]]] = {}
    for host, c in rows:
        interval = c.unadjusted if c is not None and c.reason != CONTROL_DIFFERS else None
        if interval is not None and interval.bounded and interval.lo < interval.hi:
            error = log_half_width(interval) / NORMAL_95
            kinds.setdefault(host.kind.digest, []).append((host.name, log(interval.ratio), error))
    for kind, members in kinds.items():
        if len(members) >= FEWEST:
            names, estimates, errors = zip(*members, strict=True)
            mean, between = random_effects(estimates, errors)
            yield KindSummary(kind, names, mean.interval(LEVEL), expm1(between))


def random_effects(
    estimates: Sequence[float], errors: Sequence[float]
) -> tuple[LogDifference, float]:
    """Return the mean of an effect that varies between sources, such as hosts, from one estimate of each.

    It has its standard error, and the standard deviation between the sources is next to it.

    There are at least two estimates, and their standard errors are above zero. `docs/method.md#several-hosts`
    gives the formulas.

    Sources: R. C. Paule and J. Mandel, "Consensus values and weighting factors", Journal of Research of
    the National Bureau of Standards 87 (1982), for the variance between the sources; J. IntHout,
    J. P. A. Ioannidis and G. F. Borm, "The Hartung-Knapp-Sidik-Jonkman method for random effects
    meta-analysis is straightforward and considerably outperforms the standard DerSimonian-Laird
    method", BMC Medical Research Methodology 14:25 (2014), for the interval.
    """
    freedom = len(estimates) - 1

    def weighted(between: float) -> tuple[float, float, float]:
        # Mean, sum of the weights and weighted sum of squares.
        weights = [1 / (error * error + between) for error in errors]
        total = math.fsum(weights)
        pairs = list(zip(weights, estimates, strict=True))
        mean = math.fsum(weight * value for weight, value in pairs) / total
        return mean, total, math.fsum(weight * (value - mean) ** 2 for weight, value in pairs)

    def excess(between: float) -> float:
        return weighted(between)[2] - freedom

    between = 0.0
    if excess(0.0) > 0:
        # The sum of squares is at most freedom · variance ÷ between, so the root is not above it.
        between = find_root(excess, 0.0, statistics.variance(estimates), PRECISION)
    mean, total, squares = weighted(between)
    # Estimates that agree better than their errors by chance must not make the interval narrower.
    error = math.sqrt(max(1.0, squares / freedom) / total)
    return LogDifference(mean, error, float(freedom), len(estimates)), math.sqrt(between)
