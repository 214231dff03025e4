"""A comparison of two records: cells that stayed the same, and cells that changed.

Immutable, no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench_framework.model.judgement import Claim, Comparison


@dataclass(frozen=True, slots=True)
class BridgedCell:
    """A cell of the later record and its counterpart in the earlier record, on one metric.

    The comparison's candidate is the cell of the later record. For an anchor, the ratio is later ÷
    earlier. For a changed cell, the ratio is that of its ratios to the anchors of its record.
    """

    label: str
    input: str
    """Label of the input. It is empty if the later record has only one input."""
    role: Literal["anchor", "changed"]
    comparison: Comparison
    before: float | None
    """Median over the rounds of the earlier record, in the metric's unit. For an exact metric, it
    is the value."""
    after: float | None
    """The same figure of the later record."""
    change: str = ""
    """Difference between the two cells, such as ``"code"`` or ``"code and command"``."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """The comparison of two records of one machine. It is exploratory: no gate reads it."""

    before_id: str
    after_id: str
    conditions: tuple[str, ...]
    """Differences of the machine that forbid a comparison of times, such as ``"governor: powersave
    → performance"``."""
    remarks: tuple[str, ...]
    """Differences that are reported and do not forbid a comparison."""
    cells: tuple[BridgedCell, ...]
    unmatched: tuple[str, ...]
    """Labels of the cells that only one of the records has."""
    family: int
    """Number of comparisons of changed cells, which share the level."""
    level: float
    """Family-wise α."""
    margin: float
    claims: tuple[Claim, ...] = ()
