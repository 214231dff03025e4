"""Facts about pairs of configurations and of records."""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.facts.causes import TwoDifferences
from bench_framework.model.facts.evidence import Evidence, Quantity
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Difference
from bench_framework.model.result.structure import Change

HypothesisStatus = Literal["supported", "not supported", "not tested", "two differences at once"]
ContrastOrigin = Literal["scenario", "best variant"]
OutputState = Literal["", "same", "different", "accepted", "not compared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A comparison of two configurations, whose figures are those of the claim."""

    kind: Literal["comparison", "control", "memory", "reference"] = "comparison"
    costs: tuple[Evidence, ...] = ()
    """The metrics that are significantly worse, if the time is better."""
    counted: bool = False
    """True for a deterministic metric, which is counted and not sampled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastDetail:
    """A comparison that the scenario names, with what its sentence states in addition."""

    evidence: Evidence
    medians: tuple[Quantity, ...] = ()
    """The medians of candidate and reference, if the metric is not the main one."""
    costs: tuple[Evidence, ...] = ()
    counted: bool = False
    """True for a deterministic metric, which is counted and not sampled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A comparison that the scenario names, or one of the best variant."""

    kind: Literal["contrast"] = "contrast"
    name: str
    """Name in the scenario. For one of the best variant: ``next``, ``baseline``, or the label of a
    further reference that is compared with the best variant."""
    main: Metric
    """The metric of the question."""
    origin: ContrastOrigin = "scenario"
    group: str = ""
    """Name of the contrasts that are stated together."""
    joined: bool = False
    """True if another claim states it together with others."""
    detail: ContrastDetail


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """The contrasts of a group on the leading input."""

    kind: Literal["grouped"] = "grouped"
    name: str
    members: tuple[ContrastDetail, ...]
    joined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A contrast on several inputs: one claim for each of them."""

    kind: Literal["finding"] = "finding"
    name: str
    members: tuple[Evidence, ...]
    joined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SignChange:
    """A variant that is better on one input and worse on another one."""

    kind: Literal["sign-change"] = "sign-change"
    cases: tuple[tuple[str, Evidence], ...]
    """Input and significant result, ordered by the size of the input."""
    turns: tuple[tuple[str, str], ...] = ()
    """Neighbouring sizes of one kind of input between which the sign changes."""
    reference_id: str = ""
    """Id of the variant with which it is compared."""


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
    built: bool = True
    """False if the variants name files that benchctl does not build, such as two paths of one program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAfter:
    """A pair of variants that differ in their source: a feature or a revision."""

    kind: Literal["before-after"] = "before-after"
    changes: tuple[Change, ...]
    costs: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisResult:
    """The test of a hypothesis, whose text is the subject of the claim."""

    kind: Literal["hypothesis"] = "hypothesis"
    status: HypothesisStatus
    change: str
    """The change of an axis, as in the scenario."""
    second: TwoDifferences | None = None
    """The second difference, if there are two differences at once."""
    costs: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GapClosed:
    """The gap of a candidate to a reference, and the share of it that is closed: the estimate."""

    kind: Literal["gap"] = "gap"
    before: float
    """Baseline minus reference, in seconds."""
    after: float
    """Candidate minus reference, in seconds."""
    baseline: str
    costs: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Two records of machines in different states."""

    kind: Literal["conditions"] = "conditions"
    differences: tuple[Difference, ...]
    forced: bool
    """True if the times are compared nevertheless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorChange:
    """The change of an unchanged program between two records."""

    kind: Literal["anchor"] = "anchor"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordChange:
    """A program in two records, relative to the anchors of each record."""

    kind: Literal["across"] = "across"
    before: str
    """Id of the earlier record."""
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactChange:
    """An exact metric of a program in two records."""

    kind: Literal["exact"] = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """Output and resources in a line of ``benchctl ab``, in addition to the time."""

    output: OutputState = ""
    resources: tuple[Evidence, ...] = ()
    same_memory: bool = False
