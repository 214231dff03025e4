"""Who leaves a race: a function of what the looks found, so that a resumed record decides as it would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from bench_framework.model.plan import Role

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.run import Look

Why = Literal["raced", "idle"]
"""``raced``: decidedly worse than another variant; ``idle``: unbeaten, with nothing open that is
waited for."""


def leaving(
    plan: Plan, looks: Iterable[Look], measured: Collection[str], gone: Collection[str]
) -> dict[str, Why]:
    """Cells of the variants that a race needs no more, in plan order, and why.

    A variant is let go as a whole, once it trails on every input or has nothing open there: one
    that trails here may lead there, and a report that lacks it there could not say so. The
    baseline, further references and the control arm stay: every figure of a report is against them,
    in the same rounds.

    Args:
        plan: what is measured.
        looks: all that were taken; of each input the last one counts.
        measured: cells that are still measured.
        gone: cells that failed or do other work: they have no place in the race of their input.
    """
    if plan.measure.strategy != "race":
        return {}
    last = {look.input_id: look for look in looks}
    found: dict[str, Why] = {}
    for cell in plan.cells:
        if cell.id not in measured or not may_leave(plan, cell):
            continue
        own = [
            c for c in plan.cells if c.variant_id == cell.variant_id and c.role is Role.CANDIDATE
        ]
        places = [(c.id, last.get(c.input_id)) for c in own if c.id not in gone]
        if all(look is not None and c in look.trailing for c, look in places):
            found[cell.id] = "raced"
        elif all(look is not None and (c in look.trailing or c in look.idle) for c, look in places):
            found[cell.id] = "idle"
    return found


def may_leave(plan: Plan, cell: Cell) -> bool:
    """Return whether a race may let this cell go at all."""
    return cell.role is Role.CANDIDATE and cell.variant_id not in plan.further_baselines


@dataclass(frozen=True, slots=True)
class Lost:
    """A cell that a race measured no further."""

    cell_id: str
    round: int
    """After which it stopped."""
    beaten: bool
    """True if it trailed; otherwise nothing about it was open."""
    to_cell_id: str | None
    """A variant that it is worse than: the first of the best group, else the first at all, in plan
    order; `None` where the record no longer shows one (what beat it has failed since)."""


@dataclass(frozen=True, slots=True)
class Race:
    """What a race spent and whom it let go."""

    runs: int
    """Runs of the rounds that count, of all cells, the control among them."""
    fixed: int
    """Runs that the same cells take if every one is measured up to `rounds.max`."""
    rounds: int
    """`rounds.max`."""
    lost: tuple[Lost, ...]
    """In plan order."""
