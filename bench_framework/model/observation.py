"""Counters of a cell from a separate run outside timing. Immutable, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Observation:
    """One run outside timing: kernel counters (``observed``) or instructions.

    Its values are not compared as times.
    """

    cell_id: str
    kind: Literal["observed", "instructions"]
    run: int
    """Number of the run, from 1 for each cell and kind."""
    started_at: str
    """Start time, UTC, ISO 8601 with milliseconds."""
    tool: str
    """System call or program that counted, such as ``wait4`` or ``valgrind-3.19.0``."""
    status: Literal["ok", "failed", "timeout"] = "ok"
    values: Mapping[str, float] = field(default_factory=dict)
    """Value of each metric, by name. It is empty if the run failed."""
    message: str | None = None
    """Reason for missing values, in one line."""
