"""Decisions of interim analyses while measuring, and the cells that leave after one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from bench_framework.model import race
from bench_framework.store import lines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Look
    from bench_framework.store.journal import Contents
    from bench_framework.store.records import Record

REASONS: Final[Mapping[str, str]] = {
    "raced": "significantly worse than another variant",
    "idle": "the remaining rounds cannot change its verdicts",
}
"""Why a cell leaves, as users read it."""


class Decision(NamedTuple):
    """The decision of an interim analysis for one input."""

    stop: bool
    """No further rounds of this input."""
    reason: str = ""
    trailing: tuple[str, ...] = ()
    """Cells that are worse than another one, as in `Look`."""
    idle: tuple[str, ...] = ()
    """Cells with nothing left to decide, as in `Look`."""


Looker = Callable[[str, int, int], Decision]
"""``looker(input_id, index, round)`` reads ``record.contents``; `index` counts from 0."""


def cells_to_drop(
    plan: Plan, contents: Contents, look: Look, measured: Collection[str]
) -> dict[str, race.DropReason]:
    """Return the cells that leave after an interim analysis, of those still measured."""
    failed = {cell_id for cell_id, line in contents.dropped.items() if not line.left}
    return race.leaving(plan, [*contents.looks, look], measured, failed)


def drop_pending(plan: Plan, record: Record) -> None:
    """Write the missing lines of dropped cells, if the process before died after the analysis."""
    contents = record.contents
    for look in contents.looks:
        for cell_id in [c for c in look.dropped if c not in contents.dropped]:
            here = plan.cell(cell_id).input_id
            kind: race.DropReason = (
                "raced" if any(cell_id in other.trailing for other in contents.looks) else "idle"
            )
            number = contents.rounds.get(here, 0)
            record.append(
                lines.Dropped(cell_id, here, number, warmup=False, state=kind, reason=REASONS[kind])
            )
