"""The results of analysis: summaries, comparisons, verdicts and claims. Immutable, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from bench_framework.model.formula import Unit
from bench_framework.model.looks import Looks
from bench_framework.model.plan import Hypothesis
from bench_framework.model.policies import Metric
from bench_framework.model.profile import ProfileShares
from bench_framework.model.race import Race
from bench_framework.model.run import Event
from bench_framework.model.structure import Structure
from bench_framework.model.verdict import Interval, Verdict

ONE_PROGRAM: Final = "the same program; their difference is an A/A test"
"""Reason of a comparison whose two sides are equal code with equal commands."""

HypothesisStatus = Literal["supported", "not supported", "not tested"]


@dataclass(frozen=True, slots=True)
class Summary:
    """One metric of one cell: centre (median of block values), its 95 % interval, and spread."""

    cell_id: str
    metric: Metric
    n_rounds: int
    n_runs: int
    n_void: int
    """Rounds in which the cell failed."""
    median: float
    lo: float | None
    """Order-statistic 95 % interval of the median; `None` below 6 rounds."""
    hi: float | None
    mean: float
    sd: float | None
    min: float
    max: float
    p95: float | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of a candidate with a reference on one metric (docs/method.md#paired-test)."""

    cell_id: str
    ref_cell_id: str
    metric: Metric
    family: Literal["headline", "reference", "control", "best", "memory", "exact", "bridge"]
    """``headline``: against the (first) baseline; ``reference``: against a further one, in the same
    Holm family."""
    verdict: Verdict
    reason: str = ""
    """Reason for a refusal or a lowered verdict, as printed in reports."""
    shown: Interval | None = None
    """Interval of the deciding statistic, at level 1 - α/(J·h); `None` if nothing was compared."""
    statistic: Literal["typical", "floor", "median", "exact", "welch"] | None = None
    """``welch``: of figures that were measured in blocks elsewhere."""
    typical: Interval | None = None
    """e^θ₂: Hodges-Lehmann estimate over paired log ratios."""
    floor: Interval | None = None
    """e^θ₁: ratio of the fastest thirds."""
    p: float | None = None
    """Smallest min-P p-value over the interim analyses so far, before the adjustments."""
    p_adjusted: float | None = None
    rounds: int = 0
    runs: int = 0
    runs_ref: int = 0
    look: int = 0
    """Index of the last interim analysis, from 0."""
    mde: float | None = None
    """Minimum detectable effect as a fraction (0.06: 6 %)."""
    rounds_needed: int | None = None
    """Rounds for which the MDE would equal the margin; `None`: more than 1 000."""
    margin: float = 0.02
    epsilon: float = 0.01
    direction: Literal["lower", "higher"] = "lower"
    """Which values are better. Where larger ones are, every ratio is the reference's value over the
    candidate's, so that below 1 is an improvement whatever the metric."""


@dataclass(frozen=True, slots=True)
class BestGroup:
    """The variants of an input that are not worse than any other."""

    input_id: str
    metric: Metric
    cell_ids: tuple[str, ...]
    """Cells in plan order. Empty if fewer than two cells could be compared."""
    complete: bool
    """True if every pair of comparable cells was compared."""
    comparisons: tuple[Comparison, ...] = ()
    """Every pair once: `cell_id` against `ref_cell_id`, in plan order."""


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
    word: Literal["linear", "sub-linear", "super-linear", "not resolved"]


@dataclass(frozen=True, slots=True)
class Derived:
    """A figure that follows from named cells on one input: the median over rounds, with its 95 % interval."""

    input_id: str
    name: str
    formula: str
    unit: Unit
    cell_ids: tuple[str, ...]
    """Cells of the formula."""
    measured: bool
    """True if it is the rate of one cell, and not worked out from several."""
    rounds: int
    """Rounds in which all of its cells were measured."""
    value: float | None
    """Bytes per second, seconds or a ratio; `None` where no round has it."""
    lo: float | None
    """`None` below 6 rounds."""
    hi: float | None
    judged: bool = False
    """True if it is the ratio of a pair that is judged among the results: then it has that pair's
    figure and interval, at that pair's level, or none where that pair is not compared. Else the
    interval is at 95 %, for it alone."""
    level: float | None = 0.95
    """Of the interval."""
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
    """`None` if the record does not compare the two."""

    @property
    def reason(self) -> str:
        """Why it was not tested, or why the comparison is inconclusive, if there is more to say."""
        return self.comparison.reason if self.comparison else "this record does not compare the two"


