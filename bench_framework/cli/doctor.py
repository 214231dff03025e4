"""``benchctl doctor``: check whether this machine is fit to measure, and how noisy it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from bench_framework.cli.console import Console, counted
from bench_framework.errors import UsageError
from bench_framework.units import format_clock, parse_duration

if TYPE_CHECKING:
    from bench_framework.execution.progress import Update
    from bench_framework.features.noise.compute import WindowVerdicts

EPILOG = """
[bold]Examples[/bold]

benchctl doctor

benchctl doctor --json | jq '.[] | select(.state != "ok")'

benchctl doctor --aa --for 15m

Ctrl-C ends --aa after the current run and prints the results so far.
"""
GLYPHS = {"ok": "✓", "warn": "⚠", "bad": "✕"}
ASCII = {"ok": "+", "warn": "!", "bad": "x"}
WAIT_EVERY_S = 10.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Machine")(doctor)


def doctor(
    context: typer.Context,
    aa: Annotated[
        bool,
        typer.Option(
            "--aa",
            help="Run an A/A check: measure false positives, the noise floor and which injected "
            "slowdowns are detected.",
        ),
    ] = False,
    how_long: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="Duration of --aa, such as 15m; default: 1m."),
    ] = None,
) -> None:
    """Check what this machine can measure, and print the effect and the fix of each finding."""
    console: Console = context.obj
    if aa:
        _measure_noise(console, _seconds(how_long))
        return
    if how_long is not None:
        raise UsageError("--for needs --aa", help="run `benchctl doctor --aa --for 15m`")
    _examine(console)


def _examine(console: Console) -> None:
    from bench_framework.workflow.machine import examine_machine

    checks = examine_machine(console.results)
    if console.json:
        console.emit_json([asdict(check) for check in checks])
        return
    glyphs = GLYPHS if console.unicode else ASCII
    indent = " " * 4
    for check in checks:
        console.emit_sentence(f"{glyphs[check.state]} {check.name}: {check.figure}")
        if check.meaning:
            console.emit(_wrap(check.meaning, console.width, indent))
        if check.fix and check.state != "ok":
            console.emit(_wrap(f"fix: {check.fix}", console.width, indent))
    console.emit_sentence(_conclusion([check.state for check in checks], glyphs["bad"]))


def _seconds(text: str | None) -> float | None:
    """Return the duration in seconds.

    Raises `UsageError`, BX100, if `text` is not a positive duration.
    """
    if text is None:
        return None
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(
            f"--for {text}: {error}", help="write a time with its unit, such as 90s or 15m"
        ) from error
    if seconds <= 0:
        raise UsageError(f"--for {text}: not a positive time", help="write 90s or 15m, for example")
    return seconds


def _measure_noise(console: Console, seconds: float | None) -> None:
    from bench_framework.cli.noise_page import noise_page
    from bench_framework.workflow.noise import NOISE_DEFAULT_S, examine_noise, noise_document

    duration = NOISE_DEFAULT_S if seconds is None else seconds
    display = NoiseLines(console, duration)
    findings = examine_noise(duration, display, display.show_window)
    if console.json:
        console.emit_json(noise_document(findings))
    else:
        console.emit(noise_page(findings, console.width))
    if findings.failure is not None:
        console.error(findings.failure)
    if findings.exit_code:
        raise typer.Exit(findings.exit_code)


class NoiseLines:
    """Progress of the A/A check: one line on stderr per window."""

    def __init__(self, console: Console, duration_s: float) -> None:
        self._console = console
        self._duration = duration_s
        self._waited = -WAIT_EVERY_S

    def notify(self, update: Update) -> None:
        """Print waiting, installation, errors and messages, but nothing while a program is timed."""
        from bench_framework.execution.progress import LockWaiting, Message, Remark, ToolInstall

        match update:
            case LockWaiting(holder, elapsed) if elapsed - self._waited >= WAIT_EVERY_S:
                self._waited = elapsed
                self._console.say(f"waiting for {holder} ({format_clock(elapsed)})")
            case ToolInstall(tool, version, elapsed) if elapsed == 0:
                self._console.say(
                    f"{tool} {version} is not installed: installing it into the cache, about 1 "
                    "minute"
                )
            case Remark(event) if event.severity == "error":
                self._console.warn(event)
            case Message(text):
                self._console.say(text)
            case _:
                pass

    def show_window(self, verdicts: WindowVerdicts, number: int, elapsed_s: float) -> None:
        """Print the result of a window."""
        result = "different (false positive)" if verdicts.tripped else "no difference"
        self._console.say(
            f"window {number}, {format_clock(elapsed_s)} of about "
            f"{format_clock(max(self._duration, elapsed_s))}:"
            f" {verdicts.program} A/A: {result}; {counted(verdicts.false, 'false positive')}"
            f" in {verdicts.families} relabelled families"
        )


def _conclusion(states: list[str], bad_glyph: str) -> str:
    """Return the last line of the page: whether this machine is fit to measure."""
    bad, warned = states.count("bad"), states.count("warn")
    if bad:
        return f"This machine cannot measure yet: fix {counted(bad, 'check')} marked {bad_glyph}."
    if warned:
        return f"This machine can measure, with {counted(warned, 'warning')}."
    return "This machine is fit to measure."


def _wrap(text: str, width: int, indent: str) -> str:
    import textwrap

    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
