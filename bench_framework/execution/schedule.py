"""The schedule of a record, as pure functions: order within rounds, runs per block, who is dropped."""

from __future__ import annotations

import math
import random
import statistics
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench_framework.model.run import Block

SHORTEST_BLOCK_S: Final = 0.020
"""Blocks of shorter runs repeat them until they take this long (METHOD 1)."""
MOST_REPEATS: Final = 200
FAILURES_IN_A_ROW: Final = 3
TIMEOUTS_IN_A_ROW: Final = 2
"""A program that hangs costs its whole timeout each time."""
VOID: Final = frozenset({"failed", "timeout"})


def order_of(
    seed: int, input_id: str, number: int, ids: Iterable[str], *, warmup: bool
) -> list[str]:
    """The order of cells in a round: uniformly random, and a function of the arguments alone.

    `ids` count as a set: the order in which a scenario lists its values has no influence.
    """
    found = sorted(ids)
    key = f"{seed}/{input_id}/{'warmup' if warmup else 'round'}/{number}"
    random.Random(key).shuffle(found)  # noqa: S311 -- reproducible is what it must be
    return found


def repeats_of(walls: Iterable[Sequence[float]]) -> int:
    """K = ⌈20 ms ÷ run⌉ for all cells of an input; 1 where nothing is known.

    One K for all: the label swaps of the judgement need two identical programs to give values of one
    distribution, and a median of five runs has another than a single run. The middle cell decides, as the
    fastest would make slow ones run for seconds, and the slowest would leave fast ones to the noise.

    Args:
        walls: per cell, the times of its warm-up runs in seconds. The fastest of each counts: the first run
            of a program reads it from the disk.
    """
    fastest = [min(own) for own in walls if own]
    if not fastest:
        return 1
    middle = statistics.median(fastest)
    if middle <= 0:
        return MOST_REPEATS
    return min(MOST_REPEATS, max(1, math.ceil(SHORTEST_BLOCK_S / middle)))


def hopeless(blocks: Sequence[Block], *, warmup_over: bool) -> bool:
    """Whether a cell failed so often that measuring it further would only cost time.

    Args:
        blocks: of the cell, in order, without skipped ones.
        warmup_over: the last of them ended the warm-up; a cell that failed in all of it is given up.
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
