"""The checks of data quality, computed from the record."""

import itertools
import math
import shlex
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from bench_framework.model import contention
from bench_framework.model.plan import Role
from bench_framework.model.run import Block, Event
from bench_framework.model.words import noun
from bench_framework.report.blocks import Check, Mark
from bench_framework.report.context import ReportData, span
from bench_framework.report.numbers import margin_text, percent, percent_up, show_size
from bench_framework.units import THIN_SPACE, counted, format_percent

N = TypeVar("N", int, float)
CACHE: Final = "page cache"
LOW_MEMORY: Final = 0.1
"""Smallest share of available RAM. Below it, the page cache competes with the program."""
MANY: Final = 0.1
"""Share of flagged samples above which the report warns (BX321)."""
STEADY: Final = 0.05
"""Largest relative difference between the lowest and the highest clock frequency that passes."""
FEWEST_CLOCKS: Final = 2


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
    sizes = set(_known(map(data.input_bytes, {data.plan.cell(b.cell_id).input_id for b in blocks})))
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
    figure = f"{seconds} taken by the host, in {sum(map(bool, ticks))} of {len(ticks)} samples"
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
    return Check("pass" if (most <= least * (1 + STEADY)) else "warn", "clock frequency", figure)


def _known(values: Iterable[N | None]) -> list[N]:
    return [value for value in values if value is not None]


DRIFT, FALLBACK, LIMITED = "BX320", "BX305", "BX312"
"""Codes of warnings that are also checks (docs/reference/codes.md)."""
CHECKED: Final = frozenset(
    (DRIFT, FALLBACK, LIMITED, *(f"BX{n}" for n in (321, 330, 331, 334, 335, 340, 341, 342)))
)
"""Codes of all warnings that a check states."""
BUSY = 0.5
"""Load per core before the record. The check warns above this value."""


def checks(data: ReportData) -> tuple[Check, ...]:
    """Return all checks, in a fixed order."""
    return (
        _outputs(data),
        _rounds(data),
        *_race(data),
        _order(data),
        *_floors(data),
        _drift(data),
        _modes(data),
        *_limited(data),
        *_caches(data),
        _cores(data),
        _steal(data),
        _memory(data),
        _swap(data),
        _throttling(data),
        _clock(data),
        _load(data),
        _governor(data),
        _tools(data),
    )


def doubts(data: ReportData) -> list[str]:
    """Return a line for each warning of the data: checks that do not pass, and other events.

    The noise floor is not among them, because the page states it separately.
    """
    failed = [c for c in checks(data) if c.mark in {"warn", "fail"}] if data.blocks else []
    lines = [f"{c.label}: {c.figure}" for c in failed if not c.label.startswith("noise floor")]
    return [*lines, *(e.message for e in data.warnings if e.code not in CHECKED)]


def _outputs(data: ReportData) -> Check:
    kind = data.plan.answer.how
    if kind == "none":
        return Check("warn", "outputs", "not compared: the scenario says `none`")
    bounds = {cell.id for cell in data.plan.cells if cell.role.separate}
    states = {"measured", "other-output", "not-comparable"}
    answered = [s for s in data.judgement.states if s.state in states]
    measured = [s for s in answered if s.cell_id not in bounds]
    separate = len(answered) - len(measured)
    controls = _with_controls(data, [s.cell_id for s in measured])
    rest = f"; {separate} bounds and anchors checked separately" if separate else ""
    other = sum(1 for s in measured if s.state == "other-output")
    if any(event.code == "BX334" for event in data.warnings):
        return Check("warn", "outputs", f"different, compared all the same (comparison: {kind})")
    shares = [b.answer.differing or 0.0 for b in data.measured_blocks if b.answer is not None]
    most = max(shares, default=0.0)
    lead = f"at most {percent_up(most)} of the lines differ, tolerated" if most else "equal"
    how = f" (comparison: {kind})"
    if check := data.plan.answer.check:
        lead, how = f"each accepted by `{shlex.join(check)}`", ", not compared with each other"
    equal = f"{lead} in {len(measured) - other} of {len(measured)} configurations{controls}"
    figure = f"{equal}{how}{rest}"
    return Check("fail" if other else "warn" if most else "pass", "outputs", figure)


def _rounds(data: ReportData) -> Check:
    looks = data.judgement.looks
    rounds = [s.rounds for s in data.judgement.states if s.state == "measured"]
    least = min(rounds, default=0)
    need = f"{looks.needed} are needed for {looks.family} comparisons at level {data.level}"
    figure = f"{span(rounds)}; at least {need}"
    return Check("pass" if least >= looks.needed else "warn", "rounds", figure)


