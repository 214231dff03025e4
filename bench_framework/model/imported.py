"""Imported figures of commands that were timed elsewhere, one after the other without rounds.

A set has sessions (one file each). A session has commands with the figures of their runs.
Immutable, no I/O.
"""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.declarations import Axis, AxisValue
from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.plan import Cell, Input, Plan, Role, Variant, stable_id
from bench_framework.model.policies import AnswerPolicy, JudgePolicy, MeasurePolicy, Metric

Format = Literal[
    "hyperfine-1", "hyperfine-2", "criterion", "google-benchmark", "pyperf", "runs", "table"
]
MemoryKind = Literal["none", "per-run", "one-figure", "running-maximum"]
"""Kind of the memory figures in a file. ``running-maximum`` is the largest value of this and all
earlier commands (hyperfine 1.x)."""


@dataclass(frozen=True, slots=True)
class Series:
    """A metric's values for a command: runs in seconds or bytes, or a published mean and spread."""

    metric: Metric
    n: int | None
    """Number of runs, `None` if the file does not state it."""
    mean: float
    sd: float | None
    """Sample standard deviation (n - 1) of the runs, `None` for one run or if it is unknown."""
    values: tuple[float, ...] = ()
    """Value of each run in order, empty for published figures."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a session. Its runs followed each other directly."""

    label: str
    series: tuple[Series, ...]
    failed: int = 0
    """Number of runs with another exit code than 0. No series contains them."""

    def series_of(self, metric: Metric) -> Series | None:
        """Return the series of a metric, or `None` if the file does not have it."""
        return next((s for s in self.series if s.metric == metric), None)

    @property
    def runs(self) -> int | None:
        """Number of runs of the wall time, `None` if the file does not state it."""
        wall = self.series_of(WALL)
        return wall.n if wall is not None else 0


@dataclass(frozen=True, slots=True)
class Session:
    """One imported file: commands that were measured one after the other."""

    label: str
    """Name of the file."""
    source: str
    """Path of the copy of the file within the record."""
    sha256: str
    format: Format
    commands: tuple[Command, ...]
    memory: MemoryKind = "none"

    @property
    def raw(self) -> bool:
        """True if the values of single runs are known."""
        return self.format != "table"

    @property
    def timed(self) -> tuple[Metric, ...]:
        """Wall time, and CPU time if the format has it per run."""
        return (WALL, CPU) if self.format in {"hyperfine-2", "google-benchmark"} else (WALL,)


@dataclass(frozen=True, slots=True)
class Imported:
    """A set of sessions, stored in ``imported.json``."""

    schema_version: int
    record_id: str
    name: str
    imported_at: str
    """Time of the import, UTC, ISO 8601. The time of the measurement is unknown."""
    benchctl: str
    baseline: str
    """Label of the command that others are compared with in each session that has it."""
    sessions: tuple[Session, ...]

    @property
    def commands(self) -> dict[str, tuple[Session, Command]]:
        """Each command with its session, by cell id."""
        return {cell_id(s, command): (s, command) for s in self.sessions for command in s.commands}


def cell_id(session: Session, command: Command) -> str:
    """Return twelve hex digits derived from the digest of the file and the command's label."""
    return stable_id("imported", session.sha256, command.label)


def plan_of(imported: Imported) -> Plan:
    """Return a plan of the set, not to be run: commands are variants, sessions are inputs."""
    labels = list(dict.fromkeys(c.label for session in imported.sessions for c in session.commands))
    variants = {label: Variant(label, (("command", label),), None) for label in labels}
    inputs = tuple(Input(s.label, (("session", s.label),), None) for s in imported.sessions)
    cells = tuple(
        Cell(
            cell_id(session, command),
            variants[command.label].id,
            item.id,
            command.label,
            Role.BASELINE if command.label == imported.baseline else Role.CANDIDATE,
            (),
        )
        for session, item in zip(imported.sessions, inputs, strict=True)
        for command in session.commands
    )
    axes = (
        Axis("command", "run", tuple(AxisValue(label, label) for label in labels)),
        Axis("session", "input", tuple(AxisValue(item.label, item.label) for item in inputs)),
    )
    return Plan(
        name=imported.name,
        question="What do these imported figures show?",
        scenario_path="",
        scenario_sha256="",
        axes=axes,
        builds=(),
        variants=tuple(variants.values()),
        inputs=inputs,
        cells=cells,
        holes=(),
        baseline_id=variants[imported.baseline].id,
        further_baselines=(),
        experiments=(),
        program=None,
        answer=AnswerPolicy("none"),
        measure=MeasurePolicy(),
        judge=JudgePolicy(metrics=max((s.timed for s in imported.sessions), key=len)),
    )
