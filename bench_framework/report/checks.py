"""The checks of data quality, computed from the record."""

import itertools
import math
import shlex
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from bench_framework.model.plan.plan import Role
from bench_framework.model.record import contention
from bench_framework.model.record.description import Setting, settings_with
from bench_framework.model.record.run import Block, Event
from bench_framework.report.blocks import Check, Mark
from bench_framework.report.context import ReportData, span
from bench_framework.report.failed_runs import FAILED, event_text
from bench_framework.text.answers import how_compared
from bench_framework.text.names import listed
from bench_framework.text.numbers import fixed, format_percent, format_size, percent, percent_up
from bench_framework.text.reasons import phrase
from bench_framework.text.words import noun
from bench_framework.text.write import render
from bench_framework.units import THIN_SPACE, counted

N = TypeVar("N", int, float)
Answer = tuple[bool, str] | None
"""True for a check that passes, and a figure; `None` if this machine does not provide it."""
LOW_MEMORY: Final = 0.1
"""Smallest share of available RAM. Below it, the page cache competes with the program."""
MANY: Final = 0.1
"""Share of flagged samples above which the report warns (BX321)."""
STEADY: Final = 0.05
"""Largest relative difference between the lowest and the highest clock frequency that passes."""
FEWEST_CLOCKS: Final = 2
BUSY: Final = 0.5
"""Load per core before the record. The check warns above this value."""
DRIFT, FALLBACK, LIMITED, UNTRACED = "BX320", "BX305", "BX312", "BX353"
"""Codes of warnings that are also checks (docs/reference/codes.md)."""
CHECKED: Final = frozenset(
    (DRIFT, FALLBACK, LIMITED, *(f"BX{n}" for n in (321, 330, 331, 334, 335, 340, 341, 342)))
)
"""Codes of all warnings that a check states."""
FIRST: Final = frozenset((FAILED, "BX345"))
"""Warnings that come first: failures, and the test that gave the verdicts."""


def checks(data: ReportData) -> tuple[Check, ...]:
    """Return all checks, in a fixed order."""
    hyperfine = f"hyperfine {data.host.hyperfine.removeprefix('hyperfine ')}, no shell"
    shell = any(cell.shell for cell in data.plan.cells)
    return (
        _outputs(data),
        _rounds(data),
        *_race(data),
        _order(data),
        *noise_floors(data),
        _drift(data),
        _modes(data),
        *_limited(data),
        *_caches(data),
        *(_machine_check(label, answer(data)) for label, answer in _MACHINE.items()),
        Check("pass", "timed by", "a shell" if shell else hyperfine),
    )


def doubts(data: ReportData) -> list[str]:
    """Return a line for each warning of the data: failures, checks that do not pass, other events.

    The noise floor is not among them, because the page states it separately.
    """
    floors = noise_floors(data)
    known = (c for c in checks(data) if c not in floors) if data.blocks else ()
    lines = [f"{c.label}: {c.figure}" for c in known if c.mark in {"warn", "fail"}]
    others = [event for event in data.warnings if event.code not in CHECKED]
    texts = [(event.code, event_text(data, event)) for event in others]
    first = [text for code, text in texts if code in FIRST]
    return [*first, *lines, *(text for code, text in texts if code not in FIRST)]


def _caches(data: ReportData) -> tuple[Check, ...]:
    """Return one check per requested cache state: verified samples and reads from the device."""
    if not any(item.name for item in data.plan.inputs):
        return (Check("unknown", "page cache", "unknown: the programs read no input"),)
    requested = dict.fromkeys(cell.cache for cell in data.plan.cells)
    return tuple(_cache(data, state, several=len(requested) > 1) for state in requested)


