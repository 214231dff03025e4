"""The decision which cells leave before their input stops.

See docs/method.md#race and docs/method.md#finished-configurations. It depends only on the results
of the looks, so that a resumed record makes the same decisions.
"""

import random
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from bench_framework.model.plan.plan import Cell, Plan, Role
from bench_framework.model.record.run import Look

EVERY: Final = 4
"""A finished cell is measured in one of so many rounds."""
DropReason = Literal["raced", "idle"]
"""Reason for dropping a cell. ``raced``: significantly worse than another variant. ``idle``: not
worse, and no comparison that needs more rounds; with ``strategy: fixed``, the latter alone."""


def leaving(
    plan: Plan, looks: Iterable[Look], measured: Collection[str], gone: Collection[str]
) -> dict[str, DropReason]:
    """Return the cells that leave, in plan order, with the reason for each.

    With ``strategy: fixed``, a cell leaves that has no open comparison on its input. In a race, a
    variant is dropped on all inputs at once, when it is worse than another one or has no open
    comparison on every input: a variant that is slow on one input may be the fastest on another
    one. The baseline, further references and the A/A control are not dropped, because the figures
    of a report are relative to them in the same rounds.

    The last look of each input is used. Cells that are `gone` failed or do other work, and are not
    in the race.
    """
    last = {look.input_id: look for look in looks}
    cells = [cell for cell in plan.cells if cell.id in measured and may_leave(plan, cell)]
    if plan.measure.strategy == "fixed":
        finished = {c for look in last.values() for c in look.idle}
        return {cell.id: "idle" for cell in cells if cell.id in finished}
    reasons: dict[str, DropReason] = {}
    for cell in cells:
        candidates = [
            c for c in plan.cells if c.variant_id == cell.variant_id and c.role is Role.CANDIDATE
        ]
        places = [(c.id, last.get(c.input_id)) for c in candidates if c.id not in gone]
        if all(look is not None and c in look.trailing for c, look in places):
            reasons[cell.id] = "raced"
        elif all(look is not None and (c in look.trailing or c in look.idle) for c, look in places):
            reasons[cell.id] = "idle"
    return reasons


def finishing_rounds(plan: Plan, looks: Iterable[Look]) -> dict[str, int]:
    """Return cell id → round after which a cell was finished; empty for a race, which drops its cells.

    A finished cell is measured in every fourth round from then on. Its tests use the looks until then.
    """
    if plan.measure.strategy != "fixed":
        return {}
    rounds: dict[str, int] = {}
    # A comparison of some cells of a record has the looks of all of them.
    inputs = {cell.id: cell.input_id for cell in plan.cells}
    for look in looks:
        for cell_id in look.dropped:  # a look that reopens a record repeats those of all inputs
            if inputs.get(cell_id) == look.input_id:
                rounds[cell_id] = min(look.round, rounds.get(cell_id, look.round))
    return rounds


def includes_finished(seed: int, input_id: str, number: int) -> bool:
    """Return whether the finished cells of an input are measured in a round: all of them in the same ones.

    The rounds depend on the seed alone, so that no result decides which rounds a cell has.
    """
    first = random.Random(f"{seed}/{input_id}/finished").randrange(EVERY)  # noqa: S311 -- reproducible
    return number % EVERY == first


def may_leave(plan: Plan, cell: Cell) -> bool:
    """Return whether a cell may leave early. A ladder's steps stay: contributions need them all."""
    if cell.role is not Role.CANDIDATE or cell.variant_id in plan.further_baselines:
        return False
    return plan.design != "ladder" or plan.variant(cell.variant_id).experiment is not None


@dataclass(frozen=True, slots=True)
class Lost:
    """A cell that a race dropped."""

    cell_id: str
    round: int
    """Last measured round of the cell."""
    beaten: bool
    """True if it was significantly worse than another cell. Otherwise it was ``idle``."""
    to_cell_id: str | None
    """A cell that it is worse than: the first one of the best group in plan order, else the first
    one. `None` if that cell failed later."""


@dataclass(frozen=True, slots=True)
class Race:
    """The runs of a race and the cells that it dropped."""

    runs: int
    """Number of runs of all cells, including the control, without warm-up rounds."""
    fixed: int
    """Number of runs if each cell were measured for `rounds` rounds."""
    rounds: int
    """`rounds.max`, or the rounds that were measured if the plan has a budget."""
    lost: tuple[Lost, ...]
    """Dropped cells in plan order."""
