"""The schedule of a record, as pure functions: order within rounds, runs per block, dropped cells.

See docs/method.md#schedule.
"""

from __future__ import annotations

import math
import random
import statistics
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench_framework.model.run import Block

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
    """Return the order of cells in a round: uniformly random and determined by the arguments.

    The order of `ids` has no effect.
    """
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

    Args:
        walls: times of the warm-up runs in seconds, per cell. The fastest of each is used, because
            the first run reads the program from the disk.
    """
    fastest = [min(times) for times in walls if times]
    if not fastest:
        return 1
    middle = statistics.median(fastest)
    if middle <= 0:
        return MOST_REPEATS
    return min(MOST_REPEATS, max(1, math.ceil(SHORTEST_BLOCK_S / middle)))


def failed_too_often(blocks: Sequence[Block], *, warmup_over: bool) -> bool:
    """Check if a cell failed so often that it is dropped.

    Args:
        blocks: blocks of the cell, in order, without skipped ones.
        warmup_over: True if the last block ended the warm-up; a cell without a good block is then
            dropped.
    """
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
