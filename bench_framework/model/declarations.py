"""Declarations of a scenario: axes, experiments, hypotheses, figures and notes. No I/O."""

from dataclasses import dataclass, field
from typing import Literal

from bench_framework.model.policies import Metric
from bench_framework.model.written import NOT_WRITTEN


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
    kind: Literal["build", "run", "input"]
    values: tuple[AxisValue, ...]
    label: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Experiment:
    """The baseline with one change that is not a value of an axis."""

    name: str
    variant_id: str
    change: tuple[tuple[str, str], ...]
    why: str = ""
    decision: Literal["adopted", "rejected", "open"] = "open"


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
    """How a change acts, as its author says (docs/method.md#two-differences-at-once).

    Attributes:
        phases: parts of the time that it changes: phases of the worker, ``outside``, ``user``, ``sys`` or
            ``waiting``. Empty: the author names none, and none is checked.
        counters: counters that differ because of it.
    """

    phases: tuple[str, ...] = ()
    counters: tuple[CauseCounter, ...] = ()


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """An expected effect of one change on one metric.

    Attributes:
        text: the hypothesis in the author's words.
        change: text such as ``"engine: smol-own-executor → smol-global"``.
        variant_id: id of the variant with the change, empty if the plan has no such variant.
        reference_id: id of the variant that differs only in the change, empty if the plan has no
            such variant.
        metric: name of the metric, empty for the headline's metric.
    """

    text: str
    change: str
    variant_id: str
    reference_id: str
    expect: Literal["better", "worse"] = "better"
    metric: Metric = ""
    mechanism: Mechanism = Mechanism()


@dataclass(frozen=True, slots=True)
class NamedContrast:
    """A comparison that the scenario names (docs/method.md#families).

    Attributes:
        group: heading that it shares with other contrasts, or empty.
        mechanism: how the change acts, if the contrast is offered as a cause.
    """

    name: str
    variant_id: str
    reference_id: str
    input_ids: tuple[str, ...]
    metric: Metric
    group: str = ""
    mechanism: Mechanism | None = None


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
class Note:
    """A note of the author, shown in a separate section of the report."""

    title: str
    """Heading of the note."""
    text: str
    """Text of the note."""
    code: str = ""
    """Lines to print unchanged below the text, such as a program or a call."""
