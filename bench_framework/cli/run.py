"""``benchctl run``: from a scenario to a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_framework.cli.arguments import Base, Head, Only, Overrides, ScenarioFile
from bench_framework.cli.console import Console
from bench_framework.errors import BuildError

if TYPE_CHECKING:
    from bench_framework.workflow.run import Outcome
    from bench_framework.workflow.run_options import RunOptions

EPILOG = """
[bold]Examples[/bold]

benchctl run quickstart

benchctl run bench/io.yaml -k 'io!=mmap size<=50MiB' --budget 5m

benchctl run bench/io.yaml --quick

benchctl run bench/io.yaml --base main

Ctrl-C once finishes the run in flight and keeps everything; the same command resumes.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Run")(run)


def run(
    context: typer.Context,
    file: ScenarioFile,
    only: Only = None,
    overrides: Overrides = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="3 rounds, no verdicts: is it alive? The record says 'exploratory'."),
    ] = False,
    rounds: Annotated[
        str | None,
        typer.Option(metavar="MIN:MAX", help="Passes over all cells; default from FILE, else 12:40."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Add no round after this, such as 20m.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="decided|rounds|X%", help="When to stop; default from FILE.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the records; as --dir.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do not resume an interrupted record.")] = False,
    profile: Annotated[
        bool | None,
        typer.Option("--profile/--no-profile", help="Sample functions after measuring; default from FILE."),
    ] = None,
    embed_runs: Annotated[
        bool,
        typer.Option(
            "--embed-runs", help="Let report.html carry runs.csv, so that it can be verified alone."
        ),
    ] = False,
    template: Annotated[
        Path | None,
        typer.Option("--template", metavar="DIR", help="Folder whose templates replace the shipped ones."),
    ] = None,
    gated: Annotated[
        bool, typer.Option("--gate", help="Also judge against the scenario's gate, and set the exit code.")
    ] = False,
    base: Base = None,
    head: Head = None,
) -> None:
    """Build the variants of a scenario, run them interleaved, and write the report."""
    from bench_framework.workflow.run_options import RunOptions

    console: Console = context.obj
    options = RunOptions(
        results=out or console.results,
        only=only,
        overrides=(*(overrides or ()), *_overrides(quick=quick, rounds=rounds, budget=budget, until=until)),
        fresh=fresh,
        profile=profile,
        embed_runs=embed_runs,
        template=template,
        base=base,
        head=head,
        gate=gated,
    )
    measure(console, file, options)


def measure(console: Console, file: str, options: RunOptions, *, confirm: bool = True) -> None:
    """Run, print, and judge by the gate if that is asked for; for ``benchctl gate FILE`` too.

    Raises:
        typer.Exit: with the exit code, unless it is 0.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.run import run_scenario

    gated = options.gate
    if gated:
        console.results = options.results
    with display_for(console) as display:
        outcome = run_scenario(file, options, display)
    if not (gated and console.json):  # one document on stdout: the gate's, which names the record
        _print(console, outcome)
    code = outcome.exit_code
    if gated and outcome.judgement is not None and outcome.record is not None:
        found = _gate(console, outcome.record, confirm=confirm)
        code = code or found  # what failed comes before what the gate found
    if code:
        raise typer.Exit(code)


def _gate(console: Console, record: Path, *, confirm: bool) -> int:
    """Judge the record against its gate; its exit code."""
    from bench_framework.cli import gate
    from bench_framework.cli.display import display_for

    with display_for(console) as display:
        found = gate.judge(console, str(record), display, confirm=confirm)
    gate.show(console, found)
    return found.gating.exit_code


def _overrides(*, quick: bool, rounds: str | None, budget: str | None, until: str | None) -> list[str]:
    """The options of this command as overrides of the scenario: one way in, one place that checks."""
    found: list[str] = []
    if quick:
        found += ["measure.rounds={min: 3, max: 3}", "measure.until=rounds", "measure.warmup=1"]
    if rounds is not None:
        low, colon, high = rounds.partition(":")
        found.append(
            f"measure.rounds={{min: {low or 12}, max: {high}}}" if colon else f"measure.rounds={rounds}"
        )
    if budget is not None:
        found.append(f"measure.budget={budget}")
    if until is not None:
        value = f"{{precision: {until}}}" if until.endswith("%") else until
        found.append(f"measure.until={value}")
    return found


def _print_warnings(console: Console, outcome: Outcome) -> None:
    """What the judgement found; warnings of the measuring were told when they arose."""
    for event in outcome.judgement.events if outcome.judgement else ():
        if event.severity != "note":
            console.warn(event)


_OF_METRICS = frozenset({"BX217", "BX251"})
"""Failures of single metrics: the times of such a cell stand."""


def _print_failures(console: Console, outcome: Outcome) -> None:
    """Builds in full; cells were told in full while measuring, and stand in the report with their reason."""
    builds = [error for error in outcome.failures if isinstance(error, BuildError)]
    for error in builds:
        console.error(error)
    metrics = [error for error in outcome.failures if error.code in _OF_METRICS]
    if cells := len(outcome.failures) - len(builds) - len(metrics):
        console.say(
            f"{cells} cell{'s' if cells != 1 else ''} could not be measured: exit {outcome.exit_code}",
            level=-1,
        )
    if metrics:
        where = f"{len(metrics)} cell{'s' if len(metrics) != 1 else ''}"
        console.say(f"a metric of {where} could not be read or counted: exit {outcome.exit_code}", level=-1)


def _print(console: Console, outcome: Outcome) -> None:
    from bench_framework.workflow.pages import terminal_page
    from bench_framework.workflow.run import outcome_document

    if console.json:
        console.emit_json(outcome_document(outcome))
        _print_failures(console, outcome)
        return
    if outcome.document is not None:
        console.emit(terminal_page(outcome.document, console.width, console.colored_stdout, console.unicode))
    _print_warnings(console, outcome)
    _print_failures(console, outcome)
    if outcome.resume is not None:
        console.say(outcome.resume, level=-1)
