"""``benchctl doctor``: is this machine fit to measure, and what does its noise do to verdicts?"""

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

benchctl doctor --json | jq '.[] | select(.state != "ok")'

benchctl doctor --aa --for 15m

Ctrl-C ends --aa after the run in flight and prints what was found so far.
"""
GLYPHS = {"ok": "✓", "warn": "⚠", "bad": "✕"}
ASCII = {"ok": "+", "warn": "!", "bad": "x"}
WAIT_EVERY_S = 10.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Look")(doctor)


def doctor(
    context: typer.Context,
    aa: Annotated[
        bool,
        typer.Option(
            "--aa",
            help="Measure equal programs and known extra work: false verdicts, noise floor, what is found.",
        ),
    ] = False,
    how_long: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="TIME", help="How long --aa measures, such as 15m; default 1m."
        ),
    ] = None,
) -> None:
    """Say line by line what this machine can measure, what that means, and how to mend it."""
    console: Console = context.obj
    if aa:
        _measure_noise(console, _seconds(how_long))
        return
    if how_long is not None:
        raise UsageError("--for belongs to --aa", help="`benchctl doctor --aa --for 15m`")
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
        console.tell(f"{glyphs[check.state]} {check.name}: {check.figure}")
        if check.meaning:
            console.emit(_wrap(check.meaning, console.width, indent))
        if check.mend and check.state != "ok":
            console.emit(_wrap(f"mend: {check.mend}", console.width, indent))
    console.tell(_conclusion([check.state for check in checks]))


def _seconds(text: str | None) -> float | None:
    """Raise `UsageError`, BX100, if this is no time."""
    if text is None:
        return None
    try:
        found = parse_duration(text)
    except ValueError as error:
        raise UsageError(
            f"--for {text}: {error}", help="a time with its unit, such as 90s or 15m"
        ) from error
    if found <= 0:
        raise UsageError(f"--for {text} is no time to measure in", help="such as 90s or 15m")
    return found


def _measure_noise(console: Console, seconds: float | None) -> None:
    from bench_framework.cli.noise_page import noise_page
    from bench_framework.workflow.noise import NOISE_DEFAULT_S, examine_noise, noise_document

    wanted = NOISE_DEFAULT_S if seconds is None else seconds
    display = NoiseLines(console, wanted)
    findings = examine_noise(wanted, display, display.show_window)
    if console.json:
        console.emit_json(noise_document(findings))
    else:
        console.emit(noise_page(findings, console.width))
    if findings.failure is not None:
        console.error(findings.failure)
    if findings.exit_code:
        raise typer.Exit(findings.exit_code)


class NoiseLines:
    """A line on stderr for every window: they take some seconds each."""

    def __init__(self, console: Console, wanted_s: float) -> None:
        self._console = console
        self._wanted = wanted_s
        self._waited = -WAIT_EVERY_S

    def notify(self, update: Update) -> None:
        """Print waiting, installation, errors and messages; nothing while a program is timed."""
        from bench_framework.execution.progress import LockWaiting, Message, Remark, ToolInstall

        match update:
            case LockWaiting(holder, elapsed) if elapsed - self._waited >= WAIT_EVERY_S:
                self._waited = elapsed
                self._console.say(f"waiting for {holder} ({format_clock(elapsed)})")
            case ToolInstall(tool, version, elapsed) if elapsed == 0:
                self._console.say(
                    f"{tool} {version} is not here: installing it into the cache, about 1 minute"
                )
            case Remark(event) if event.severity == "error":
                self._console.warn(event)
            case Message(text):
                self._console.say(text)
            case _:
                pass

    def show_window(self, verdicts: WindowVerdicts, number: int, elapsed_s: float) -> None:
        """Print the result of a window."""
        told = "told from its copy" if verdicts.tripped else "not told from its copy"
        self._console.say(
            f"window {number}, {format_clock(elapsed_s)} of about {format_clock(max(self._wanted, elapsed_s))}:"
            f" {verdicts.program} {told}; {counted(verdicts.false, 'false verdict')}"
            f" in {verdicts.families} relabelled families"
        )


def _conclusion(states: list[str]) -> str:
    """The answer to the question that the command asks."""
    bad, warned = states.count("bad"), states.count("warn")
    if bad:
        return f"This machine cannot measure before {counted(bad, 'line')} marked {GLYPHS['bad']} or x is mended."
    if warned:
        return f"This machine can measure; {counted(warned, 'warning')} above say what it costs."
    return "This machine is fit to measure."


def _wrap(text: str, width: int, indent: str) -> str:
    import textwrap

    return textwrap.fill(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
