"""Flags for blocks that were disturbed by other load, derived from system counters. Plain Python.

A flag is a remark. A flagged block remains in every statistic, because removing slow blocks would
bias the result.
"""

import math
from collections.abc import Mapping
from typing import Final, Literal, get_args

from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Block

Flag = Literal["cpu", "steal", "memory", "swap", "throttled"]

SHARE: Final = 0.10
"""Threshold for a flag: the share of the CPUs' time that other processes used, or the share of a
block's time that was spent waiting for memory or lost to another guest of the hypervisor. Single
runs on a shared machine differ by about 10 %. A lower limit would flag almost all blocks, and a
much higher one would miss disturbed blocks."""
TICK_S: Final = 0.01
"""Length of a tick in seconds: USER_HZ is 100 on every supported Linux architecture."""
CPU_TICKS: Final = 3
"""Ticks of `Sensors.other_cpu_us` that are not evidence of other processes. The kernel truncates
idle time, time of waiting for I/O, and steal to ticks, each at both ends of a block (proc(5)).
benchctl and its launcher use 1 to 2 ms per block."""
SWAP_PAGES: Final = 256
"""Threshold for a flag: pages moved to or from swap during a block. 256 pages of 4 KiB are 1 MiB.
Fewer pages are normal background activity."""


def flags(block: Block) -> tuple[Flag, ...]:
    """Return the flags of a block in the order of reports, empty for an undisturbed block.

    CPU and I/O pressure are recorded, but they set no flag: the kernel includes the time that the
    measured program itself waits for the disk, and that its own threads wait for each other.
    """
    time, s = math.fsum(block.wall_s), block.sensors
    if time <= 0:
        return ()
    swapped = max(s.swap_in_pages or 0, s.swap_out_pages or 0)
    others_s = (s.other_cpu_us or 0) / 1e6 - CPU_TICKS * TICK_S
    is_set: dict[Flag, bool] = {
        "cpu": others_s > SHARE * (s.cpu_capacity_us or 0) / 1e6,
        # One tick is the resolution of the counter, so a single tick is not evidence of steal in a
        # short block.
        "steal": ((s.steal_ticks or 0) - 1) * TICK_S > SHARE * time,
        "memory": (s.psi_memory_us or 0) / 1e6 > SHARE * time,
        "swap": swapped > SWAP_PAGES,
        "throttled": (s.throttle_events or 0) > 0,
    }
    return tuple(flag for flag in is_set if is_set[flag])


def loads(counts: Mapping[Flag, int]) -> Reason:
    """Return the causes of disturbed blocks with their numbers."""
    causes = (Reason(ReasonCode.LOAD, (f, counts[f])) for f in get_args(Flag) if counts[f])
    return Reason(ReasonCode.LIST, tuple(causes))
