"""A plan: a scenario expanded into builds, inputs and cells. Immutable, deterministic, no I/O.

Ids are cached, because a large report looks up each of them many times.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal

from bench_framework.model.metrics import METRICS
from bench_framework.model.plan import declarations as declared
from bench_framework.model.plan.arguments import Word, filled
from bench_framework.model.plan.benches import Bench, BenchPolicy
from bench_framework.model.plan.build_spec import PROGRAM, BuildSpec, stable_id
from bench_framework.model.plan.declared_metrics import DeclaredMetric, InstructionPolicy
from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.plan.policies import (
    AnswerPolicy,
    HostPolicy,
    JudgePolicy,
    MeasurePolicy,
    Metric,
)
from bench_framework.model.plan.profile import ProfilePolicy
from bench_framework.model.plan.published import Published
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.plan.server import Server
from bench_framework.model.plan.written import Design
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.units import UnitFamily

CacheState = Literal["warm", "cold", "unknown"]

CONTROL_LABEL: Final = "control"
NO_PART_OF_DIGEST: Final[Mapping[str, Any]] = MappingProxyType(
    {"scenario_path": "", "invocation": Invocation()}
)
"""Fields of a plan on which its digest does not depend, and the values in their place."""


class Role(StrEnum):
    """The role of a cell in the plan."""

    CANDIDATE = "candidate"
    BASELINE = "baseline"
    CONTROL = "control"
    """A second copy of the baseline: the A/A control of the record."""
    BOUND = "bound"
    """A limit of what candidates can reach. It does other work, so it is not compared."""

    @property
    def compared(self) -> bool:
        """True for the baseline and the candidates."""
        return self in (Role.BASELINE, Role.CANDIDATE)


Values = tuple[tuple[str, str], ...]
"""Axis name and value name, in the order of the scenario's axes."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A pinned input: a generator with its parameters, a command, or files of the user."""

    kind: Literal["generated", "file", "folder", "files", "command"]
    family: str
    """Name of the generator, such as ``prose``, of the file, or of the command's program. Scaling
    is reported only within one family."""
    size_bytes: int | None = None
    seed: int | None = None
    path: str | None = None
    """Absolute path of the user's file or folder. With `patterns` or `command`: the folder of the
    scenario, where they start. `None` for a generated input."""
    patterns: tuple[str, ...] = ()
    """Paths and patterns of several files."""
    command: tuple[Word, ...] = ()
    """Program and arguments that print the input, or write it to the slot `OUTPUT`."""
    max_bytes: int | None = None
    """Largest size of the result of `command`."""
    sha256: str | None = None
    """Digest that the input must have."""

    @property
    def id(self) -> str:
        """Twelve hex digits over the fields that decide the content."""
        files = self.patterns or self.command_line
        return stable_id(
            "dataset", self.kind, self.family, self.size_bytes, self.seed, self.path, files
        )

    @property
    def command_line(self) -> str:
        """The command for a shell, with ``{output}``; empty without one."""
        return shlex.join(map(filled, self.command))


@dataclass(frozen=True)
class Variant:
    """One value for every build and run axis: a candidate to ship."""

    label: str
    values: Values
    build: BuildSpec | None
    """The build, or the variant's own program. `None`: the program of the plan."""
    describe: str = ""
    """Description in the scenario, reported as a note."""
    experiment: str | None = None
    """Name of the experiment that this variant tries."""

    @cached_property
    def id(self) -> str:
        """Twelve hex digits over axis values in any order and experiment, without the label."""
        return stable_id("variant", sorted(self.values), self.experiment)

    @property
    def build_id(self) -> str:
        """Id of the build, or `PROGRAM`."""
        return self.build.id if self.build is not None else PROGRAM


@dataclass(frozen=True)
class Input:
    """One value for every input axis, and the dataset or the benchmark if there is one."""

    label: str
    values: Values
    dataset: Dataset | None
    bench: Bench | None = None

    @cached_property
    def id(self) -> str:
        """Twelve hex digits over axis values and dataset."""
        return stable_id("input", sorted(self.values), self.dataset.id if self.dataset else None)

    @property
    def name(self) -> str:
        """The label; empty for a program without input."""
        return self.label if self.dataset or self.values else ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A configuration, variant × input, which is the unit that is timed."""

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
    """Commands that benchctl runs before the cell, outside timing."""
    cleanup: tuple[tuple[Word, ...], ...] = ()
    """Commands that benchctl runs after the cell, outside timing."""
    cpus: str | None = None
    cache: CacheState = "warm"
    shell: bool = False
    server: Server | None = None
    calls: tuple[str, ...] = ()
    """System calls of which each must succeed in a run."""


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A configuration of the whole scenario that trains a build with PGO."""

    build: BuildSpec
    cell: Cell
    input: Input