def _race(data: ReportData) -> tuple[Check, ...]:
    """Return the check that each dropped variant is worse than another one."""
    race = data.judgement.race
    if race is None:
        return ()
    beaten = [lost for lost in race.lost if lost.beaten]
    unexplained = [lost for lost in beaten if lost.to_cell_id is None]
    early = len(race.lost) - len(beaten)
    figure = f"{race.runs} of {race.fixed} runs"
    figure += f"; {len(beaten)} dropped as worse, {early} finished early"
    if unexplained:
        names = ", ".join(data.label(lost.cell_id) for lost in unexplained)
        figure += f"; the variant that beat {names} failed later"
    return (Check("warn" if unexplained else "pass", "dropped variants", figure),)


def _order(data: ReportData) -> Check:
    """Return the largest distance of a mean position from the middle of its round."""
    rounds: dict[tuple[str, int], list[tuple[str, int]]] = {}
    for block in data.blocks:
        if not block.warmup:
            key = (data.plan.cell(block.cell_id).input_id, block.round)
            rounds.setdefault(key, []).append((block.cell_id, block.position))
    if not rounds:
        return Check("unknown", "execution order", "no samples")
    offsets: dict[str, list[float]] = {}
    for members in rounds.values():  # rounds of a race become smaller
        middle = max(position for _, position in members) / 2
        for cell_id, position in members:
            offsets.setdefault(cell_id, []).append(position - middle)
    largest = max(abs(math.fsum(values) / len(values)) for values in offsets.values())
    figure = (
        f"random, new in every round, seed {data.plan.measure.seed}; the mean position of each "
        f"configuration is at most {largest:.1f} places from the middle of the round"
    )
    return Check("pass", "execution order", figure)


def _floors(data: ReportData) -> tuple[Check, ...]:
    floors = []
    for metric in data.plan.judge.metrics:
        margin = data.plan.judge.margin_of(metric)
        for floor in (f for f in data.judgement.floors if f.metric == metric):
            where = data.on_input(data.plan.input(floor.input_id), " on ")
            label = f"noise floor of {noun(metric)}{where}"
            mark: Mark = "fail" if floor.tripped else "warn"
            if floor.tripped:
                figure = f"A/A check failed: all verdicts on {noun(metric)} are withdrawn"
            elif floor.fraction is None:
                figure = f"not measured: {data.no_floor}"
            else:
                inside = floor.fraction <= margin
                mark = "pass" if inside else mark
                side = f"{'within' if inside else 'above'} the margin of {margin_text(margin)}"
                figure = f"{percent_up(floor.fraction)}, {side}"
            floors.append(Check(mark, label, figure))
    return tuple(floors)


def _drift(data: ReportData) -> Check:
    drifts = _coded(data, DRIFT)
    figure = drifts[0].message if drifts else "none detected over the rounds"
    return Check("warn" if drifts else "pass", "drift", figure)


def _modes(data: ReportData) -> Check:
    label = "actual modes"
    fallen = _coded(data, FALLBACK)
    reported = [s for s in data.judgement.states if s.effective]
    if fallen:
        return Check("fail", label, f"{counted(len(fallen), 'fallback')}: {fallen[0].message}")
    if not reported:
        return Check("unknown", label, "not reported by the programs")
    controls = _with_controls(data, [s.cell_id for s in data.judgement.states])
    share = f"{len(reported)} of {len(data.judgement.states)} configurations{controls}"
    return Check("pass", label, f"as requested in {share}, as reported by the programs")


def _limited(data: ReportData) -> tuple[Check, ...]:
    """Return the check of the programs' builds, if one runs below what the machine offers."""
    reasons = "; ".join(event.message for event in _coded(data, LIMITED))
    return (Check("warn", "builds for this machine", reasons),) if reasons else ()


def _with_controls(data: ReportData, cell_ids: list[str]) -> str:
    """Return how many of the configurations are A/A controls, which the plan does not count."""
    number = sum(data.plan.cell(cell).role is Role.CONTROL for cell in cell_ids)
    return f", including {counted(number, 'A/A control')}" if number else ""


def _coded(data: ReportData, code: str) -> list[Event]:
    return [event for event in data.all_events if event.code == code]


def _load(data: ReportData) -> Check:
    load = data.host.load1
    if load is None:
        return Check("unknown", "other load", "not available")
    figure = f"load {load:.2f} on {data.host.cores} cores before the start"
    return Check("warn" if load > BUSY * data.host.cores else "pass", "other load", figure)


def _governor(data: ReportData) -> Check:
    governor = data.host.governor
    if governor is None:
        return Check("unknown", "governor", "not available on this machine")
    return Check("pass" if governor == "performance" else "warn", "governor", governor)


def _tools(data: ReportData) -> Check:
    hyperfine = f"hyperfine {data.host.hyperfine.removeprefix('hyperfine ')}, no shell"
    shell = any(cell.shell for cell in data.plan.cells)
    return Check("pass", "timed by", "a shell" if shell else hyperfine)
