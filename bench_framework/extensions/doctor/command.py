"""``benchctl doctor``: check whether this machine is fit to measure, how noisy it is, and what would help."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Option

from bench_framework.cli.console import Console, table_lines
from bench_framework.errors import UsageError
from bench_framework.text.lines import wrap
from bench_framework.text.numbers import format_clock, format_percent
from bench_framework.units import counted, parse_duration

if TYPE_CHECKING:
    from bench_framework.execution.machine.settings import QuietMachine
    from bench_framework.extensions.doctor.documents import NoiseDocument
    from bench_framework.extensions.doctor.noise_rates import DetectionRate, Rate, WindowVerdicts


FLOOR: Final = (
    "Noise floor: largest difference that the 95 % interval between equal programs leaves possible. "
    "Median window (worst)."
)
INJECTED: Final = (
    "Injected slowdown (the program does more work): windows that reported it as slower in wall or "
    "CPU time, tested together at {level}; the lower 95 % confidence bound of that share; then each "
    "metric separately. Size: typical change, median of the windows."
)


def noise_page(findings: NoiseDocument, width: int) -> str:
    """Return the page as text with lines of at most `width` columns, except for the tables."""
    if not findings.windows:
        return "No window was measured: the noise of this machine is unknown."
    level, windows = format_percent(findings.level), findings.windows
    rate, measured = findings.false_verdicts_relabelled, findings.false_verdicts_as_measured
    programs = "; ".join(
        f"{name} ({p.about}{'' if p.control_is_a_copy else '; its copy is the same file'})"
        for name, p in findings.programs.items()
    )
    pinned = f" Pinned to CPUs: {findings.cpus}." if findings.cpus else ""
    end = ", stopped early" if findings.interrupted or findings.failure else ""
    head = (
        f"A/A check of this machine: {counted(windows, 'window')} of {findings.rounds_per_window} rounds in "
        f"{format_clock(findings.elapsed_s)}{end}. Programs: {programs}.{pinned}"
    )
    false = (
        f"{counted(rate.count, 'false positive')} in {rate.tries} A/A families: at most "
        f"{_share(rate.at_most)} with 95 % confidence; allowed: {level}."
    )
    independence = (
        f"The families reuse the rounds of {counted(windows, 'independent window')}, with the labels "
        "of two equal programs exchanged at random; they test the statistics on this machine's "
        f"noise. With the original labels, {measured.count} of {counted(measured.tries, 'window')} "
        "reported a difference between a program and its copy: at most "
        f"{_share(measured.at_most)} with 95 % confidence."
    )
    floors = [
        (f.program, f.metric.replace("cpu", "CPU"), _floor(f.median), f"({_floor(f.worst)})")
        for f in findings.noise_floors
    ]
    lines = [
        *wrap(head, width),
        "",
        *wrap(false, width),
        *wrap(independence, width, INDENT, INDENT),
        "",
        *wrap(FLOOR, width),
        *_indented([("program", "metric", "median", "worst"), *floors]),
        "",
        *wrap(INJECTED.format(level=level), width),
        *_indented([RATES, *map(_rates, findings.injected)]),
        "",
        *wrap(_noise_conclusion(findings), width),
    ]
    return "\n".join(lines)


RATES: Final = ("program", "more", "detected", "at least", "wall", "size", "CPU", "size")


def _rates(effect: DetectionRate) -> tuple[str, ...]:
    cells = [effect.program, f"+{format_percent(effect.effect)}", _counts(effect.found)]
    cells.append(_share(effect.found.at_least, up=False))
    for metric in ("wall", "cpu"):
        size, text = effect.estimate.get(metric), "unknown"
        if size is not None:
            text = ("+" if size >= 0 else "") + format_percent(size, decimals=1)
        cells += [_counts(effect.found_on[metric]), text]
    return tuple(cells)


def _noise_conclusion(findings: NoiseDocument) -> str:
    if findings.refuted:
        return (
            "Equal programs were reported as different in more than "
            f"{format_percent(findings.level)} of the tests: verdicts of this machine are not "
            "reliable. Fix what `benchctl doctor` reports, then repeat this check."
        )
    weak = [f for f in findings.injected if f.found.count < f.found.tries]
    if not weak:
        within = "the rate of false positives is within the limit"
        return f"Every injected slowdown was detected, and {within}."
    smallest = ", ".join(f"+{format_percent(f.effect)} of {f.program}" for f in weak)
    return (
        f"Not always detected: {smallest}. More rounds or a quieter machine (`benchctl doctor "
        "--tune`) detect smaller differences."
    )


def _counts(rate: Rate) -> str:
    return f"{rate.count} of {rate.tries}"


def _share(fraction: float, *, up: bool = True) -> str:
    """Return a bound in percent with one decimal, rounded up or down to the conservative side."""
    tenths = fraction * 1000
    whole = -int(-tenths // 1) if up else int(tenths)
    return format_percent(whole / 1000, decimals=1)


def _floor(value: float | None) -> str:
    return "unbounded" if value is None else format_percent(value, decimals=1)


def _indented(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    return (INDENT + line for line in table_lines(rows, right=True))


EXAMPLES = """
benchctl doctor
benchctl doctor --json | jq '.checks[] | select(.state != "ok")'
benchctl doctor --aa --for 15m
benchctl doctor --tune
benchctl doctor --aa --for 2m --cpus 1
--tune shows commands and runs none of them.
Ctrl-C ends --aa when the running program ends, and prints the results so far.
"""
GLYPHS = {"ok": "✓", "warn": "⚠", "bad": "✕", "quiet": "✓", "noisy": "⚠", "unknown": "·"}
ASCII = {"ok": "+", "warn": "!", "bad": "x", "quiet": "+", "noisy": "!", "unknown": "-"}
INDENT = " " * 4


def doctor(
    context: typer.Context,
    aa: Annotated[
        bool,
        Option(
            "--aa",
            help="Run an A/A check: measure false positives, the noise floor and which injected "
            "slowdowns are detected.",
        ),
    ] = False,
    how_long: Annotated[
        str | None,
        Option("--for", metavar="TIME", help="Duration of --aa, such as 15m; default: 1m."),
    ] = None,
    cpus: Annotated[
        str | None,
        Option(
            "--cpus",
            metavar="LIST",
            help="CPUs that --aa pins its programs to, and to which --tune refers: 0,2-3.",
        ),
    ] = None,
    tune: Annotated[
        bool,
        Option(
            "--tune",
            help="Show which CPUs to pin programs to, and commands that reduce noise: governor, "
            "turbo, SMT, isolation, ASLR, interrupts, huge pages, swap. Also show the commands that "
            "restore the settings. No setting is changed.",
        ),
    ] = False,
) -> None:
    """Check whether this machine is fit to measure; print the effect of each problem and its fix."""
    console: Console = context.obj
    cpus = _cpu_list(cpus)
    if aa and tune:
        raise UsageError("BX100.aa-and-tune")
    if aa:
        _measure_noise(console, _seconds(how_long), cpus)
        return
    if how_long is not None:
        raise UsageError("BX100.for-without-aa")
    if tune:
        _show_settings(console, cpus)
        return
    if cpus is not None:
        raise UsageError("BX100.cpus-without-aa", cpus=cpus)
    _examine(console)


def _examine(console: Console) -> None:
    from bench_framework.execution.machine.checks import examine_machine

    checks = examine_machine(console.results)
    if console.json:
        from bench_framework.extensions.doctor.documents import ChecksDocument

        console.emit_json(ChecksDocument(checks))
        return
    glyphs = GLYPHS if console.unicode else ASCII
    for check in checks:
        console.emit_sentence(f"{glyphs[check.state]} {check.name}: {check.figure}")
        if check.meaning:
            console.emit("\n".join(wrap(check.meaning, console.width, INDENT, INDENT)))
        if check.fix and check.state != "ok":
            console.emit("\n".join(wrap(f"fix: {check.fix}", console.width, INDENT, INDENT)))
    states = [check.state for check in checks]
    conclusion = "This machine is fit to measure."
    if bad := states.count("bad"):
        marked = f"{counted(bad, 'check')} marked {glyphs['bad']}"
        conclusion = f"This machine cannot measure yet: fix {marked}."
    elif warned := states.count("warn"):
        conclusion = f"This machine can measure, with {counted(warned, 'warning')}."
    console.emit_sentence(conclusion)


def _show_settings(console: Console, cpus: str | None) -> None:
    from bench_framework.execution.machine.settings import examine_settings

    machine = examine_settings(console.results, cpus)
    glyphs = GLYPHS if console.unicode else ASCII
    console.emit_result(machine, settings_page(machine, glyphs, console.width))


def settings_page(machine: QuietMachine, glyphs: Mapping[str, str], width: int) -> str:
    """Return the page of `--tune`. Lines that are copied, commands and YAML, are not wrapped."""
    cpus = machine.cpus
    lines = [f"CPUs: {cpus.reason}"]
    several = _measure_line(cpus.several_threads) if cpus.several_threads else "without `cpus`"
    if cpus.one_thread == cpus.several_threads:
        lines.append(f"{INDENT}scenario: {several}")
    else:
        lines.append(f"{INDENT}scenario, one thread:      {_measure_line(cpus.one_thread)}")
        lines.append(f"{INDENT}scenario, several threads: {several}")
    for setting in machine.settings:
        lines.append(f"{glyphs[setting.state]} {setting.name}: {setting.value}")
        if setting.meaning:
            lines += wrap(setting.meaning, width, INDENT, INDENT)
        if setting.obstacle:
            lines += wrap(f"cannot be set here: {setting.obstacle}", width, INDENT, INDENT)
        lines += [f"{INDENT}set:     {command}" for command in setting.set]
        lines += [f"{INDENT}restore: {command}" for command in setting.restore]
        if setting.set and not setting.restore:
            lines.append(f"{INDENT}restore: nothing; it ends with the command")
    to_set = sum(1 for setting in machine.settings if setting.set)
    lines += wrap(
        f"Nothing was changed. {counted(to_set, 'setting')} can be set here. Compare the noise floor of "
        "`benchctl doctor --aa --for 2m` before and after, and with "
        f"`--cpus {cpus.one_thread}`, in turn and several times.",
        width,
    )
    return "\n".join(lines)


def _measure_line(cpus: str) -> str:
    return f"measure: {{cpus: {json.dumps(cpus) if ',' in cpus else cpus}}}"


def _seconds(text: str | None) -> float | None:
    """Return seconds. Raises `UsageError` (BX100): not a positive duration."""
    if text is None:
        return None
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError("BX100.not-a-time", text=text, error=error) from error
    if seconds <= 0:
        raise UsageError("BX100.not-positive-time", text=text)
    return seconds


def _cpu_list(text: str | None) -> str | None:
    """Return the list of CPUs. Raises `UsageError`, BX100, if `text` is not one."""
    from bench_framework.scenario.scalars import Refused, cpu_list

    try:
        return None if text is None else cpu_list(text)
    except Refused as error:
        raise UsageError(
            "BX100.cpu-list",
            text=text,
            message=error.text.message,
            advice=error.text.fix,
        ) from error


def _measure_noise(console: Console, seconds: float | None, cpus: str | None) -> None:
    from bench_framework.cli.line_display import LineDisplay
    from bench_framework.extensions.doctor.noise import NOISE_DEFAULT_S, examine_noise

    duration = NOISE_DEFAULT_S if seconds is None else seconds

    def show_window(verdicts: WindowVerdicts, number: int, elapsed_s: float) -> None:
        result = "different (false positive)" if verdicts.tripped else "no difference"
        total = format_clock(max(duration, elapsed_s))
        console.say(
            f"window {number}, {format_clock(elapsed_s)} of about {total}: {verdicts.program} A/A: {result}; "
            f"{counted(verdicts.false, 'false positive')} in {verdicts.families} relabelled families"
        )

    findings, failure = examine_noise(duration, LineDisplay(console), show_window, cpus)
    console.emit_result(findings, noise_page(findings, console.width))
    if failure is not None:
        console.error(failure)
    if findings.exit_code:
        raise typer.Exit(findings.exit_code)
