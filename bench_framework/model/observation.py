"""What was counted of a cell in a run of its own, outside timing. Immutable, no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Observation:
    """One run outside timing: what the kernel counted of it (``observed``), or its instructions.

    Nothing of it is a time that may be compared.
    """

    cell_id: str
    kind: Literal["observed", "instructions"]
    run: int
    """From 1, per cell and kind."""
    started_at: str
    """UTC, ISO 8601 with milliseconds."""
    tool: str
    """Who counted, such as ``wait4`` or ``valgrind-3.19.0``."""
    status: Literal["ok", "failed", "timeout"] = "ok"
    values: Mapping[str, float] = field(default_factory=dict)
    """Metric to its value; empty unless the run did its work."""
    message: str | None = None
    """Why there are none, in one line."""
