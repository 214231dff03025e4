"""``benchctl doctor``: is this machine fit to measure?"""

from __future__ import annotations

from dataclasses import asdict

import typer

from bench_framework.cli.console import Console, counted

EPILOG = """
[bold]Example[/bold]

benchctl doctor --json | jq '.[] | select(.state != "ok")'
"""
GLYPHS = {"ok": "✓", "warn": "⚠", "bad": "✕"}
ASCII = {"ok": "+", "warn": "!", "bad": "x"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Look")(doctor)


def doctor(context: typer.Context) -> None:
    """Say line by line what this machine can measure, what that means, and how to mend it."""
    from bench_framework import workflow  # noqa: PLC0415 -- --help must not load it

    console: Console = context.obj
    checks = workflow.examine_machine(console.results)
    if console.json:
        console.emit_json([asdict(check) for check in checks])
        return
    glyphs = GLYPHS if console.unicode else ASCII
    indent = " " * 4
    for check in checks:
        console.emit(f"{glyphs[check.state]} {check.name}: {check.figure}")
        if check.meaning:
            console.emit(_wrap(check.meaning, console.width, indent))
        if check.mend and check.state != "ok":
            console.emit(_wrap(f"mend: {check.mend}", console.width, indent))
    console.emit(_conclusion([check.state for check in checks]))


def _conclusion(states: list[str]) -> str:
    """The answer to the question that the command asks."""
    bad, warned = states.count("bad"), states.count("warn")
    if bad:
        return f"This machine cannot measure before {counted(bad, 'line')} marked {GLYPHS['bad']} or x is mended."
    if warned:
        return f"This machine can measure; {counted(warned, 'warning')} above say what it costs."
    return "This machine is fit to measure."


def _wrap(text: str, width: int, indent: str) -> str:
    import textwrap  # noqa: PLC0415 -- --help must not load it

    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
