"""Declarations of a scenario: axes, experiments, hypotheses, figures and notes. No I/O."""

from dataclasses import dataclass, field
from typing import Literal

from bench_framework.model.plan.policies import Metric
from bench_framework.model.plan.written import (
    NOT_WRITTEN,
    AxisKind,
    Expectation,
    NonEmpty,
    OneChange,
    Selection,
    only_written,
    written_as,
)


@dataclass(frozen=True, slots=True)
class AxisValue:
    """One setting of an axis: its name, its label in reports, and its description."""

    name: str
    label: str
    about: str = ""
    size_bytes: int | None = None
    """Size in bytes if the name is a size. Scaling is computed along an axis of sizes."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A named dimension that varies. `kind` states what it acts on."""

    name: str
    kind: AxisKind
    values: tuple[AxisValue, ...]
    label: str = ""
    note: str = ""


CauseCounter = Literal[
    "minor_faults",
    "major_faults",
    "ctx_vol",
    "ctx_invol",
    "read_bytes",
    "write_bytes",
    "handled_bytes",
]
"""Counters that can be the cause of a time difference: those of the kernel, and the bytes that the worker
reports (``handled_bytes``)."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """How a change acts, as its author says (docs/method.md#two-differences-at-once)."""

    phases: tuple[str, ...] = ()
    """Parts of the time that it changes: phases of the worker, ``outside``, ``user``, ``sys`` or ``waiting``.
    Empty: the author names none, and none is checked."""
    counters: tuple[CauseCounter, ...] = ()
    """Counters that differ because of it."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """The baseline with one change, measured in addition to the combinations of the axes."""

    name: NonEmpty
    """Name of the experiment, which is also the label of its variant."""
    variant_id: str = field(metadata=NOT_WRITTEN)
    change: OneChange
    """One key of `fixed`, or one axis, with its new value."""
    why: str = ""
    """Reason for trying the change."""
    decision: Literal["adopted", "rejected", "open"] = "open"
    """Decision about the change."""
    at: dict[str, str] = only_written({})
    """Axis values before the change, if they differ from the baseline's; only with `hypothesis`.
    Both variants must be combinations of the axes."""
    hypothesis: str = only_written()
    """Expected effect, such as "the lock of the queue costs time". The report states whether it is
    supported, not supported or not tested."""
    expect: Expectation = only_written("better")
    """Direction in which the metric changes if the hypothesis is right."""
    metric: NonEmpty = only_written()
    """Metric that would show the hypothesis, one of `judge`. It may be omitted if `judge` has one."""
    phases: tuple[str, ...] = only_written(())
    """Parts of the time that the change acts on: phases of the worker, `outside`, `user`, `sys` or
    `waiting`. If another part has most of the difference, the hypothesis is not decided."""
    counters: tuple[CauseCounter, ...] = only_written(())
    """Counters that differ because of the change. If another counter differs by more than a factor
    of two, the hypothesis is not decided."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """An expected effect of one change on one metric."""

    text: str
    """The hypothesis in the author's words."""
    change: str
    """Text such as ``"engine: smol-own-executor → smol-global"``."""
    variant_id: str
    """Id of the variant with the change, empty if the plan has no such variant."""
    reference_id: str
    """Id of the variant that differs only in the change, empty if the plan has no such variant."""
    expect: Expectation = "better"
    metric: Metric = ""
    """Name of the metric, empty for the headline's metric."""
    mechanism: Mechanism = Mechanism()


@dataclass(frozen=True, slots=True)
class NamedContrast:
    """A comparison of two variants that the report states."""

    name: NonEmpty
    """Name of the comparison."""
    variant_id: str = field(metadata=NOT_WRITTEN)
    reference_id: str = field(metadata=NOT_WRITTEN)
    input_ids: tuple[str, ...] = field(metadata=NOT_WRITTEN)
    metric: NonEmpty = ""
    """Metric to compare, one of `judge`. Default: the first of them."""
    group: NonEmpty = ""
    """Heading of contrasts that the report states together, such as one change in two programs."""
    candidate: Selection = only_written({}, "of", required=True)
    """Axis values of the candidate, or `{experiment: NAME}`. An omitted axis has the baseline's
    value."""
    reference: Selection = only_written({}, "against", required=True)
    """Axis values of the reference, or `{experiment: NAME}`."""
    input: dict[str, str] = only_written({})
    """Values of input axes. The comparison is made on every input that has them."""
    phases: tuple[str, ...] | None = only_written(None)
    """Parts of the time that the change acts on, as in `experiments`. With `phases` or `counters`,
    the contrast is offered as a cause."""
    counters: tuple[CauseCounter, ...] | None = only_written(None)
    """Counters that differ because of the change, as in `experiments`; `[]` if none does."""
    mechanism: Mechanism | None = field(default=None, metadata=NOT_WRITTEN)
    """How the change acts, if the contrast is offered as a cause."""

    @property
    def sides(self) -> dict[str, dict[str, str]]:
        """The two sides by their keys."""
        return {"of": self.candidate, "against": self.reference}


@dataclass(frozen=True, slots=True)
class NamedCell:
    """A variant with its name in formulas."""

    name: str
    variant_id: str


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A formula over named cells, or a mapping with the formula and its assumption."""

    name: str = field(metadata=NOT_WRITTEN)
    """Name of the figure, the key of the formula."""
    formula: str
    """Formula with `rate(cell)`, `time(cell)`, `rate(cell, phase)`, `time(cell, phase)`, names of
    earlier figures, `min`, `max`, `harmonic` and `+ - * /`."""
    assuming: str = ""
    """Assumption of a figure that is projected and not measured; shown with the figure."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The result that answers the question of the scenario."""

    contrast: str
    """Name of the contrast that answers it."""
    yes: Literal["", "better", "worse", "equivalent"] = ""
    """Verdict with which the answer is "yes". Any other verdict is "no", and none is "not decided".
    Default: the answer is the contrast alone."""


@dataclass(frozen=True, slots=True)
class Takeaway:
    """A line of the author below the answer, or a mapping with the text and its condition."""

    text: str
    """Text of the line. `{contrast: NAME}`, `{experiment: NAME}` and `{derived: NAME}` are replaced by
    the measured figure with its interval; `{experiment: NAME, metric: peak_rss}` by that of another
    metric."""
    condition: str = field(default="", metadata=written_as("if"))
    """Result that is required, such as `worker pool is better`: a contrast or an experiment, and
    `better`, `worse` or `equivalent`. Otherwise the page leaves the line out."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note of the author, shown in a separate section of the report."""

    title: str
    """Heading of the note."""
    text: str
    """Text of the note."""
    code: str = ""
    """Lines to print unchanged below the text, such as a program or a call."""