@dataclass(frozen=True, slots=True)
class Hole:
    """A combination of values that is not measured, with the reason."""

    values: Values
    reason: Reason
    rule: str | None = None
    """``file:line`` of the scenario's rule that excludes it, if there is one."""


@dataclass(frozen=True)
class Plan:
    """An expanded scenario. Cells are grouped by input in scenario order, the control last."""

    name: str
    question: str
    scenario_path: str
    """Path as given by the user, for messages; empty for `benchctl ab`. No id depends on it."""
    scenario_sha256: str
    """Digest of the normalised scenario, independent of comments and layout."""
    axes: tuple[declared.Axis, ...]
    builds: tuple[BuildSpec, ...]
    variants: tuple[Variant, ...]
    inputs: tuple[Input, ...]
    cells: tuple[Cell, ...]
    holes: tuple[Hole, ...]
    baseline_id: str
    """Variant id of the (first) baseline."""
    further_baselines: tuple[str, ...]
    """Variant ids of the other references, also candidates on each input, in scenario order."""
    experiments: tuple[declared.Experiment, ...]
    program: tuple[str, ...] | None
    """Arguments of ``worker: {command: […]}``, whose first is ``{bin}``. `None` if cargo builds."""
    answer: AnswerPolicy
    measure: MeasurePolicy
    judge: JudgePolicy
    notes: tuple[declared.Note, ...] = ()
    named: tuple[declared.NamedCell, ...] = ()
    derived: tuple[declared.DerivedRow, ...] = ()
    unit_family: UnitFamily = "iec"
    """Unit prefixes of the report: ``si`` if the scenario writes MB."""
    data_dir: str | None = None
    choose_from: tuple[Values, ...] = ()
    """Values of the variants that the answer and the recommendation choose from; empty for all."""
    design: Design = "full"
    """How the axes are combined."""
    tuning: tuple[Word, ...] = ()
    """A command of the baseline's program, run once before the measurement. Its output is stored."""
    profile: ProfilePolicy | None = None
    """The variants to profile after the measurement, `None` without profiling."""
    metrics: tuple[DeclaredMetric, ...] = ()
    """Numbers that the program prints or reports, in the order of the scenario."""
    instructions: InstructionPolicy | None = None
    """How instructions are counted after the measurement, `None` if they are not."""
    revisions: Revisions | None = None
    """The two revisions if each input compares one variant at two revisions, else `None`."""
    hypotheses: tuple[declared.Hypothesis, ...] = ()
    contrasts: tuple[declared.NamedContrast, ...] = ()
    """The comparisons that the scenario names, in its order."""
    published: Published | None = None
    """The published report whose claims are tested, `None` without one."""
    headline: declared.Headline | None = None
    """The contrast that answers the question; without it, the design decides."""
    takeaways: tuple[declared.Takeaway, ...] = ()
    """Lines of the author with references to results (`model.plan.published.REFERENCE`)."""
    next_steps: tuple[str, ...] = ()
    """Texts of the author with the same references."""
    confirms: str = ""
    """Id of the record whose suspicious pairs the gate measures again with this plan, or empty."""
    invocation: Invocation = field(default_factory=Invocation)
    """The command line from which the plan was made. No id depends on it."""
    training: tuple[TrainingRun, ...] = ()
    """The runs that train builds with PGO. They do not depend on ``-k``, nor on what the gate measures
    again, so that a build is the same program in each of these plans."""
    hosts: HostPolicy | None = None
    """The hosts that `run --scheduler` uses without ``--host``; `None`: any one host."""
    benches: BenchPolicy | None = None
    """The bench targets of the crate, `None` for any other program."""

    @property
    def server(self) -> Server | None:
        """The first server, the program that varies, if the commands are clients of one."""
        return next((cell.server for cell in self.cells if cell.server is not None), None)

    def pairs_only(self) -> Plan:
        """Return the plan without what a scenario asks of its variants: only pairs are compared."""
        return replace(
            self,
            further_baselines=(),
            choose_from=(),
            experiments=(),
            named=(),
            derived=(),
            hypotheses=(),
            profile=None,
            measure=replace(self.measure, strategy="fixed"),
        )

    def without_texts(self) -> Plan:
        """Return the plan without the contrasts, claims and texts of its author."""
        return replace(
            self, contrasts=(), published=None, headline=None, takeaways=(), next_steps=()
        )

    @property
    def compares_commands(self) -> bool:
        """True if commands are all that varies, as in `benchctl ab`."""
        return [axis.name for axis in self.axes] == ["command"]

    @property
    def command(self) -> str:
        """The command that measures this plan, quoted for a shell."""
        return self.invocation.command(self.scenario_path, self.revisions)

    @property
    def value_labels(self) -> dict[tuple[str, str], str]:
        """The label of each axis value, by axis and name."""
        return {(axis.name, v.name): v.label for axis in self.axes for v in axis.values}

    @property
    def sides(self) -> int:
        """The number of revisions at which each configuration of the scenario is measured."""
        return 2 if self.revisions is not None else 1

    @property
    def left_out(self) -> tuple[int, int]:
        """The numbers of configurations that ``-k`` does not select, and of other excluded ones."""
        unselected = sum(h.reason.code is ReasonCode.UNSELECTED for h in self.holes)
        return self.sides * unselected, self.sides * (len(self.holes) - unselected)

    @cached_property
    def _variants(self) -> dict[str, Variant]:
        return {variant.id: variant for variant in reversed(self.variants)}

    @cached_property
    def _inputs(self) -> dict[str, Input]:
        return {item.id: item for item in reversed(self.inputs)}

    @cached_property
    def _cells(self) -> dict[str, Cell]:
        return {cell.id: cell for cell in reversed(self.cells)}

    def programs(self, build: BuildSpec) -> tuple[BuildSpec, ...]:
        """Return the programs of a variant's build: one for each bench target, or the build itself."""
        if self.benches is None:
            return (build,)
        return tuple(replace(build, bin=target) for target in self.benches.targets)

    def programs_of(self, variants: Iterable[Variant]) -> tuple[BuildSpec, ...]:
        """Return the programs of variants, each once."""
        builds = (variant.build for variant in variants if variant.build is not None)
        return tuple(dict.fromkeys(p for build in builds for p in self.programs(build)))

    @cached_property
    def _build_ids(self) -> dict[str, str]:
        ids = {}
        for cell in self.cells:
            variant, bench = self.variant(cell.variant_id), self.input(cell.input_id).bench
            build = variant.build
            if bench is not None and build is not None:
                ids[cell.id] = replace(build, bin=bench.target).id
            else:
                ids[cell.id] = variant.build_id
        return ids

    def build_id(self, cell: Cell) -> str:
        """Return the id of the build that a cell runs, or `PROGRAM`."""
        return self._build_ids[cell.id]

    @property
    def baseline(self) -> Variant:
        """The (first) baseline."""
        return self._variants[self.baseline_id]

    def variant(self, variant_id: str) -> Variant:
        """Return the variant with this id. Raises `KeyError` if it does not exist."""
        return self._variants[variant_id]

    def input(self, input_id: str) -> Input:
        """Return the input with this id. Raises `KeyError` if it does not exist."""
        return self._inputs[input_id]

    def cell(self, cell_id: str) -> Cell:
        """Return the cell with this id. Raises `KeyError` if it does not exist."""
        return self._cells[cell_id]

    def values_of(self, cell: Cell) -> Values:
        """Return the values of the variant of a cell, then those of its input."""
        return (*self.variant(cell.variant_id).values, *self.input(cell.input_id).values)

    def unit_of(self, metric: Metric) -> str:
        """Return the unit of a metric of benchctl or of the scenario, otherwise ""."""
        declared = (m.unit for m in self.metrics if m.name == metric)
        return METRICS[metric].unit if metric in METRICS else next(declared, "")

    def is_choice(self, cell: Cell) -> bool:
        """Return whether the answer and the recommendation may choose a cell."""
        values = {*self.variant(cell.variant_id).values}
        return not self.choose_from or any(values.issuperset(some) for some in self.choose_from)

    def cells_of(self, input_id: str) -> tuple[Cell, ...]:
        """Return the cells of one input, including the control."""
        return tuple(cell for cell in self.cells if cell.input_id == input_id)

    def cell_id(self, variant_id: str, input_id: str) -> str:
        """Return the id of a variant's cell on an input, not that of the control; empty without one."""
        cells = (c for c in self.cells_of(input_id) if c.role is not Role.CONTROL)
        return next((c.id for c in cells if c.variant_id == variant_id), "")

    def compared_cells(self, input_id: str) -> tuple[Cell, ...]:
        """Return the baseline and the candidates of one input."""
        return tuple(cell for cell in self.cells_of(input_id) if cell.role.compared)

    def baseline_cell(self, input_id: str) -> Cell | None:
        """Return the baseline's cell on an input, or `None` if a rule excludes it."""
        return next((c for c in self.cells_of(input_id) if c.role is Role.BASELINE), None)

    def control_cell(self, input_id: str) -> Cell | None:
        """Return the A/A control on an input, or `None` if it is switched off."""
        return next((cell for cell in self.cells_of(input_id) if cell.role is Role.CONTROL), None)
