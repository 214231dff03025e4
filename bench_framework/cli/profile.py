"""``benchctl profile``: where the programs of a record spend their time."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from bench_framework.cli.arguments import Only, RecordName
from bench_framework.cli.console import Console

EPILOG = """
[bold]Examples[/bold]

benchctl profile @last

benchctl profile @last -k 'io=mmap size=200MiB' --runs 10 --bucket 'hashing=hash' --bucket 'memory=malloc|memmove'
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Look")(profile)


def profile(
    context: typer.Context,
    record: RecordName = "@last",
    only: Only = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Profiled runs of each cell; default 5.")
    ] = None,
    frequency: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, metavar="HZ", help="Samples per second; default 997."),
    ] = None,
    sampler: Annotated[
        Literal["auto", "perf", "callgrind"] | None,
        typer.Option(help="Who watches; default: perf, and callgrind where perf may not sample."),
    ] = None,
    stacks: Annotated[
        Literal["auto", "frame-pointers", "dwarf"] | None,
        typer.Option(help="How perf finds callers."),
    ] = None,
    bucket: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=REGEX",
            help="Share of the functions whose name fits; the first that fits.",
        ),
    ] = None,
) -> None:
    """Sample cells of a record, in untimed runs of their own, and put the functions into its report."""
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.profile import ProfileOptions, profile_record
    from bench_framework.workflow.profile_text import profile_document, profile_page

    console: Console = context.obj
    options = ProfileOptions(only, runs, frequency, sampler, stacks, tuple(bucket or ()))
    with display_for(console) as display:
        made = profile_record(console.results, record, options, display)
    if console.json:
        console.emit_json(profile_document(made))
    else:
        console.emit(profile_page(made, console.width, console.colored_stdout, console.unicode))
        console.say(f"wrote {made.record / 'profiles'} and the report")
    if made.exit_code:
        raise typer.Exit(made.exit_code)
