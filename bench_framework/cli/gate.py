"""``benchctl gate``: has a candidate become worse than is tolerated?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_framework.cli import github
from bench_framework.cli.arguments import RecordName
from bench_framework.cli.console import Console

if TYPE_CHECKING:
    from bench_framework.workflow import Gated, Watcher

EPILOG = """
[bold]Examples[/bold]

benchctl gate

benchctl run bench/io.yaml --gate

benchctl gate @last --json | jq '.pairs[] | select(.state == "worse").text'

What looks worse is measured again in fresh rounds, and only what is worse there too fails the gate.
Exit codes: 0 passed, 1 worse, 3 could not measure, 4 could not judge.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Guard CI")(gate)


def gate(
    context: typer.Context,
    record: RecordName = "@last",
    no_confirm: Annotated[
        bool,
        typer.Option("--no-confirm", help="Measure nothing again: what looks worse is not judged (exit 4)."),
    ] = False,
) -> None:
    """Judge a record against its scenario's gate, measure again what looks worse, and write the files for CI."""
    from bench_framework.cli.display import display_for  # noqa: PLC0415 -- rich is slow to import

    console: Console = context.obj
    with display_for(console) as display:
        found = judge(console, record, display, confirm=not no_confirm)
    show(console, found)
    if found.gating.exit_code:
        raise typer.Exit(found.gating.exit_code)


def judge(console: Console, record: str, watcher: Watcher, *, confirm: bool = True) -> Gated:
    """The gate's answer; for ``benchctl run --gate`` too."""
    from bench_framework import workflow  # noqa: PLC0415 -- --help must not load it

    return workflow.gate_record(console.results, record, confirm=confirm, watcher=watcher)


def show(console: Console, found: Gated) -> None:
    """Print the answer; on GitHub also annotate it and add it to the summary of the step."""
    from bench_framework import workflow  # noqa: PLC0415 -- --help must not load it

    if console.json:
        console.emit((found.record / "gate.json").read_text(encoding="utf-8"))
    else:
        console.emit(workflow.gate_page(found, console.width, console.unicode))
        console.say(f"files: {', '.join(str(found.record / name) for name in workflow.GATE_FILES)}")
    if github.on_github():
        for line in github.gate_lines([pair.again_text or pair.text for pair in found.gating.of("worse")]):
            console.say(line, level=-1)
        if target := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(target).open("a", encoding="utf-8") as file:
                file.write((found.record / "summary.md").read_text(encoding="utf-8"))
