"""Checks of the machine during a record: page cache, CPU, memory and clock frequency."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeVar

from bench_framework.model import contention
from bench_framework.report.blocks import Check, Mark
from bench_framework.report.numbers import percent, show_size
from bench_framework.units import THIN_SPACE, counted, format_percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench_framework.model.run import Block
    from bench_framework.report.context import ReportData

N = TypeVar("N", int, float)
CACHE: Final = "page cache"
LOW_MEMORY: Final = 0.1
"""Smallest share of available RAM. Below it, the page cache competes with the program."""
MANY: Final = 0.1
"""Share of flagged samples above which the report warns (BX321)."""
STEADY: Final = 0.05
"""Largest relative difference between the lowest and the highest clock frequency that passes."""
FEWEST_CLOCKS: Final = 2


def machine_checks(data: ReportData) -> tuple[Check, ...]:
    """Return one check per property of the machine, in a fixed order."""
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
    """Return one check per requested cache state: verified samples and reads from the device."""
    if not any(data.reads(item) for item in data.plan.inputs):
        return (Check("unknown", CACHE, "unknown: the programs read no input"),)
    requested = dict.fromkeys(cell.cache for cell in data.plan.cells)
    return tuple(_cache(data, state, several=len(requested) > 1) for state in requested)


def _cache(data: ReportData, state: str, *, several: bool) -> Check:
    label = f"{CACHE}, {state}" if several else CACHE
    cells = {cell.id for cell in data.plan.cells if cell.cache == state}
    blocks = [b for b in data.measured_blocks if b.cell_id in cells]
    checked = [b for b in blocks if b.page_cache is not None]
    if not checked or state == "unknown":
        missing = "requested" if state == "unknown" else "checked"
        return Check("unknown", label, f"{state}; not {missing}")
    failed = [b for b in checked if b.page_cache is not None and b.page_cache.state != state]
    prefix = "" if several else f"{state}: "
    figure = f"{prefix}{len(checked) - len(failed)} of {len(blocks)} samples verified"
    figure += f"; {_shares(checked)}; {_device(data, checked)}"
    if failed and failed[0].page_cache is not None:
        figure += f". Not verified in round {failed[0].round}: {failed[0].page_cache.why}"
    mark: Mark = "fail" if state == "cold" else "warn"
    return Check("pass" if len(checked) == len(blocks) and not failed else mark, label, figure)


def _shares(blocks: Sequence[Block]) -> str:
    """Return the share of the input that was in memory before the samples."""
    shares = _known(b.page_cache.resident_before for b in blocks if b.page_cache is not None)
    if not shares:
        return "share of the input in memory unknown"
    least, most = (format_percent(f(shares), decimals=1) for f in (min, max))
    return f"{least if least == most else f'{least} to {most}'} of the input in memory before the sample"


def _device(data: ReportData, blocks: Sequence[Block]) -> str:
    """Return the number of samples that read from the device, and their median size."""
    sizes_read = _known(b.sensors.device_bytes for b in blocks)
    if not sizes_read:
        return "reads from the device unknown"
    reading = [size for size in sizes_read if size]
    if not reading:
        return f"none of {len(sizes_read)} samples read from the device"
    family = data.plan.unit_family
    sizes = {
        s for b in blocks if (s := data.input_bytes(data.plan.cell(b.cell_id).input_id)) is not None
    }
    of_input = f" (input {show_size(sizes.pop(), family)})" if len(sizes) == 1 else ""
    median = show_size(statistics.median(reading), family)
    count = f"{len(reading)} of {len(sizes_read)} samples read from the device"
    return f"{count}, median {median}{of_input}"


def _cores(data: ReportData) -> Check:
    """Return the check of other processes, with the number of all flagged samples."""
    blocks = data.measured_blocks
    others = _known(b.sensors.other_cpu_us for b in blocks)
    capacity = sum(_known(b.sensors.cpu_capacity_us for b in blocks))
    if not others or not capacity:
        return Check("unknown", "CPU contention", "not available")
    flagged = [flags for b in blocks if (flags := contention.flags(b))]
    counts = Counter(itertools.chain.from_iterable(flagged))
    parts = [f"{words}: {counts[f]}" for f, words in contention.WORDS.items() if counts[f]]
    causes = f" ({', '.join(parts)})" if set(counts) - {"cpu"} else ""
    figure = (
        f"other processes used {percent(sum(others) / capacity)} of the CPU time; "
        f"{len(flagged)} of {len(blocks)} samples flagged as disturbed{causes}, none excluded"
    )
    many = len(flagged) > MANY * len(blocks)
    return Check("warn" if many else "pass", "CPU contention", figure)


def _steal(data: ReportData) -> Check:
    ticks = _known(b.sensors.steal_ticks for b in data.measured_blocks)
    label = "CPU steal"
    if not ticks:
        return Check("unknown", label, "not available")
    seconds = f"{sum(ticks) * contention.TICK_S:.2f}{THIN_SPACE}s"
    figure = f"{seconds} in {sum(map(bool, ticks))} of {len(ticks)} samples"
    return Check("warn" if any(ticks) else "pass", label, figure)


def _memory(data: ReportData) -> Check:
    free = _known(b.sensors.mem_available_bytes for b in data.blocks)
    if not free:
        return Check("unknown", "free memory", "not available")
    waits = _known(b.sensors.psi_memory_us for b in data.measured_blocks)
    figure = f"at least {show_size(min(free), 'iec')} available"
    if waits:
        figure += f"; {sum(waits) / 1e6:.1f}{THIN_SPACE}s of memory pressure"
    short = any("memory" in contention.flags(b) for b in data.measured_blocks)
    enough = min(free) >= LOW_MEMORY * data.host.ram_bytes and not short
    return Check("pass" if enough else "warn", "free memory", figure)


def _swap(data: ReportData) -> Check:
    pages_in = _known(b.sensors.swap_in_pages for b in data.measured_blocks)
    pages_out = _known(b.sensors.swap_out_pages for b in data.measured_blocks)
    if not pages_in or not pages_out:
        return Check("unknown", "swapping", "not available")
    flagged = sum("swap" in contention.flags(b) for b in data.measured_blocks)
    figure = f"{sum(pages_in)} pages in, {sum(pages_out)} pages out (all processes)"
    figure += f"; {counted(flagged, 'sample')} flagged" if flagged else ""
    return Check("warn" if flagged else "pass", "swapping", figure)


def _throttling(data: ReportData) -> Check:
    events = _known(b.sensors.throttle_events for b in data.measured_blocks)
    if not events:
        return Check("unknown", "throttling", "not available on this machine")
    hit = sum(map(bool, events))
    figure = f"in none of {len(events)} samples"
    if hit:
        figure = f"a CPU was throttled {sum(events)} times, in {hit} of {len(events)} samples"
    return Check("warn" if hit else "pass", "throttling", figure)


def _clock(data: ReportData) -> Check:
    clocks = _known(b.sensors.cpu_mhz for b in data.measured_blocks)
    if len(clocks) < FEWEST_CLOCKS:
        return Check("unknown", "clock frequency", "not available on this machine")
    least, most = min(clocks), max(clocks)
    span = f"{least / 1000:.2f} to {most / 1000:.2f}{THIN_SPACE}GHz"
    figure = f"{span} (first CPU, just after a sample)"
    steady = most <= least * (1 + STEADY)
    return Check("pass" if steady else "warn", "clock frequency", figure)


def _known(values: Iterable[N | None]) -> list[N]:
    return [value for value in values if value is not None]