def _cache(data: ReportData, state: str, *, several: bool) -> Check:
    label = f"page cache, {state}" if several else "page cache"
    cells = {cell.id for cell in data.plan.cells if cell.cache == state}
    blocks = [b for b in data.measured_blocks if b.cell_id in cells]
    checked = [(b, b.page_cache) for b in blocks if b.page_cache is not None]
    if not checked or state == "unknown":
        missing = "requested" if state == "unknown" else "checked"
        return Check("unknown", label, f"{state}; not {missing}")
    failed = [(b.round, cache.why) for b, cache in checked if cache.state != state]
    shares = _known(cache.resident_before for _, cache in checked)
    resident = "share of the input in memory unknown"
    if shares:
        least, most = (format_percent(f(shares), decimals=1) for f in (min, max))
        share = least if least == most else f"{least} to {most}"
        resident = f"{share} of the input in memory before the sample"
    figure = "" if several else f"{state}: "
    figure += f"{len(checked) - len(failed)} of {len(blocks)} samples verified"
    figure += f"; {resident}; {_device(data, [b for b, _ in checked])}"
    if failed:
        figure += ". Not verified in round {}: {}".format(*failed[0])
    mark: Mark = "fail" if state == "cold" else "warn"
    return Check("pass" if len(checked) == len(blocks) and not failed else mark, label, figure)


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
    of_input = f" (input {format_size(sizes.pop(), family)})" if len(sizes) == 1 else ""
    median = format_size(statistics.median(reading), family)
    count = f"{len(reading)} of {len(sizes_read)} samples read from the device"
    return f"{count}, median {median}{of_input}"


def _known(values: Iterable[N | None]) -> list[N]:
    return [value for value in values if value is not None]


def _machine_check(label: str, answer: Answer) -> Check:
    if answer is None:
        return Check("unknown", label, "not available on this machine")
    return Check("pass" if answer[0] else "warn", label, answer[1])


def _cores(data: ReportData) -> Answer:
    """Return the check of other processes, with the number of all flagged samples."""
    blocks = data.measured_blocks
    others = _known(b.sensors.other_cpu_us for b in blocks)
    capacity = sum(_known(b.sensors.cpu_capacity_us for b in blocks))
    if not others or not capacity:
        return None
    flagged = [flags for b in blocks if (flags := contention.flags(b))]
    counts = Counter(itertools.chain.from_iterable(flagged))
    causes = f" ({phrase(contention.loads(counts))})" if set(counts) - {"cpu"} else ""
    return len(flagged) <= MANY * len(blocks), (
        f"other processes used {percent(sum(others) / capacity)} of the CPU time; "
        f"{len(flagged)} of {len(blocks)} samples flagged as disturbed{causes}, none excluded"
    )


def _steal(data: ReportData) -> Answer:
    ticks = _known(b.sensors.steal_ticks for b in data.measured_blocks)
    if not any(ticks):
        return (True, "the host withheld no CPU time") if ticks else None
    total = f"{fixed(sum(ticks) * contention.TICK_S, 2)}{THIN_SPACE}s"
    flagged = sum("steal" in contention.flags(b) for b in data.measured_blocks)
    runs = counted(sum(map(bool, ticks)), "run")
    figure = f"the host withheld CPU time during {runs}, {total} in total"
    return flagged <= MANY * len(ticks), figure


def _memory(data: ReportData) -> Answer:
    free = _known(b.sensors.mem_available_bytes for b in data.blocks)
    if not free:
        return None
    waits = _known(b.sensors.psi_memory_us for b in data.measured_blocks)
    figure = f"at least {format_size(min(free))} available"
    figure += f"; {fixed(sum(waits) / 1e6, 1)}{THIN_SPACE}s of memory pressure" if waits else ""
    short = any("memory" in contention.flags(b) for b in data.measured_blocks)
    return min(free) >= LOW_MEMORY * data.host.ram_bytes and not short, figure


def _swap(data: ReportData) -> Answer:
    pages_in = _known(b.sensors.swap_in_pages for b in data.measured_blocks)
    pages_out = _known(b.sensors.swap_out_pages for b in data.measured_blocks)
    flagged = sum("swap" in contention.flags(b) for b in data.measured_blocks)
    figure = f"{sum(pages_in)} pages in, {sum(pages_out)} pages out (all processes)"
    figure += f"; {counted(flagged, 'sample')} flagged" if flagged else ""
    return (not flagged, figure) if pages_in and pages_out else None


