"""Which blocks the machine was in the way of, by its own counters. Plain Python.

A flag is a remark: a flagged block stays in every statistic, as leaving out what was slow would be
choosing the result.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from bench_framework.model.run import Block

Flag = Literal["cpu", "steal", "memory", "swap", "throttled"]

SHARE: Final = 0.10
"""Share of a block's time spent waiting for a core or memory, or lost to another guest, from which
the block is flagged. Single runs on a shared machine differ by about 10 %. A lower limit would flag
almost all blocks; a much higher one would miss disturbed blocks."""
TICK_S: Final = 0.01
"""USER_HZ is 100 on every Linux architecture that we build for."""
SWAP_PAGES: Final = 256
"""Moved to or from swap during a block: a mebibyte of 4 KiB pages. Less is what other programs do
at their ease."""

WORDS: Final[dict[Flag, str]] = {
    "cpu": "waiting for a core",
    "steal": "a core lost to another guest",
    "memory": "waiting for memory",
    "swap": "swapping",
    "throttled": "a CPU slowed down by its heat",
}
"""In the order in which they are told."""


def flags(block: Block) -> tuple[Flag, ...]:
    """What was in the way of a block, in the order of `WORDS`; empty for an undisturbed one.

    I/O pressure is recorded and makes no flag: the kernel counts the program's own waiting for the
    disk in it, and a run that reads does little else. CPU pressure counts a program's own threads
    too, where it has more than cores.
    """
    time, s = math.fsum(block.wall_s), block.sensors
    if time <= 0:
        return ()
    swapped = max(s.swap_in_pages or 0, s.swap_out_pages or 0)
    seen: dict[Flag, bool] = {
        "cpu": (s.psi_cpu_us or 0) / 1e6 > SHARE * time,
        # One tick of steal is the counter's own step: a single one says nothing about a short
        # block.
        "steal": ((s.steal_ticks or 0) - 1) * TICK_S > SHARE * time,
        "memory": (s.psi_memory_us or 0) / 1e6 > SHARE * time,
        "swap": swapped > SWAP_PAGES,
        "throttled": (s.throttle_events or 0) > 0,
    }
    return tuple(flag for flag in WORDS if seen[flag])
