"""Figures that were measured elsewhere: commands timed one after the other, never interleaved. Immutable, no I/O.

A set has sessions (one file each), and a session has commands with the figures of their runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.plan import Axis, AxisValue, Cell, Input, Plan, Role, Variant, stable_id
from bench_framework.model.policies import AnswerPolicy, JudgePolicy, MeasurePolicy, Metric

Format = Literal["hyperfine-1", "hyperfine-2", "table"]
MemoryKind = Literal["none", "per-run", "one-figure", "running-maximum"]
"""What a file's memory figures are; ``running-maximum``: the largest of this and all earlier
commands (1.x)."""


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one command: its runs, or the mean and spread that somebody published.

    Seconds, bytes. With `values` the other fields follow from them.
    """

    metric: Metric
    n: int | None
    """Runs; `None` where the file does not say."""
    mean: float
    sd: float | None
    """Standard deviation of one run (n - 1); `None` for one run, or where the file does not say."""
    values: tuple[float, ...] = ()
    """Every run in order; empty for published figures."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a session. Its runs were made back to back."""

    label: str
    series: tuple[Series, ...]
    failed: int = 0
    """Runs that did not end with exit code 0; they are in no series."""

    def of(self, metric: Metric) -> Series | None:
        """The series of a metric, if the file has it."""
        return next((s for s in self.series if s.metric == metric), None)

    @property
    def runs(self) -> int | None:
        """Runs behind the wall time; `None` where the file does not say."""
        wall = self.of(WALL)
        return wall.n if wall is not None else 0


@dataclass(frozen=True, slots=True)
class Session:
    """One file: what was measured in one go, command after command."""

    label: str
    """Name of the file."""
    source: str
    """Where its copy lies in the record."""
    sha256: str
    format: Format
    commands: tuple[Command, ...]
    memory: MemoryKind = "none"

    @property
    def raw(self) -> bool:
        """Return whether single runs are known."""
        return self.format != "table"


@dataclass(frozen=True, slots=True)
class Imported:
    """A set of sessions, as ``imported.json`` holds it."""

    schema_version: int
    record_id: str
    name: str
    imported_at: str
    """UTC, ISO 8601: when it was imported. When it was measured, no file says."""
    benchctl: str
    baseline: str
    """Label of the command that others are compared with, in every session that has it."""
    sessions: tuple[Session, ...]

    @property
    def commands(self) -> dict[str, tuple[Session, Command]]:
        """Every command with its session, by the id of its cell."""
        return {cell_id(s, command): (s, command) for s in self.sessions for command in s.commands}


def cell_id(session: Session, command: Command) -> str:
    """Twelve hex digits of a file and a label."""
    return stable_id("imported", session.sha256, command.label)


def plan_of(imported: Imported) -> Plan:
    """The set as a plan that only describes it: a variant per command, an input per session, nothing to run."""
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
        judge=JudgePolicy(metrics=_timed(imported)),
    )


def _timed(imported: Imported) -> tuple[Metric, ...]:
    """Wall time, and CPU time where a file has it per run."""
    return (WALL, CPU) if any(s.format == "hyperfine-2" for s in imported.sessions) else (WALL,)
