"""Facts of the summary: the answer, its cost, where it differs, and how sure it is."""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.facts.evidence import Evidence, Quantity
from bench_framework.model.facts.fact import Fact
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason
from bench_framework.model.verdict import Interval, Share, Verdict

ControlState = Literal["failed", "unstable", "imprecise", "passed", "too few rounds", "none"]
"""Result of the A/A check. ``passed``: baseline and copy do not differ by more than the margin. ``imprecise``: no
difference is shown, and the interval reaches beyond the margin. ``unstable``: the ratio changed during the record."""
VariantOrder = Literal["", "same", "open"]
Criterion = Literal["memory", "cpu", "dependencies", "unproven", "estimate"]
"""The tie-break between variants that do not differ significantly."""
RejectionOutcome = Verdict | Literal["not measured", "same program"]


class Best(Fact, kind="main"):
    """The best variants of an input. The claim compares the first of them, or the next variant."""

    members: tuple[str, ...]
    """The variants that do not differ significantly, the best estimate first."""
    is_baseline: bool = False
    """True if the first one is the baseline. The claim is then about the next variant."""
    leading: bool = False
    """True for the input that the summary is about."""
    of_two: bool = False
    """True if there are only the baseline and the variant of the claim."""
    among: tuple[str, ...] = ()
    """The values to which the scenario restricts the choice."""
    some_better: bool = False
    """True if a variant is significantly better than the baseline, also if the first one has no verdict."""
    equivalent_within: float | None = None
    """The margin within which all members are equivalent to the baseline."""
    costs: tuple[Evidence, ...] = ()

    @property
    def tied(self) -> tuple[str, ...]:
        """Return the members after the first one."""
        return self.members[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many comparisons in a metric are worse and better."""

    metric: Metric
    worse: int
    better: int
    total: int
    only: Evidence | None = None
    """The comparison, if there is only one."""


class Nothing(Fact, kind="nothing"):
    """An input without a conclusive comparison: the question, and why."""

    reasons: tuple[tuple[str, Reason], ...] = ()
    """Variant and reason. The variant is empty if the reason applies to all of them."""
    more: int = 0
    """Further reasons that are not stated."""
    rounds_and_needed: tuple[int, int] | None = None
    """Rounds, and rounds that a significant result needs, if that is the reason."""
    mde: float | None = None
    """The largest minimum detectable effect, if there is no other reason."""
    several: bool = False
    """True if it is the largest one of several comparisons."""
    others: tuple[Counts, ...] = ()
    """Significant results in other metrics."""
    leading: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """Variants that are not shown to differ from the recommended one, and what decides against them.

    With `unproven`, they have the better estimate, and nothing decides for them.
    """

    members: tuple[str, ...]
    criterion: Criterion
    memory: tuple[Quantity, ...] = ()
    """If memory decides: that of the recommended variant, and that of the member if there is only one. If the estimate
    decides: both, if the only member needs much more."""
    margin: float | None = None
    """The margin within which they are equivalent to it; `None` if they are not."""
    unstable: bool = False
    """True if their ratios to it changed during the record."""


class Recommendation(Fact, kind="recommendation"):
    """The variant to use on an input, on several ones or on all of them."""

    ties: tuple[Tie, ...] = ()
    is_baseline: bool = False
    beats_all: bool = False
    """True if it is significantly better than every other measured variant."""
    among: tuple[str, ...] = ()
    only_other: str = ""
    """The other measured variant, if there is only one."""
    some_missing: bool = False
    """True without ties if another variant that could be chosen was not measured."""
    inputs: int | None = None
    """The number of inputs, if it is the same on all of several."""
    flawed: tuple[str, ...] = ()
    """Members of the best group that are left out because a single part of them is shown to be worse."""
    refused: tuple[tuple[str, Reason], ...] = ()
    """Other inputs on which it failed or prints another output, with the reason."""


class UnstableRatios(Fact, kind="summary", form="unstable_ratios"):
    """Comparisons in the main metric whose ratio changed during the record."""

    total: int
    """Number of comparisons."""
    changed: int
    first: Evidence
    """The one with the largest change."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The smallest and the largest value of a variant."""

    label: str
    least: Quantity
    most: Quantity


class MeansDiffer(Fact, kind="summary", form="means_differ"):
    """A comparison whose ratio of means differs from its typical ratio."""

    typical: Evidence
    means: Evidence
    """With the ratio of means and its interval."""
    widest: ValueRange | None = None
    """The side with the larger ratio of its largest to its smallest value."""
    more: int = 0
    """Further comparisons of this kind."""


class UnstableControl(Fact, kind="summary", form="unstable_control"):
    """An input on which the ratio of the A/A control changed during the record."""

    control: Evidence
    sessions: tuple[tuple[int, Interval], ...] = ()
    """Number and ratio of the sessions with the smallest and the largest ratio, in their order. Empty in a
    record of one session."""
    total: int = 0
    """Number of verdicts on the input in the main metric."""
    below: int = 0
    """Number of them whose estimates are within the noise floor."""
    answer: bool = False
    """True if the verdict of the answer is one of these."""


class OtherSession(Fact, kind="summary", form="other_session"):
    """The answer is a difference, and another session may show none."""

    expected: Evidence
    """The answer's comparison with the prediction interval of another session."""


class GateNote(Fact, kind="summary", form="gate_note"):
    """A gate was asked for. Its result is in other files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChange:
    """A significant change of another metric than the main one, with the amounts of memory."""

    evidence: Evidence
    before: Quantity | None = None
    after: Quantity | None = None


class ResourceChanges(Fact, kind="summary", form="resource_changes"):
    """The significant changes of other metrics between two revisions, the largest first."""

    changes: tuple[ResourceChange, ...]
    more: int = 0


class Resources(Fact, kind="summary", form="resources"):
    """Memory and CPU time of the best variant, compared with another one."""

    input: str = ""
    """Label of the input if there are several."""
    memory: Quantity | None = None
    unmapped: Quantity | None = None
    """The part of `memory` without mapped pages, if it has many."""
    other: str = ""
    """The other variant, empty without one."""
    other_memory: Quantity | None = None
    other_unmapped: Quantity | None = None
    """The part of `other_memory` without mapped pages, if it has many."""
    equivalent: bool = False
    """True if the memory of both is equivalent."""
    most: tuple[str, Quantity] | None = None
    """The variant with the most memory, if it is far more."""
    least: tuple[str, Quantity] | None = None
    """One of the best variants that needs less memory."""
    of_answer: tuple[tuple[str, Quantity], ...] = ()
    """The other variants that the answer compares."""
    main: Metric
    """The metric of the question."""
    cpu: Evidence | None = None
    """The comparison of CPU time with the baseline, if it is significant."""


class JudgedMetric(Fact, kind="summary", form="judged_metric"):
    """The comparisons with the baseline in a declared metric that the scenario judges, on one input."""

    compared: tuple[Evidence, ...]
    """The worse ones first, then the better ones, each with the largest difference first."""
    more: int = 0
    """Further comparisons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Rates of variants relative to stages that run one after the other."""

    stages: tuple[tuple[str, float], ...]
    """Variant and rate of each stage, in bytes per second."""
    gains: tuple[tuple[str, Share], ...]


class Overlaps(Fact, kind="summary", form="overlaps"):
    """The gain from work that overlaps, by the stages it consists of."""

    groups: tuple[Overlap, ...]
    family: str


class BestByInput(Fact, kind="summary", form="best_by_input"):
    """The best variant of each input, if they differ or none is conclusive on some input."""

    leaders: tuple[tuple[str, str], ...]
    """Variant and input."""
    inconclusive: int
    """Inputs without a conclusive result."""
    inputs: int
    shared: tuple[str, ...] = ()
    """Variants among the best on every input."""


class BestEverywhere(Fact, kind="summary", form="best_everywhere"):
    """One variant is best on every input."""

    inputs: int
    tied: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    """Variants that do not differ significantly from it, and the inputs on which they do not."""
    base: str = ""
    gains: tuple[tuple[str, Evidence], ...] = ()
    """Input and comparison with the baseline, if all are significant."""
    swapped: tuple[tuple[str, str], ...] = ()
    """Pairs of variants of which the better one depends on the input."""
    order: VariantOrder = ""
    """``same`` if all variants have one order on every input, ``open`` if none changes significantly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedEffect:
    """An axis value whose effect has another sign in other combinations."""

    level: str
    better: int
    worse: int
    total: int


class MeanEffects(Fact, kind="summary", form="mean_effects"):
    """The mean effects of the axes, over the other axes."""

    effects: tuple[Evidence, ...] = ()
    """Axis and value as the subject, and the value before as the reference."""
    none: tuple[str, ...] = ()
    """Axis values without a significant mean effect."""
    mixed: tuple[MixedEffect, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedChange:
    """An experiment, with its comparison if that is significant."""

    name: str
    evidence: Evidence | None = None
    costs: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedGroup:
    """Rejected experiments with one outcome, with their comparisons if they are significant."""

    outcome: RejectionOutcome
    changes: tuple[RejectedChange, ...]

    @property
    def compared(self) -> bool:
        """True if the changes were compared, or do not change the program."""
        if not isinstance(self.outcome, Verdict):
            return self.outcome == "same program"
        return self.outcome.settled or self.outcome is Verdict.INCONCLUSIVE


class Rejected(Fact, kind="experiments"):
    """The measured effects of the experiments that the author rejected."""

    input: str = ""
    """Label of the input if there are several."""
    base: str
    groups: tuple[RejectedGroup, ...]
    by_original: bool = False
    """True if the decision is that of the original report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenComparison:
    """An inconclusive comparison and what it could detect."""

    subject: str
    reference: str
    input: str
    """Label of the input if there are several."""
    mde: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoVerdict:
    """How many comparisons have no verdict, and why."""

    count: int
    verdict: Verdict
    control_of: Metric | None = None
    """The metric of which the A/A check failed, if that is why."""
    reason: Reason | None = None
    """Why a comparison with enough rounds is inconclusive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCheck:
    """Metrics in which the A/A check failed on the same inputs."""

    metrics: tuple[Metric, ...]
    inputs: tuple[str, ...] = ()
    """Labels of the inputs, empty if it failed on all of them."""


class Confidence(Fact, kind="trust"):
    """How many comparisons are conclusive, the A/A check, and what was not measured."""

    main: Metric
    settled: int
    total: int
    one_metric: bool = True
    """True if all comparisons are of the main metric."""
    open: tuple[OpenComparison, ...] = ()
    """The inconclusive comparisons with a minimum detectable effect, without those of `one_sided`."""
    one_sided: int = 0
    """Number of inconclusive comparisons whose interval excludes a change beyond the margin in one direction."""
    refused: tuple[NoVerdict, ...] = ()
    control: ControlState
    control_on: tuple[str, ...] = ()
    """Labels of the inputs with this result of the A/A check, empty if all of them have it."""
    failed_checks: tuple[FailedCheck, ...] = ()
    """A/A checks of other metrics that failed."""
    outputs: tuple[str, ...] | None = None
    """Command that checked outputs one by one. Empty if they were not compared, `None` if they were."""
    other_inputs: bool = False
    """True if other inputs are not measured."""
    cold_cache: bool = False
    """True if a cold page cache was measured."""
    sessions: int = 1
    """Largest number of sessions of a comparison."""
    fewest_sessions: int = 1
    """Smallest number of sessions of a comparison; inputs may end after different ones."""
    another: float | None = None
    """How far the ratios of another session may differ, as a fraction: the median over the comparisons of
    the main metric of the half-width of their prediction interval; `None` for one session."""
    answer: Evidence | None = None
    """The answer's comparison with the prediction interval of another session, if this does not give its verdict
    and no `OtherSession` states it."""
