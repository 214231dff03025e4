"""What the machine did during a record: its caches, cores, memory and clock, each a line of the check list."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from typing import TYPE_CHECKING, Final

from bench_framework.model import contention
from bench_framework.report.blocks import Check, Mark
from bench_framework.report.numbers import show_size
from bench_framework.units import THIN_SPACE, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench_framework.model.run import Block
    from bench_framework.report.context import ReportData

CACHE: Final = "cache state as requested"
LOW_MEMORY: Final = 0.1
"""Below this share of RAM left, the page cache competes with the measured program."""
MANY: Final = 0.1
"""Share of flagged blocks that is worth a warning (BX321)."""
STEADY: Final = 0.05
"""Of the clock: between its lowest and its highest value, what can still be called one clock."""
FEWEST_CLOCKS: Final = 2


def machine_checks(data: ReportData) -> tuple[Check, ...]:
    """One line per question, in a fixed order."""
    return (
        *_caches(data),
        _cores(data),
        _steal(data),
        _memory(data),
        _swap(data),
        _throttling(data),
        _clock(data),
    )


def _caches(data: ReportData) -> tuple[Check, ...]:
    """A line per state that the plan asks for: how many runs were seen to begin in it, and what the device gave."""
    if not any(data.reads(item) for item in data.plan.inputs):
        return (Check("unknown", CACHE, "no input whose state could be told"),)
    asked = dict.fromkeys(cell.cache for cell in data.plan.cells)
    return tuple(_cache(data, state, several=len(asked) > 1) for state in asked)


def _cache(data: ReportData, state: str, *, several: bool) -> Check:
    label = f"{CACHE}, {state}" if several else CACHE
    cells = {cell.id for cell in data.plan.cells if cell.cache == state}
    blocks = [b for b in data.measured_blocks if b.cell_id in cells]
    looked = [b for b in blocks if b.page_cache is not None]
    if not looked or state == "unknown":
        return Check(
            "unknown", label, f"{state}; not {'asked for' if state == 'unknown' else 'looked at'}"
        )
    against = [b for b in looked if b.page_cache is not None and b.page_cache.state != state]
    seen = f"{'' if several else f'{state}: '}{len(looked) - len(against)} of {len(blocks)} blocks seen to be"
    figure = f"{seen}; {_shares(looked)}; {_device(data, looked)}"
    if against and against[0].page_cache is not None:
        figure += f". Not verified in round {against[0].round}: {against[0].page_cache.why}"
    mark: Mark = (
        "pass"
        if len(looked) == len(blocks) and not against
        else "fail"
        if state == "cold"
        else "warn"
    )
    return Check(mark, label, figure)


def _shares(blocks: Sequence[Block]) -> str:
    """How much of the input lay in memory before the blocks."""
    shares = [
        b.page_cache.resident_before
        for b in blocks
        if b.page_cache is not None and b.page_cache.resident_before is not None
    ]
    if not shares:
        return "what lay in memory is not told"
    least, most = (format_percent(f(shares), decimals=1) for f in (min, max))
    return f"{least if least == most else f'{least} to {most}'} of the input in memory before"


def _device(data: ReportData, blocks: Sequence[Block]) -> str:
    """What the device gave to a block, at the median, and to how many."""
    told = [b.sensors.device_bytes for b in blocks if b.sensors.device_bytes is not None]
    if not told:
        return "what the device gave is not told"
    reading = [size for size in told if size]
    if not reading:
        return f"none of {len(told)} read from the device"
    family = data.plan.unit_family
    sizes = {
        s for b in blocks if (s := data.input_bytes(data.plan.cell(b.cell_id).input_id)) is not None
    }
    of_input = f" (input {show_size(sizes.pop(), family)})" if len(sizes) == 1 else ""
    median = show_size(statistics.median(reading), family)
    return f"{len(reading)} of {len(told)} read from the device, {median} at the median{of_input}"


def _cores(data: ReportData) -> Check:
    """Waiting for a core, and every block that was flagged."""
    blocks = data.measured_blocks
    waits = [b.sensors.psi_cpu_us for b in blocks if b.sensors.psi_cpu_us is not None]
    if not waits:
        return Check("unknown", "cores free", "waiting for a core was not read")
    found = [flags for b in blocks if (flags := contention.flags(b))]
    counts = Counter(itertools.chain.from_iterable(found))
    told = ", ".join(
        f"{words}: {counts[flag]}" for flag, words in contention.WORDS.items() if counts[flag]
    )
    figure = (
        f"{sum(waits) / 1e6:.1f}{THIN_SPACE}s of waiting over {len(waits)} blocks; {len(found)} blocks flagged"
        f"{f' ({told})' if told else ''}, none left out"
    )
    return Check("warn" if len(found) > MANY * len(blocks) else "pass", "cores free", figure)


def _steal(data: ReportData) -> Check:
    ticks = _told(b.sensors.steal_ticks for b in data.measured_blocks)
    label = "no time stolen by the hypervisor"
    if not ticks:
        return Check("unknown", label, "not read")
    figure = f"{sum(ticks) * contention.TICK_S:.2f}{THIN_SPACE}s in {sum(map(bool, ticks))} of {len(ticks)} blocks"
    return Check("warn" if any(ticks) else "pass", label, figure)


def _memory(data: ReportData) -> Check:
    free = _told(b.sensors.mem_available_bytes for b in data.blocks)
    if not free:
        return Check("unknown", "enough free memory", "not read")
    waits = _told(b.sensors.psi_memory_us for b in data.measured_blocks)
    figure = f"never below {show_size(min(free), 'iec')}"
    if waits:
        figure += f"; {sum(waits) / 1e6:.1f}{THIN_SPACE}s of waiting for memory"
    short = any("memory" in contention.flags(b) for b in data.measured_blocks)
    enough = min(free) >= LOW_MEMORY * data.host.ram_bytes and not short
    return Check("pass" if enough else "warn", "enough free memory", figure)


def _swap(data: ReportData) -> Check:
    pages_in = _told(b.sensors.swap_in_pages for b in data.measured_blocks)
    pages_out = _told(b.sensors.swap_out_pages for b in data.measured_blocks)
    if not pages_in or not pages_out:
        return Check("unknown", "no swapping", "not read")
    flagged = sum("swap" in contention.flags(b) for b in data.measured_blocks)
    figure = (
        f"{sum(pages_in)} pages in, {sum(pages_out)} out, by any process; {flagged} blocks flagged"
    )
    return Check("warn" if flagged else "pass", "no swapping", figure)


def _throttling(data: ReportData) -> Check:
    events = _told(b.sensors.throttle_events for b in data.measured_blocks)
    if not events:
        return Check("unknown", "no throttling", "this machine tells of none")
    hit = sum(map(bool, events))
    figure = f"a CPU was slowed down {sum(events)} times, in {hit} of {len(events)} blocks"
    return Check(
        "warn" if hit else "pass",
        "no throttling",
        figure if hit else f"in none of {len(events)} blocks",
    )


def _clock(data: ReportData) -> Check:
    clocks = [b.sensors.cpu_mhz for b in data.measured_blocks if b.sensors.cpu_mhz is not None]
    if len(clocks) < FEWEST_CLOCKS:
        return Check("unknown", "clock steady", "not readable here")
    least, most = min(clocks), max(clocks)
    figure = f"{least / 1000:.2f} to {most / 1000:.2f}{THIN_SPACE}GHz, of the first CPU just after a block"
    return Check("pass" if most <= least * (1 + STEADY) else "warn", "clock steady", figure)


def _told(values: Iterable[int | None]) -> list[int]:
    return [value for value in values if value is not None]
