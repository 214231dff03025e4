"""A plan: a scenario expanded into builds, inputs and cells. Immutable, deterministic, no I/O.

`bench_framework.store.wire` round-trips it through ``plan.json``.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, Literal, TypeVar

from bench_framework.model.metrics import DeclaredMetric, InstructionPolicy
from bench_framework.model.policies import AnswerPolicy, JudgePolicy, MeasurePolicy, Metric
from bench_framework.model.profile import ProfilePolicy
from bench_framework.model.revisions import Revisions

CacheState = Literal["warm", "cold", "unknown"]

CONTROL_LABEL: Final = "control"
_KEPT_IDS: Final = 4096
_KEPT_INDICES: Final = 64


@dataclass(frozen=True, slots=True)
class Slot:
    """A hole in an argument that is filled only when a cell is run.

    Not an enum of strings: a literal argument ``bin`` must stay apart from the slot.
    """

    slot: Literal["bin", "input", "tuning"]


BIN: Final = Slot("bin")
INPUT: Final = Slot("input")
TUNING: Final = Slot("tuning")
"""The file that holds what `Plan.tuning` printed."""


class Role(StrEnum):
    """Why a cell is in the plan."""

    CANDIDATE = "candidate"
    BASELINE = "baseline"
    CONTROL = "control"
    """The baseline once more, as a blind arm: the A/A test of this very record."""
    BOUND = "bound"
    """A limit of what candidates can reach: it does other work, so it is compared with none of
    them."""
    ANCHOR = "anchor"
    """What does not change from record to record: it bridges them, and is compared with nothing
    within one."""

    @property
    def separate(self) -> bool:
        """Return whether a cell is compared with no other one of its record; its answer need only be its own."""
        return self in (Role.BOUND, Role.ANCHOR)


Word = tuple[str | Slot, ...]
"""One argument: literal pieces and slots, joined without a space."""


def stable_id(*parts: object) -> str:
    """Twelve hex digits that depend only on `parts` (JSON values); equal between records."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class AxisValue:
    """One setting of an axis: its name, what readers are told, and what it changes."""

    name: str
    label: str
    about: str = ""
    size_bytes: int | None = None
    """Bytes, where the name is a size; such an axis is ordered and can scale."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A named dimension that is varied. `kind` says what it acts on."""

    name: str
    kind: Literal["build", "run", "input"]
    values: tuple[AxisValue, ...]
    label: str = ""
    note: str = ""


Values = tuple[tuple[str, str], ...]
"""Axis name and value name, in the order of the scenario's axes."""


@dataclass(frozen=True, slots=True)
class BuildSpec:
    """What cargo is asked for. Equal specs are one build, shared by several variants."""

    crate: str
    """``"builtin"``, or the absolute path of a crate, or ``""`` with `git`."""
    bin: str
    git: str | None = None
    package: str | None = None
    features: tuple[str, ...] = ()
    """Sorted."""
    default_features: bool = True
    profile: str = "release"
    profile_keys: tuple[tuple[str, str], ...] = ()
    """Keys of the profile, such as ``("lto", "fat")``, set from the command line of cargo."""
    rustflags: tuple[str, ...] = ()
    toolchain: str | None = None
    revision: str | None = None

    @property
    def id(self) -> str:
        """Twelve hex digits over every field."""
        return _build_id(self)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A pinned input: a generator with its parameters, or a user's file."""

    kind: Literal["generated", "file"]
    family: str
    """Generator name, such as ``prose``; growth is only told within one family. For a file: its
    name."""
    size_bytes: int | None = None
    seed: int | None = None
    path: str | None = None
    """Absolute path of a user's file; `None` for what is generated."""

    @property
    def id(self) -> str:
        """Twelve hex digits over every field."""
        return stable_id("dataset", self.kind, self.family, self.size_bytes, self.seed, self.path)


@dataclass(frozen=True, slots=True)
class Variant:
    """One value for every build and run axis: a candidate to ship."""

    label: str
    values: Values
    build: BuildSpec | None
    """`None` for a program that is not built by us."""
    describe: str = ""
    """The scenario's words about it, shown as notes."""
    experiment: str | None = None
    """Name of the experiment that this variant tries."""
    anchor: str = ""
    """The revision that is built as the anchor; empty for every other variant."""

    @property
    def id(self) -> str:
        """Twelve hex digits over axis values, in whatever order the axes stand, and experiment; not over the label."""
        return _variant_id(self.values, self.experiment, self.anchor)


