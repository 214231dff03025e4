"""``benchctl verify``: is a record still what was written, and does it say what follows from it?"""

from __future__ import annotations

import typer

from bench_framework.cli.arguments import RecordName
from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_WORSE

EPILOG = """
[bold]Example[/bold]

benchctl verify @last
"""


MOST_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Look")(verify)


def verify(context: typer.Context, record: RecordName = "@last") -> None:
    """Check every file of a record against its manifest, judge its journal again, and render its report again."""
    from bench_framework import workflow  # noqa: PLC0415 -- --help must not load it

    console: Console = context.obj
    found = workflow.verify_record(console.results, record)
    if console.json:
        console.emit_json(
            {
                "record": str(found.record),
                "files": found.files,
                "claims": found.claims,
                "differences": list(found.differences),
            }
        )
    else:
        for line in found.differences[:MOST_SHOWN]:
            console.emit(line)
        if len(found.differences) > MOST_SHOWN:
            console.emit(f"… and {len(found.differences) - MOST_SHOWN} more (all of them with --json)")
        what = f"{len(found.differences)} differences" if found.differences else "as it was written"
        console.emit(f"{found.record}: {what} ({found.files} files, {found.claims} claims made again)")
    if found.differences:
        raise typer.Exit(EXIT_WORSE)
