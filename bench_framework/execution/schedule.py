"""The order within rounds, runs per block, and cells that leave (docs/method.md#schedule)."""

import math
import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from bench_framework.model import race
from bench_framework.model.plan import Plan
from bench_framework.model.run import Block
from bench_framework.store import lines
from bench_framework.store.records import Record

SHORTEST_BLOCK_S: Final = 0.020
"""Blocks of shorter runs repeat them until they take this long."""
MOST_REPEATS: Final = 200
FAILURES_IN_A_ROW: Final = 3
TIMEOUTS_IN_A_ROW: Final = 2
"""Fewer than failures, because a program that hangs takes its whole timeout each time."""
VOID: Final = frozenset({"failed", "timeout"})


def order_of(
    seed: int, input_id: str, number: int, ids: Iterable[str], *, warmup: bool
) -> list[str]:
    """Return a uniformly random order of cells, the same for `ids` in any order."""
    order = sorted(ids)
    key = f"{seed}/{input_id}/{'warmup' if warmup else 'round'}/{number}"
    random.Random(key).shuffle(order)  # noqa: S311 -- the order must be reproducible
    return order


def repeats_of(walls: Iterable[Sequence[float]]) -> int:
    """Return the runs per block, K = ⌈20 ms ÷ run⌉, for all cells of an input; 1 without any time.

    All cells get the same K: the permutation test requires that identical programs give values of
    one distribution, and a median of five runs has another distribution than a single run. The
    median cell determines K: the fastest would make slow cells run for seconds, and the slowest
    would leave fast cells too noisy.

    `walls` are the times of the warm-up runs in seconds, per cell. The fastest of each is used,
    because the first run reads the program from the disk.
    """
    fastest = [min(times) for times in walls if times]
    if not fastest:
        return 1
    middle = statistics.median(fastest)
    if middle <= 0:
        return MOST_REPEATS
    return min(MOST_REPEATS, max(1, math.ceil(SHORTEST_BLOCK_S / middle)))


def failed_too_often(blocks: Sequence[Block], *, warmup_over: bool) -> bool:
    """Check if a cell failed too often, or has no good block when the warm-up is over."""
    if not blocks:
        return False
    if warmup_over and all(block.status in VOID for block in blocks):
        return True
    last = [block.status for block in blocks[-FAILURES_IN_A_ROW:]]
    if len(last) == FAILURES_IN_A_ROW and all(status in VOID for status in last):
        return True
    return len(last) >= TIMEOUTS_IN_A_ROW and all(
        status == "timeout" for status in last[-TIMEOUTS_IN_A_ROW:]
    )


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
