"""``benchctl compare``: any two variants of a record."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from bench_framework.cli.arguments import RecordName
from bench_framework.cli.console import Console

EPILOG = """
[bold]Examples[/bold]

benchctl compare @last

benchctl compare @last --baseline 'io=read runtime=rayon allocator=system' --candidate 'allocator=jemalloc'
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Look")(compare)


def compare(
    context: typer.Context,
    record: RecordName = "@last",
    baseline: Annotated[
        str | None,
        typer.Option(metavar="CELLS", help="The one variant to compare with; default: the scenario's."),
    ] = None,
    candidate: Annotated[
        str | None, typer.Option(metavar="CELLS", help="The variants to compare; default: all others.")
    ] = None,
    metric: Annotated[str, typer.Option(metavar="LIST", help="Metrics, such as wall,cpu.")] = "wall,cpu",
) -> None:
    """Compare variants within one record, paired by round. Chosen after the data were seen: exploratory."""
    from bench_framework import workflow  # noqa: PLC0415 -- --help must not load it

    console: Console = context.obj
    table = workflow.compare_record(
        console.results, record, baseline=baseline, candidate=candidate, metrics=tuple(metric.split(","))
    )
    if console.json:
        console.emit_json([asdict(comparison) for comparison in table.comparisons])
        return
    console.emit(
        workflow.terminal_page(table.document, console.width, console.colored_stdout, console.unicode)
    )