@dataclass(frozen=True, slots=True)
class Input:
    """One value for every input axis; one without axes and dataset where a scenario has none."""

    label: str
    values: Values
    dataset: Dataset | None

    @property
    def id(self) -> str:
        """Twelve hex digits over axis values and dataset."""
        return _input_id(self.values, self.dataset)


@dataclass(frozen=True, slots=True)
class Cell:
    """Variant × input: what is timed."""

    id: str
    variant_id: str
    input_id: str
    label: str
    role: Role
    command: tuple[Word, ...]
    env: tuple[tuple[str, str], ...] = ()
    cwd: str | None = None
    stdin: Word | None = None
    prepare: tuple[tuple[Word, ...], ...] = ()
    """Argument lists run by us before the cell, outside timing."""
    cleanup: tuple[tuple[Word, ...], ...] = ()
    cpus: str | None = None
    cache: CacheState = "warm"
    shell: bool = False


@dataclass(frozen=True, slots=True)
class Hole:
    """A combination that is not measured, and why."""

    values: Values
    reason: str
    rule: str | None = None
    """``file:line`` of the rule, for one that the scenario states."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """The baseline with one change, tried beside the axes."""

    name: str
    variant_id: str
    change: tuple[tuple[str, str], ...]
    why: str = ""
    decision: Literal["adopted", "rejected", "open"] = "open"


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """An expected effect of one change on one metric.

    Attributes:
        text: the hypothesis in the author's words.
        change: such as ``"engine: smol-own-executor → smol-global"``.
        variant_id: of the variant with the change; empty where the plan has none.
        reference_id: of the variant without it, equal in everything else; empty likewise.
        expect: what the change does to the metric if the hypothesis is right.
        metric: empty for the metric of the headline.
    """

    text: str
    change: str
    variant_id: str
    reference_id: str
    expect: Literal["better", "worse"] = "better"
    metric: Metric = ""


@dataclass(frozen=True, slots=True)
class NamedCell:
    """A variant under the name that formulas use."""

    name: str
    variant_id: str


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """A figure that follows from named cells.

    Attributes:
        name: of the figure.
        formula: over named cells and earlier rows.
        assuming: what must be true for a figure that is projected and not measured; else empty.
    """

    name: str
    formula: str
    assuming: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Text of the author, printed apart from what was measured."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A scenario expanded. Cells are grouped by input, in scenario order, the control last."""

    name: str
    question: str
    scenario_path: str
    """As given; for messages. Not part of any identity."""
    scenario_sha256: str
    """Of the normalised scenario: comments and layout do not count."""
    axes: tuple[Axis, ...]
    builds: tuple[BuildSpec, ...]
    variants: tuple[Variant, ...]
    inputs: tuple[Input, ...]
    cells: tuple[Cell, ...]
    holes: tuple[Hole, ...]
    baseline_id: str
    """Variant id of the (first) baseline."""
    further_baselines: tuple[str, ...]
    """Variant ids of the other references, in the order of the scenario; on each input they are
    candidates too."""
    experiments: tuple[Experiment, ...]
    program: tuple[str, ...] | None
    """Words of ``worker: {command: […]}``: ``{bin}`` is the first; `None` where cargo builds."""
    answer: AnswerPolicy
    measure: MeasurePolicy
    judge: JudgePolicy
    notes: tuple[Note, ...] = ()
    named: tuple[NamedCell, ...] = ()
    derived: tuple[DerivedRow, ...] = ()
    unit_family: Literal["iec", "si"] = "iec"
    """``si`` if the scenario writes MB; the report then says MB too."""
    data_dir: str | None = None
    anchor_id: str = ""
    """Variant id of what stays the same from record to record; empty where the scenario declares
    nothing."""
    design: Literal["full", "one-at-a-time", "ladder"] = "full"
    """How the axes are combined; records from before it was kept read as ``full``."""
    tuning: tuple[Word, ...] = ()
    """A command of the baseline's program, run once before anything is measured; what it prints is
    kept."""
    profile: ProfilePolicy | None = None
    """What is profiled after measuring."""
    metrics: tuple[DeclaredMetric, ...] = ()
    """Numbers that the program prints or reports, in the order of the scenario."""
    instructions: InstructionPolicy | None = None
    """How instructions are counted after measuring; `None`: they are not."""
    revisions: Revisions | None = None
    """What is compared with what, where each input holds one variant at two revisions."""
    hypotheses: tuple[Hypothesis, ...] = ()
    confirms: str = ""
    """Id of the record whose suspicious pairs the gate measures again with this plan; empty for any
    other plan."""
    asked: tuple[str, ...] = ()
    """Words behind the scenario's name that made this plan of it, such as ``("-k", "io=mmap")``.
    Like the path, not part of any identity."""

    @property
    def command(self) -> str:
        """The command that measures this plan, quoted for a shell."""
        return shlex.join(("benchctl", "run", self.scenario_path, *self.asked))

    def variant(self, variant_id: str) -> Variant:
        """The variant of this id. Raises `KeyError`."""
        return _by_id(self.variants, variant_id)

    def input(self, input_id: str) -> Input:
        """The input of this id. Raises `KeyError`."""
        return _by_id(self.inputs, input_id)

    def cell(self, cell_id: str) -> Cell:
        """The cell of this id. Raises `KeyError`."""
        return _by_id(self.cells, cell_id)

    def cells_of(self, input_id: str) -> tuple[Cell, ...]:
        """The cells of one input, the control among them."""
        return tuple(cell for cell in self.cells if cell.input_id == input_id)

    def baseline_cell(self, input_id: str) -> Cell | None:
        """The baseline's cell on an input; `None` where a rule excludes it."""
        return next((cell for cell in self.cells_of(input_id) if cell.role is Role.BASELINE), None)

    def control_cell(self, input_id: str) -> Cell | None:
        """The control arm on an input; `None` where it is switched off."""
        return next((cell for cell in self.cells_of(input_id) if cell.role is Role.CONTROL), None)

    def reference_pairs(self, input_id: str) -> tuple[tuple[Cell, Cell], ...]:
        """Candidate and further reference, reference by reference, each pair of cells once.

        A reference against the first baseline is a headline comparison already, and its mirror
        image is no comparison of its own; the same holds between two further references.
        """
        cells = [cell for cell in self.cells_of(input_id) if cell.role is Role.CANDIDATE]
        found: list[tuple[Cell, Cell]] = []
        for place, variant_id in enumerate(self.further_baselines):
            reference = next((cell for cell in cells if cell.variant_id == variant_id), None)
            if reference is not None:
                told = self.further_baselines[: place + 1]
                found += [(cell, reference) for cell in cells if cell.variant_id not in told]
        return tuple(found)

    @property
    def comparisons_planned(self) -> int:
        """M: candidate × reference × metric × input; the control and deterministic metrics are not counted."""
        candidates = sum(
            1
            for cell in self.cells
            if cell.role is Role.CANDIDATE and self.baseline_cell(cell.input_id) is not None
        )
        further = sum(len(self.reference_pairs(item.id)) for item in self.inputs)
        return (candidates + further) * len(self.judge.sampled)


