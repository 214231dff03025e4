"""What an author suspects or expects beyond what was measured: causes, projections, platforms. Immutable, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.formula import Unit
from bench_framework.model.verdict import Interval, Verdict

CauseStatus = Literal["shown", "not shown", "refuted", "untested"]
UNTESTED: Final = "no single change of this record tests it"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A suspected cause, and the single change that tests it (REPORTS R10).

    Attributes:
        suspected: in the author's words.
        change: such as ``"engine: smol-own-executor → smol-global"``; empty where nothing tests it.
        variant_id: with the change; empty where nothing tests it.
        ref_variant_id: without it, and equal in everything else.
        expect: what the change does to the metric of the headline if the suspicion is right.
    """

    suspected: str
    change: str = ""
    variant_id: str = ""
    ref_variant_id: str = ""
    expect: Literal["better", "worse"] = "better"


@dataclass(frozen=True, slots=True)
class Cause:
    """What the runs of one input say of a suspicion: an existing comparison under this view."""

    suspected: str
    input_id: str
    status: CauseStatus
    change: str = ""
    cell_id: str = ""
    ref_cell_id: str = ""
    verdict: Verdict | None = None
    shown: Interval | None = None
    statistic: str | None = None
    direction: Literal["lower", "higher"] = "lower"
    rounds: int = 0
    reason: str = ""
    """Why it is untested, or why nothing is decided, where there is more to say than the interval."""


@dataclass(frozen=True, slots=True)
class ProjectedRow:
    """A figure that was not measured, as a formula over cells that were (REPORTS R11).

    Attributes:
        name: of the quantity.
        formula: as of `derived`.
        assuming: what has to hold for it, in the author's words.
        cell: name of a cell that measures it; once that is measured, nothing is projected.
    """

    name: str
    formula: str
    assuming: str = ""
    cell: str = ""


@dataclass(frozen=True, slots=True)
class Projection:
    """A projected figure of one input: the median over rounds of its formula, with its 95 % interval."""

    input_id: str
    name: str
    formula: str
    assuming: str
    unit: Unit
    cell_ids: tuple[str, ...]
    """Cells that it rests on, or the one that replaces it."""
    rounds: int
    value: float | None
    """`None` where no round has its figures, and where it was measured."""
    lo: float | None
    hi: float | None
    measured: str = ""
    """Name of the cell that measured it; then there is nothing to project."""
