"""``benchctl gate``: has a candidate become worse than is tolerated?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_framework.cli import github
from bench_framework.cli.arguments import Base, Head, Only, Overrides
from bench_framework.cli.console import Console, wrapped
from bench_framework.errors import UsageError

if TYPE_CHECKING:
    from bench_framework.execution.progress import Observer
    from bench_framework.workflow.gate import Gated
    from bench_framework.workflow.run_options import RunOptions

EPILOG = """
[bold]Examples[/bold]

benchctl gate --base merge-base bench/io.yaml

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
    record: Annotated[
        str,
        typer.Argument(
            metavar="RECORD|FILE",
            help="A record's folder, SCENARIO/ID, @last or @prev; or a scenario (.yaml), which is measured first.",
        ),
    ] = "@last",
    base: Base = None,
    head: Head = None,
    only: Only = None,
    overrides: Overrides = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not resume an interrupted record.")] = False,
    no_confirm: Annotated[
        bool,
        typer.Option("--no-confirm", help="Measure nothing again: what looks worse is not judged (exit 4)."),
    ] = False,
) -> None:
    """Judge a record against its scenario's gate, measure again what looks worse, and write the files for CI.

    Of a scenario it measures a record first: with --base, or `against` in its gate, every variant at two revisions.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.run_options import RunOptions

    console: Console = context.obj
    if base is not None or record.endswith((".yaml", ".yml")):
        options = RunOptions(
            results=console.results, only=only, overrides=tuple(overrides or ()), fresh=fresh, base=base, head=head,
            gate=True,
        )  # fmt: skip
        _measured(console, record, options, confirm=not no_confirm)
        return
    _refuse_alone(head=head, only=only, set=overrides)
    with display_for(console) as display:
        found = judge(console, record, display, confirm=not no_confirm, fresh=fresh)
    show(console, found)
    if found.gating.exit_code:
        raise typer.Exit(found.gating.exit_code)


def _measured(console: Console, file: str, options: RunOptions, *, confirm: bool) -> None:
    """Measure a scenario and judge what it left."""
    from bench_framework.cli import run

    if file.startswith("@"):
        raise UsageError(
            "--base needs a scenario: which one is measured?", help="benchctl gate --base REV FILE"
        )
    run.measure(console, file, options, confirm=confirm)


def _refuse_alone(**given: object) -> None:
    """Options that mean nothing for a record that exists."""
    named = [f"--{name}" for name, value in given.items() if value]
    if named:
        raise UsageError(
            f"{', '.join(named)}: a record is judged as it was measured",
            help="name a scenario in place of the record, and it is measured first",
        )


def judge(
    console: Console, record: str, observer: Observer, *, confirm: bool = True, fresh: bool = False
) -> Gated:
    """The gate's answer; for ``benchctl run --gate`` too."""
    from bench_framework.workflow.gate import gate_record

    return gate_record(console.results, record, confirm=confirm, fresh=fresh, observer=observer)


def show(console: Console, found: Gated) -> None:
    """Print the answer; on GitHub also annotate it and add it to the summary of the step."""
    from bench_framework.workflow.gate import GATE_FILES, gate_page

    if console.json:
        console.emit((found.record / "gate.json").read_text(encoding="utf-8"))
    else:
        console.emit(gate_page(found, console.width, console.unicode))
        told = f"wrote {', '.join(GATE_FILES)} into {found.record}"
        console.say(wrapped(told, console.stderr_width) if console.stderr_width else told)
    if github.on_github():
        for line in github.gate_lines([pair.again_text or pair.text for pair in found.gating.of("worse")]):
            console.say(line, level=-1)
        if target := os.environ.get("GITHUB_STEP_SUMMARY"):
            _append_summary(console, Path(target), found.record / "summary.md")


def _append_summary(console: Console, target: Path, summary: Path) -> None:
    """Add the answer to the summary of the step; the exit code is the gate's, whatever becomes of this."""
    try:
        with target.open("a", encoding="utf-8") as file:
            file.write(summary.read_text(encoding="utf-8"))
    except OSError as error:
        console.say(
            f"the summary of the step is not written: {target}: {error.strerror}; it is in {summary}",
            level=-1,
        )
