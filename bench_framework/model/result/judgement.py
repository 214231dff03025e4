"""The results of analysis: summaries, comparisons, verdicts and claims. Immutable, no I/O."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from bench_framework.model.facts import Claim
from bench_framework.model.facts.causes import Cause, TwoDifferences
from bench_framework.model.facts.comparisons import HypothesisStatus
from bench_framework.model.facts.functions import FunctionsOfPair
from bench_framework.model.facts.records import GrowthWord
from bench_framework.model.formula import FormulaUnit
from bench_framework.model.plan.declarations import Hypothesis
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import CacheState, Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.profile import ProfileShares
from bench_framework.model.record.run import Event
from bench_framework.model.result.race import Race
from bench_framework.model.result.structure import Structure
from bench_framework.model.verdict import (
    REFUSALS,
    Direction,
    Interval,
    Phases,
    SessionRatios,
    Thresholds,
    Verdict,
)

Statistic = Literal["typical", "median", "exact", "welch", "paired-t"]
"""The quantity that a ratio estimates.

- ``typical``: the typical ratio over rounds, exp(θ).
- ``median``: the ratio of two medians.
- ``exact``: the ratio of two deterministic numbers.
- ``welch``: the ratio of the means of imported runs.
- ``paired-t``: the geometric mean of the ratios of few rounds.
"""
BY_ROUND: Final[frozenset[Statistic]] = frozenset({"typical", "paired-t"})
"""Those of the ratios of the rounds."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A metric of one cell: median of the block values, its 95 % CI, and spread, in its unit."""

    cell_id: str
    metric: Metric
    n_rounds: int
    n_runs: int
    n_void: int
    """Rounds in which the cell failed."""
    median: float
    lo: float | None
    """Lower end of the order-statistic 95 % CI of the median, `None` below 6 rounds."""
    hi: float | None
    mean: float
    sd: float | None
    min: float
    max: float
    p95: float | None
    warnings: tuple[Reason, ...] = ()


Family = Literal[
    "headline", "reference", "contrast", "control", "best", "memory", "exact", "bridge"
]
WITH_BASELINE: Final[tuple[Family, ...]] = ("headline", "memory", "exact")
"""Families of the comparisons with the (first) baseline. Named contrasts may also be exact."""
MAIN_FAMILIES: Final[tuple[Family, ...]] = ("headline", "reference", "contrast", "exact")
"""Families of the comparisons that the scenario plans."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of a candidate with a reference on one metric (docs/method.md#paired-test)."""

    cell_id: str
    """Id of the candidate's configuration, as in ``cells.csv``."""
    ref_cell_id: str
    """Id of the reference's configuration."""
    metric: Metric
    """Name of the metric."""
    family: Family
    """``headline`` has the (first) baseline as reference, ``reference`` a further one. ``contrast`` is named by the
    scenario, and in the same Holm family as ``reference``."""
    verdict: Verdict
    """Result of the comparison."""
    reason: Reason | None = None
    """Reason for a refusal or a lowered verdict."""
    shown: Interval | None = None
    """The reported ratio and confidence interval, at level 1 - α/(J·h), or at the highest one that
    the rounds permit. The interval is unbounded if that is below 95 %. Null if nothing was compared."""
    statistic: Statistic | None = None
    """Statistic of `shown`."""
    unadjusted: Interval | None = None
    """The same ratio with its interval at 95 %, not adjusted. With fewer rounds than 95 % needs, it is unbounded,
    and `level` is below 0.95. Forecasts use it, and no page prints it."""
    p: float | None = None
    """Smallest p-value over the interim analyses so far, before the adjustments."""
    p_adjusted: float | None = None
    """p-value adjusted for the interim analyses and the family (Holm)."""
    rounds: int = 0
    """Number of compared rounds."""
    runs: int = 0
    """Number of runs of the candidate."""
    runs_ref: int = 0
    """Number of runs of the reference."""
    look: int = 0
    """Index of the last interim analysis, from 0."""
    mde: float | None = None
    """Minimum detectable effect as a fraction (0.06: 6 %)."""
    rounds_needed: int | None = None
    """Rounds for which the MDE would equal the margin, null above 1 000."""
    phases: Phases | None = None
    """The ratios before and after a change of the ratio during the record; null for a stable ratio."""
    sessions: SessionRatios | None = None
    """The ratios by session, null in a record of one session."""
    means: Interval | None = None
    """The ratio of the means of the same rounds, with its 95 % interval (docs/method.md#means)."""
    thresholds: Thresholds = field(kw_only=True)
    """Margin and minimum effect size of the metric, by which it was judged."""
    direction: Direction = "lower"
    """Better direction of the metric. With ``higher``, ratios are inverted: below 1 is better for every metric."""

    @classmethod
    def unjudged(
        cls,
        cell_id: str,
        ref_cell_id: str,
        metric: Metric,
        family: Family,
        thresholds: Thresholds,
        reason: Reason | None = None,
    ) -> Comparison:
        """Return a comparison without figures: inconclusive, perhaps with a reason."""
        verdict = Verdict.INCONCLUSIVE
        return cls(cell_id, ref_cell_id, metric, family, verdict, reason, thresholds=thresholds)

    @property
    def ratio(self) -> Interval | None:
        """The candidate's value ÷ the reference's, with its interval."""
        return self.shown and self.shown.of_values(higher=self.direction == "higher")

    @property
    def of_values(self) -> Interval | None:
        """The same; `None` if it is unbounded."""
        return self.ratio if self.shown is not None and self.shown.bounded else None

    @property
    def means_differ(self) -> bool:
        """True if `means` contradicts `shown`, by more than the margin."""
        if not self.means or not self.shown:
            return False
        return self.means.contradicts(self.shown, self.thresholds.margin)

    def mirrored(self) -> Comparison:
        """Return the comparison with its sides exchanged: ratios and verdict are inverted."""
        shown, plain, means = (i and i.inverse for i in (self.shown, self.unadjusted, self.means))
        return replace(
            self,
            cell_id=self.ref_cell_id,
            ref_cell_id=self.cell_id,
            verdict=self.verdict.opposite,
            shown=shown,
            unadjusted=plain,
            means=means,
            phases=self.phases and self.phases.inverse,
            sessions=self.sessions and self.sessions.inverse,
            runs=self.runs_ref,
            runs_ref=self.runs,
        )