@dataclass(frozen=True, slots=True)
class Gap:
    """How far a candidate is from a faster reference, and how much of the baseline's distance that closes.

    Medians over the rounds that all three have, of differences within rounds, with 95 % intervals
    that are not adjusted. Told only where both distances are decided.
    """

    input_id: str
    metric: Metric
    cell_id: str
    baseline_cell_id: str
    ref_cell_id: str
    rounds: int
    before: float
    """Baseline less reference, in the metric's unit; above zero."""
    after: float
    """Candidate less reference; below zero where the candidate is the faster one."""
    closed: float
    """1 − after ÷ before, by rounds; below zero where the gap grew."""
    closed_lo: float | None
    """`None` where the rounds leave it open at 95 %."""
    closed_hi: float | None


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """Noise floor of one input, from the displayed interval of the A/A control."""

    input_id: str
    metric: Metric
    fraction: float | None
    """max(1 - 1/U, U - 1, …) over the displayed interval; `None` without a control."""
    tripped: bool = False
    """True if the A/A control differs: every comparison of the input is inconclusive."""


@dataclass(frozen=True, slots=True)
class CellState:
    """The state of a cell after measuring."""

    cell_id: str
    state: Literal["measured", "failed", "other-output", "not-comparable", "not-started"]
    rounds: int
    void: int
    reason: str = ""
    effective: Mapping[str, str] = field(default_factory=dict)
    """Effective value per axis, where the worker reports one."""
    cache: Literal["cold", "warm", "unknown"] = "unknown"
    """Observed state of the page cache at the start of every run."""


Scope = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence with its evidence. Every output prints claims; none prints loose sentences.

    `kind` names the wording rule in ``analysis/wording.py``, such as ``main``, ``best-by-input``,
    ``comparison``, ``memory``, ``sign-change``, ``scaling``, ``noise-floor``, ``trust``,
    ``recommendation``, ``coverage``.
    """

    id: str
    """``c1``, ``c2``, … in the order of creation; stable for equal records."""
    kind: str
    subject: str
    """Label of the variant, or another subject of the sentence."""
    reference: str | None
    metric: Metric | None
    scope: Scope
    """Pairs such as ``("input", "10MiB")``."""
    verdict: Verdict | None
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
    values: Mapping[str, float | int | str] = field(default_factory=dict)
    """Further figures that the sentence prints."""
    text: str = ""
    """The sentence, made by wording from the other fields and from nothing else."""


RecordStatus = Literal["conclusive", "partly conclusive", "exploratory", "failed", "not comparable"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The results of the analysis of a record."""

    looks: Looks
    states: tuple[CellState, ...]
    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    """Headline (metrics of the plan), control and memory comparisons, in plan order."""
    best: tuple[BestGroup, ...]
    floors: tuple[NoiseFloor, ...]
    scaling: tuple[Scaling, ...]
    status: RecordStatus
    events: tuple[Event, ...] = ()
    """Events from analysis: drift, failed A/A check, identical binaries, fallbacks."""
    claims: tuple[Claim, ...] = ()
    derived: tuple[Derived, ...] = ()
    profiles: tuple[ProfileShares, ...] = ()
    """In plan order; of the cells that were profiled."""
    gaps: tuple[Gap, ...] = ()
    structure: Structure = field(default_factory=Structure)
    hypotheses: tuple[HypothesisTest, ...] = ()
    race: Race | None = None
    """`None` unless the plan says ``strategy: race``."""
