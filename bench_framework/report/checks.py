"""The checks of data quality, computed from the record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bench_framework.model.plan import Role
from bench_framework.model.words import noun
from bench_framework.report.blocks import Check, Mark
from bench_framework.report.context import ReportData, span
from bench_framework.report.machine_checks import machine_checks
from bench_framework.report.numbers import margin_text, percent_up

if TYPE_CHECKING:
    from bench_framework.model.run import Event

DRIFT, FALLBACK, LIMITED = "BX320", "BX305", "BX312"
"""Codes of warnings that are also checks (docs/reference/codes.md)."""
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
        *machine_checks(data),
        _load(data),
        _governor(data),
        _tools(data),
    )


def _outputs(data: ReportData) -> Check:
    kind = data.plan.answer.compare
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
    equal = f"equal in {len(measured) - other} of {len(measured)} configurations{controls}"
    figure = f"{equal} (comparison: {kind}){rest}"
    return Check("fail" if other else "pass", "outputs", figure)


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
    figure = (
        f"{race.runs} of {race.fixed} runs; {len(beaten)} dropped as worse, {early} finished early"
    )
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
            name = data.on_input(data.plan.input(floor.input_id), ", ")
            label = f"noise floor, {noun(metric)}{name}"
            mark: Mark = "warn"
            if floor.tripped:
                mark = "fail"
                figure = f"A/A check failed: all verdicts on {noun(metric)} are withdrawn"
            elif floor.fraction is None:
                figure = f"not measured: {data.no_floor}"
            else:
                mark = "pass" if floor.fraction <= margin else "warn"
                place = "within" if mark == "pass" else "above"
                figure = (
                    f"{percent_up(floor.fraction)}, {place} the margin of {margin_text(margin)}"
                )
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
        number = f"{len(fallen)} fallback{'s' if len(fallen) > 1 else ''}"
        return Check("fail", label, f"{number}: {fallen[0].message}")
    if not reported:
        return Check("unknown", label, "not reported by the programs")
    controls = _with_controls(data, [s.cell_id for s in data.judgement.states])
    number = (
        f"as requested in {len(reported)} of {len(data.judgement.states)} configurations{controls}"
    )
    return Check("pass", label, f"{number}, as reported by the programs")


def _limited(data: ReportData) -> tuple[Check, ...]:
    """Return the check of the programs' builds, if one runs below what the machine offers."""
    reasons = "; ".join(event.message for event in _coded(data, LIMITED))
    return (Check("warn", "builds for this machine", reasons),) if reasons else ()


def _with_controls(data: ReportData, cell_ids: list[str]) -> str:
    """Return how many of the configurations are A/A controls, which the plan does not count."""
    number = sum(data.plan.cell(cell).role is Role.CONTROL for cell in cell_ids)
    return f", including {number} A/A control{'s' if number != 1 else ''}" if number else ""


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