_PREFERRED: Final[tuple[Family, ...]] = (*MAIN_FAMILIES, "memory", "best")


def judged_pairs(
    comparisons: Iterable[Comparison],
) -> Mapping[Metric, dict[tuple[str, str], Comparison]]:
    """Return metric → (cell id, cell id) → comparison in both orders, preferably one with a baseline."""
    members = [c for c in comparisons if c.family in _PREFERRED]
    members.sort(key=lambda c: _PREFERRED.index(c.family))
    pairs = defaultdict[Metric, dict[tuple[str, str], Comparison]](dict)
    for c in (c for one in members for c in (one, one.mirrored())):
        pairs[c.metric].setdefault((c.cell_id, c.ref_cell_id), c)
    return pairs


def baseline_comparisons(
    plan: Plan, comparisons: Iterable[Comparison]
) -> dict[tuple[str, Metric], Comparison]:
    """Return (cell id, metric) → the comparison of the cell with the (first) baseline of its input."""
    baselines = {cell.id for item in plan.inputs if (cell := plan.baseline_cell(item.id))}
    return {
        (c.cell_id, c.metric): c
        for c in comparisons
        if c.family in WITH_BASELINE and c.ref_cell_id in baselines
    }


@dataclass(frozen=True, slots=True)
class BestGroup:
    """The variants of an input that are not shown to be worse than another one."""

    input_id: str
    metric: Metric
    cell_ids: tuple[str, ...]
    """Cells in plan order. Empty if fewer than two cells could be compared."""
    complete: bool
    """True if every pair of comparable cells was compared."""
    comparisons: tuple[Comparison, ...] = ()
    """Each pair of cells once, in plan order."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """Scaling exponent between two neighbouring sizes of one dataset and seed."""

    variant_id: str
    metric: Metric
    from_input_id: str
    to_input_id: str
    exponent: float
    lo: float
    hi: float
    level: float
    word: GrowthWord


@dataclass(frozen=True, slots=True)
class Derived:
    """A figure computed from named cells on one input: median over rounds with its 95 % CI."""

    input_id: str
    name: str
    formula: str
    unit: FormulaUnit
    cell_ids: tuple[str, ...]
    """Cells of the formula."""
    measured: bool
    """True if it is the rate of one cell, and not computed from several cells."""
    rounds: int
    """Rounds in which all of its cells were measured."""
    value: float | None
    """Median in bytes per second, in seconds or as a ratio. `None` if no round has a value."""
    lo: float | None
    """Lower end of the confidence interval, `None` below 6 rounds."""
    hi: float | None
    judged: bool = False
    """True if it is the ratio of a pair that has a verdict. It then has the ratio, the interval and
    the level of that comparison, or no figure if the pair is not compared. Otherwise the level is
    95 % and not adjusted."""
    level: float | None = 0.95
    """Level of the confidence interval."""
    assuming: str = ""
    """Assumption of a figure that is projected and not measured."""


@dataclass(frozen=True, slots=True)
class HypothesisTest:
    """The result of a hypothesis on one input, read from an existing comparison."""

    hypothesis: Hypothesis
    input_id: str
    metric: Metric
    status: HypothesisStatus
    cell_id: str
    ref_cell_id: str
    comparison: Comparison | None
    """The comparison of the two cells, `None` if the record does not compare them."""
    second: TwoDifferences | None = None
    """A second difference. With one, the hypothesis is neither supported nor rejected."""

    @property
    def reason(self) -> Reason | None:
        """Reason why it was not tested or why the comparison is inconclusive, if there is one."""
        return self.comparison.reason if self.comparison else Reason(ReasonCode.NOT_COMPARED)


@dataclass(frozen=True, slots=True)
class Gap:
    """The gap of a candidate to a faster reference (docs/method.md#gap-to-a-reference).

    The figures are medians of differences within rounds, over the rounds that candidate, baseline
    and reference have in common. Their 95 % CIs are not adjusted. A gap is reported only if both
    differences are significant.
    """

    input_id: str
    metric: Metric
    cell_id: str
    baseline_cell_id: str
    ref_cell_id: str
    rounds: int
    before: float
    """Baseline minus reference, in the metric's unit. It is above zero."""
    after: float
    """Candidate minus reference, in the metric's unit. Negative if the candidate is faster."""
    closed: float
    """Closed share of the gap: median of 1 − after ÷ before. It is negative if the gap grew."""
    closed_lo: float | None
    """Lower end of its 95 % CI, `None` if the rounds do not suffice for 95 %."""
    closed_hi: float | None


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The noise floor of one input and metric: how far the interval of the A/A control reaches from 1."""

    input_id: str
    metric: Metric
    fraction: float | None
    """Reach of the reported interval. `None` without a control or with too few rounds for 95 %."""
    tripped: bool = False
    """True if the A/A control differs in this metric: its comparisons on the input are inconclusive."""


@dataclass(frozen=True, slots=True)
class CellState:
    """The state of a cell after measuring."""

    cell_id: str
    state: Literal["measured", "failed", "other-output", "not-comparable", "not-started"]
    rounds: int
    void: int
    reason: Reason | None = None
    effective: Mapping[str, str] = field(default_factory=dict)
    """Actual value of each axis that the worker reports."""
    cache: CacheState = "unknown"
    """Observed state of the page cache at the start of every run."""
    empty: bool = False
    """True if each of its outputs is empty, so that equal ones show nothing, or if it is a bound (not compared)."""

    @property
    def refusal(self) -> Verdict | None:
        """The verdict of every comparison of the cell if it cannot be compared, else `None`."""
        return next((verdict for verdict in REFUSALS if verdict.value == self.state), None)


RecordStatus = Literal[
    "conclusive",
    "mostly conclusive",
    "partly conclusive",
    "inconclusive",
    "exploratory",
    "failed",
    "not comparable",
]
"""The share of the comparisons of the main metric, and of the named contrasts, with a verdict."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The results of the analysis of a record."""

    looks: Looks
    states: tuple[CellState, ...]
    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    """Comparisons in plan order: headline (metrics of the plan), control and memory."""
    best: tuple[BestGroup, ...]
    floors: tuple[NoiseFloor, ...]
    scaling: tuple[Scaling, ...]
    status: RecordStatus
    events: tuple[Event, ...] = ()
    """Events from analysis: drift, failed A/A check, identical binaries, fallbacks."""
    claims: tuple[Claim, ...] = ()
    derived: tuple[Derived, ...] = ()
    profiles: tuple[ProfileShares, ...] = ()
    """Shares of the profiled cells, in plan order."""
    gaps: tuple[Gap, ...] = ()
    structure: Structure = field(default_factory=Structure)
    causes: tuple[Cause, ...] = ()
    """Contrasts and hypotheses whose times differ, with the place of the difference."""
    functions: tuple[FunctionsOfPair, ...] = ()
    """Compared pairs whose instructions were counted by function, with the functions that differ."""
    hypotheses: tuple[HypothesisTest, ...] = ()
    race: Race | None = None
    """The race, `None` unless the plan has ``strategy: race``."""

    @property
    def every(self) -> tuple[Comparison, ...]:
        """Every comparison, with those within the best groups."""
        return (*self.comparisons, *(c for group in self.best for c in group.comparisons))

    @property
    def outputs_empty(self) -> bool:
        """Return whether the outputs of all configurations with an output are empty."""
        with_output = [s for s in self.states if s.state in {"measured", "other-output"}]
        return bool(with_output) and all(state.empty for state in with_output)

    def higher(self, metric: Metric) -> bool:
        """Return whether larger values of a metric are better."""
        return any(c.direction == "higher" for c in self.every if c.metric == metric)
