"""Facts about pairs of configurations and of records."""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.facts.causes import TwoDifferences
from bench_framework.model.facts.evidence import Evidence, Quantity
from bench_framework.model.facts.fact import Fact
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Difference
from bench_framework.model.result.structure import Change

HypothesisStatus = Literal["supported", "not supported", "not tested", "two differences at once"]
ContrastOrigin = Literal["scenario", "best variant"]
OutputState = Literal["", "same", "no", "different", "accepted", "not compared"]


class Compared(Fact):
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


class Contrast(Fact, kind="contrast"):
    """A comparison that the scenario names, or one of the best variant."""

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


class Grouped(Fact, kind="grouped"):
    """The contrasts of a group on the leading input."""

    name: str
    members: tuple[ContrastDetail, ...]
    joined: bool = False


class Finding(Fact, kind="finding"):
    """A contrast on several inputs: one claim for each of them."""

    name: str
    members: tuple[Evidence, ...]
    joined: bool = False


class SignChange(Fact, kind="sign-change"):
    """A variant that is better on one input and worse on another one."""

    cases: tuple[tuple[str, Evidence], ...]
    """Input and significant result, ordered by the size of the input."""
    turns: tuple[tuple[str, str], ...] = ()
    """Neighbouring sizes of one kind of input between which the sign changes."""
    reference_id: str = ""
    """Id of the variant with which it is compared."""


class OneProgram(Fact, kind="one-program"):
    """Two variants that are the same program: settings without an effect on it."""

    axes: tuple[str, ...]
    """Names of the axes or changes without an effect."""
    values: tuple[str, ...] = ()
    """The values of these axes in both variants, if other values give another program."""
    where: str = ""
    """The other axes that vary, with their values."""
    built: bool = True
    """False if the variants name files that benchctl does not build, such as two paths of one program."""


class BeforeAfter(Fact, kind="before-after"):
    """A pair of variants that differ in their source: a feature or a revision."""

    changes: tuple[Change, ...]
    costs: tuple[Evidence, ...] = ()


class HypothesisResult(Fact, kind="hypothesis"):
    """The test of a hypothesis, whose text is the subject of the claim."""

    status: HypothesisStatus
    change: str
    """The change of an axis, as in the scenario."""
    second: TwoDifferences | None = None
    """The second difference, if there are two differences at once."""
    costs: tuple[Evidence, ...] = ()


class GapClosed(Fact, kind="gap"):
    """The gap of a candidate to a reference, and the share of it that is closed: the estimate."""

    before: float
    """Baseline minus reference, in seconds."""
    after: float
    """Candidate minus reference, in seconds."""
    baseline: str
    costs: tuple[Evidence, ...] = ()


class Conditions(Fact, kind="conditions"):
    """Two records of machines in different states."""

    differences: tuple[Difference, ...]
    forced: bool
    """True if the times are compared nevertheless."""


class AnchorChange(Fact, kind="anchor"):
    """The change of an unchanged program between two records."""


class RecordChange(Fact, kind="across"):
    """A program in two records, relative to the anchors of each record."""

    before: str
    """Id of the earlier record."""
    after: str


class ExactChange(Fact, kind="exact"):
    """An exact metric of a program in two records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """Output and resources in a line of ``benchctl ab``, in addition to the time."""

    output: OutputState = ""
    resources: tuple[Evidence, ...] = ()
    same_memory: bool = False