def _throttling(data: ReportData) -> Answer:
    events = _known(b.sensors.throttle_events for b in data.measured_blocks)
    hit = sum(map(bool, events))
    figure = f"in none of {len(events)} samples"
    if hit:
        figure = f"a CPU was throttled {sum(events)} times, in {hit} of {len(events)} samples"
    return (not hit, figure) if events else None


def _clock(data: ReportData) -> Answer:
    clocks = _known(b.sensors.cpu_mhz for b in data.measured_blocks)
    if len(clocks) < FEWEST_CLOCKS:
        return None
    least, most = min(clocks), max(clocks)
    span = f"{fixed(least / 1000, 2)} to {fixed(most / 1000, 2)}{THIN_SPACE}GHz"
    return most <= least * (1 + STEADY), f"{span} (first CPU, just after a sample)"


def _load(data: ReportData) -> Answer:
    load, cores = data.host.load1, data.host.cores
    if load is None:
        return None
    # What the load did during the runs is in the checks of contention.
    return load <= BUSY * cores, f"load {fixed(load, 2)} on {cores} cores before the start"


def _governor(data: ReportData) -> Answer:
    governor = data.host.governor
    return None if governor is None else (governor == "performance", governor)


_MACHINE: Final[Mapping[str, Callable[[ReportData], Answer]]] = {
    "CPU contention": _cores,
    "CPU steal": _steal,
    "free memory": _memory,
    "swapping": _swap,
    "throttling": _throttling,
    "clock frequency": _clock,
    "other load": _load,
    "governor": _governor,
}


def _outputs(data: ReportData) -> Check:
    kind = how_compared(data.plan.answer)
    if data.plan.benches is not None:
        return Check("unknown", "outputs", "benchmarks have none")
    if kind == "none":
        rule = ": the scenario says `none`" if data.plan.scenario_path else ""
        return Check("warn", "outputs", f"not compared{rule}")
    if data.judgement.outputs_empty:
        return Check("warn", "outputs", f"empty, so no results were compared (comparison: {kind})")
    if data.outputs_differ:
        return Check("warn", "outputs", f"different, compared all the same (comparison: {kind})")
    bounds = {cell.id for cell in data.plan.cells if cell.role is Role.BOUND}
    states = {"measured", "other-output", "not-comparable"}
    answered = [s for s in data.judgement.states if s.state in states]
    measured = [s for s in answered if s.cell_id not in bounds]
    separate = len(answered) - len(measured)
    controls = _with_controls(data, [s.cell_id for s in measured])
    rest = f"; {counted(separate, 'bound')} checked separately" if separate else ""
    other = sum(s.state == "other-output" for s in measured)
    shares = [b.answer.differing or 0.0 for b in data.measured_blocks if b.answer is not None]
    most = max(shares, default=0.0)
    lead = f"at most {percent_up(most)} of the lines differ, tolerated" if most else "equal"
    how = f" (comparison: {kind})"
    if check := data.plan.answer.check:
        lead, how = f"each accepted by `{shlex.join(check)}`", ", not compared with each other"
    figure = f"{lead} in {len(measured) - other} of {len(measured)} configurations{controls}"
    return Check("fail" if other else "warn" if most else "pass", "outputs", figure + how + rest)


def _rounds(data: ReportData) -> Check:
    looks = data.judgement.looks
    rounds = [s.rounds for s in data.judgement.states if s.state == "measured"]
    controlled = all(data.plan.control_cell(item.id) for item in data.plan.inputs)
    needed = looks.needed_with(2 + controlled)
    need = f"{needed} are needed for {counted(looks.family, 'comparison')} at level {data.level}"
    enough = min(rounds, default=0) >= needed
    return Check("pass" if enough else "warn", "rounds", f"{span(rounds)}; at least {need}")


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
    rounds: defaultdict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
    for block in (b for b in data.blocks if not b.warmup):
        key = (data.plan.cell(block.cell_id).input_id, block.round)
        rounds[key].append((block.cell_id, block.position))
    if not rounds:
        return Check("unknown", "execution order", "no samples")
    offsets: defaultdict[str, list[float]] = defaultdict(list)
    for members in rounds.values():  # rounds of a race become smaller
        middle = max(position for _, position in members) / 2
        for cell_id, position in members:
            offsets[cell_id].append(position - middle)
    largest = max(abs(math.fsum(values) / len(values)) for values in offsets.values())
    figure = (
        f"random, new in every round, seed {data.plan.measure.seed}; the mean position of each "
        f"configuration is at most {fixed(largest, 1)} places from the middle of the round"
    )
    return Check("pass", "execution order", figure)


