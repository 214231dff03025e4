"""Figures of commands that were timed elsewhere, one after the other without rounds.

A session is one file. It has commands with the figures of their runs. Immutable, no I/O.
"""

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.metrics import CPU, WALL
from bench_framework.model.plan.policies import Metric

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
class SessionCommand:
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
class HarnessSession:
    """One imported file: commands that were measured one after the other."""

    label: str
    """Name of the file."""
    source: str
    """Path of the copy of the file within the record."""
    sha256: str
    format: str
    """``hyperfine-1``, ``hyperfine-2``, ``runs``, ``table``, or the name of a reader of `store.harnesses`."""
    commands: tuple[SessionCommand, ...]
    memory: MemoryKind = "none"

    @property
    def raw(self) -> bool:
        """True if the values of single runs are known."""
        return self.format != "table"

    @property
    def timed(self) -> tuple[Metric, ...]:
        """Wall time, and CPU time if the format has it per run."""
        per_run = self.format in {"hyperfine-2", "google-benchmark"}
        series = (command.series_of(CPU) for command in self.commands)
        return (WALL, CPU) if per_run or any(one and one.values for one in series) else (WALL,)
