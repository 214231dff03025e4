"""Figures that were measured elsewhere: commands timed one after the other, never interleaved. Immutable, no I/O.

They are no rounds, and no type of this module can be taken for one: a set has sessions (one file each), a session has
commands (one command each), and a command has what its runs gave.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from bench_framework.model.metrics import WALL
from bench_framework.model.policies import JudgePolicy, Metric

Format = Literal["hyperfine-1", "hyperfine-2", "table"]
MemoryKind = Literal["none", "per-run", "one-figure", "running-maximum"]
"""What a file's memory figures are; ``running-maximum``: the largest of this and all earlier commands (1.x)."""


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

    id: str
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

    id: str
    label: str
    """Name of the file."""
    source: str
    """Where its copy lies in the record."""
    sha256: str
    format: Format
    commands: tuple[Command, ...]
    memory: MemoryKind = "none"

    def command(self, label: str) -> Command | None:
        """The command of this label."""
        return next((command for command in self.commands if command.label == label), None)

    @property
    def raw(self) -> bool:
        """Whether single runs are known."""
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
    judge: JudgePolicy = field(default_factory=JudgePolicy)

    def session(self, session_id: str) -> Session:
        """The session of this id. Raises `KeyError`."""
        return {s.id: s for s in self.sessions}[session_id]

    def place(self, command_id: str) -> tuple[Session, Command]:
        """A command with its session. Raises `KeyError`."""
        return {command.id: (session, command) for session in self.sessions for command in session.commands}[
            command_id
        ]
