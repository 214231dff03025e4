"""Two records against each other: what stayed, what changed, and what may be said of it. Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.judgement import Claim, Comparison


@dataclass(frozen=True, slots=True)
class BridgedCell:
    """One cell of the later record against its counterpart in the earlier one, on one metric.

    The comparison's candidate is the cell of the later record. Of an anchor the ratio is its own,
    later ÷ earlier; of a changed cell it is that of its ratios to the anchors of its record.
    """

    label: str
    input: str
    """Empty where the later record has only one."""
    role: Literal["anchor", "changed"]
    comparison: Comparison
    before: float | None
    """Median over the rounds of the earlier record, in the metric's unit; for a deterministic
    metric its value."""
    after: float | None
    change: str = ""
    """What differs between the two, such as ``"code"`` or ``"code and command"``."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """Two records of one machine, bridged or not. Always exploratory: no gate reads it."""

    before_id: str
    after_id: str
    conditions: tuple[str, ...]
    """Differences of the machine that forbid a comparison of times, such as ``"governor: powersave
    → performance"``."""
    remarks: tuple[str, ...]
    """Differences that are told and forbid nothing."""
    cells: tuple[BridgedCell, ...]
    unmatched: tuple[str, ...]
    """Cells that one record only has, by label."""
    family: int
    """Comparisons of changed cells that share the level."""
    level: float
    margin: float
    claims: tuple[Claim, ...] = ()