@lru_cache(maxsize=_KEPT_IDS)
def _variant_id(values: Values, experiment: str | None, anchor: str) -> str:
    """Kept, as every look-up in a plan asks for it: without this a large report spends half its time here."""
    return stable_id("variant", sorted(values), experiment, *((anchor,) if anchor else ()))


@lru_cache(maxsize=_KEPT_IDS)
def _build_id(spec: BuildSpec) -> str:
    return stable_id(
        "build",
        spec.crate,
        spec.bin,
        spec.git,
        spec.package,
        spec.features,
        spec.default_features,
        spec.profile,
        spec.profile_keys,
        spec.rustflags,
        spec.toolchain,
        spec.revision,
    )


@lru_cache(maxsize=_KEPT_IDS)
def _input_id(values: Values, dataset: Dataset | None) -> str:
    return stable_id("input", sorted(values), dataset.id if dataset else None)


_Item = TypeVar("_Item", Variant, Input, Cell)


_indices: dict[int, tuple[tuple[object, ...], dict[str, Any]]] = {}
"""Of the tuples that plans look up in, by their identity: hashing a whole plan would cost more than
looking."""


def _by_id(items: tuple[_Item, ...], wanted: str) -> _Item:
    kept = _indices.get(id(items))
    if kept is None or kept[0] is not items:  # an identity is given again when its owner is gone
        if len(_indices) >= _KEPT_INDICES:
            _indices.clear()
        kept = _indices[id(items)] = (items, {item.id: item for item in reversed(items)})
    found: _Item = kept[1][wanted]
    return found