def noise_floors(data: ReportData) -> list[Check]:
    """Return a check of the noise floor of each judged metric and input."""
    judge, floors = data.plan.judge, list[Check]()
    controls = any(data.plan.control_cell(item.id) for item in data.plan.inputs)
    missing = "too few rounds of the A/A control" if controls else "no A/A control"
    for floor in (f for m in judge.metrics for f in data.judgement.floors if f.metric == m):
        name, margin = noun(floor.metric), judge.margin_of(floor.metric)
        where = data.on_input(data.plan.input(floor.input_id), " on ")
        mark: Mark = "warn"
        if floor.tripped:
            mark, figure = "fail", f"A/A check failed: all verdicts on {name} are withdrawn"
        elif floor.fraction is None:
            figure = f"not measured: {missing}"
        else:
            inside = floor.fraction <= margin
            mark = "pass" if inside else mark
            side = f"{'within' if inside else 'above'} the margin of {format_percent(margin)}"
            figure = f"{percent_up(floor.fraction)}, {side}"
        floors.append(Check(mark, f"noise floor of {name}{where}", figure))
    return floors


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
        return _required_calls(data, label)
    controls = _with_controls(data, [s.cell_id for s in data.judgement.states])
    share = f"{len(reported)} of {len(data.judgement.states)} configurations{controls}"
    return Check("pass", label, f"as requested in {share}, as reported by the programs")


def _required_calls(data: ReportData, label: str) -> Check:
    """Return the check of modes by the system calls that the scenario requires (`calls`)."""
    untraced = {event.cell_id for event in _coded(data, UNTRACED)}
    checked = [
        cell
        for cell in data.plan.cells
        if cell.calls and cell.role is not Role.CONTROL and cell.id not in untraced
        if not data.state(cell.id).refusal
    ]
    if not checked:
        return Check("unknown", label, "not reported by the programs")
    names = listed(sorted({name for cell in checked for name in cell.calls}))
    runs = f"an untimed run of each of {counted(len(checked), 'configuration')}"
    return Check("pass", label, f"{names} succeeded in {runs} that require it")


def _limited(data: ReportData) -> tuple[Check, ...]:
    """Return the check of the programs' builds, if one runs below what the machine offers."""
    descriptions = {build.id: build.describe for build in data.contents.builds if build.describe}
    groups = defaultdict[Setting, dict[str, str]](dict)
    for variant, setting in settings_with("limited", data.plan, descriptions):
        groups[setting][variant.id] = variant.label
    answer = data.claims("answer") or data.claims("main")[:1]
    stated = {"the answer": answer, "the decision": data.claims("recommendation")}
    parts = []
    for setting, labels in groups.items():
        cells = {cell.id for cell in data.plan.cells if cell.variant_id in labels}
        names = [name for name, claims in stated.items() if any(cells & {*c.cells} for c in claims)]
        parts.append(render("limited_builds", [*labels.values()], setting, names))
    # A program that is not built has an event, and no stored description.
    reasons = "; ".join(parts or [event.message for event in _coded(data, LIMITED)])
    return (Check("warn", "builds", reasons),) if reasons else ()


def _with_controls(data: ReportData, cell_ids: list[str]) -> str:
    """Return how many of the configurations are A/A controls, which the plan does not count."""
    number = sum(data.plan.cell(cell).role is Role.CONTROL for cell in cell_ids)
    return f", including {counted(number, 'A/A control')}" if number else ""


def _coded(data: ReportData, code: str) -> list[Event]:
    return [event for event in data.all_events if event.code == code]
