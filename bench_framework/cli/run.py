"""``benchctl run``: from a scenario to a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bench_framework.cli.arguments import Base, EmbedRuns, Head, Only, Overrides, ScenarioFile
from bench_framework.cli.console import Console
from bench_framework.cli.measurement import measure

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
        typer.Option(
            "--quick", help="3 rounds, no verdicts: is it alive? The record says 'exploratory'."
        ),
    ] = False,
    rounds: Annotated[
        str | None,
        typer.Option(
            metavar="MIN:MAX", help="Passes over all cells; default from FILE, else 12:40."
        ),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="Add no round after this, such as 20m.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="conclusive|rounds|X%", help="When to stop; default from FILE."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the records; as --dir.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not resume an interrupted record.")
    ] = False,
    profile: Annotated[
        bool | None,
        typer.Option(
            "--profile/--no-profile", help="Sample functions after measuring; default from FILE."
        ),
    ] = None,
    embed_runs: EmbedRuns = None,
    template: Annotated[
        Path | None,
        typer.Option(
            "--template", metavar="DIR", help="Folder whose templates replace the shipped ones."
        ),
    ] = None,
    gated: Annotated[
        bool,
        typer.Option(
            "--gate", help="Also judge against the scenario's gate, and set the exit code."
        ),
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
        overrides=(
            *(overrides or ()),
            *_overrides(quick=quick, rounds=rounds, budget=budget, until=until),
        ),
        fresh=fresh,
        profile=profile,
        embed_runs=embed_runs,
        template=template,
        base=base,
        head=head,
        gate=gated,
    )
    measure(console, file, options)


def _overrides(
    *, quick: bool, rounds: str | None, budget: str | None, until: str | None
) -> list[str]:
    """The options of this command as overrides of the scenario: one way in, one place that checks."""
    found: list[str] = []
    if quick:
        found += ["measure.rounds={min: 3, max: 3}", "measure.until=rounds", "measure.warmup=1"]
    if rounds is not None:
        low, colon, high = rounds.partition(":")
        found.append(
            f"measure.rounds={{min: {low or 12}, max: {high}}}"
            if colon
            else f"measure.rounds={rounds}"
        )
    if budget is not None:
        found.append(f"measure.budget={budget}")
    if until is not None:
        value = f"{{precision: {until}}}" if until.endswith("%") else until
        found.append(f"measure.until={value}")
    return found
