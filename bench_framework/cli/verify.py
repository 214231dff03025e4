"""``benchctl verify``: check the file hashes of a record or page and recompute every result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_WORSE

if TYPE_CHECKING:
    from bench_framework.workflow.verification import Verification

EPILOG = """
[bold]Examples[/bold]

benchctl verify @last

benchctl verify results/quickstart/20260302T1704Z

benchctl verify ~/mail/report.html

Exit 1: something differs; every difference is named.
"""


MOST_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Look")(verify)


def verify(
    context: typer.Context,
    record: Annotated[
        str,
        typer.Argument(
            metavar="RECORD",
            help="A record's folder, SCENARIO/ID, @last or @prev; or a report.html alone.",
        ),
    ] = "@last",
) -> None:
    """Check the hash of every file of a record, judge its runs.csv again, and render its report again.

    A report.html without its record is judged and rendered again from the runs that it contains.
    """
    from bench_framework.workflow.verification import verify

    console: Console = context.obj
    found = verify(console.results, record)
    if console.json:
        console.emit_json(_document(found))
    else:
        for line in found.differences[:MOST_SHOWN]:
            console.tell(line)
        if len(found.differences) > MOST_SHOWN:
            console.emit(
                f"… and {len(found.differences) - MOST_SHOWN} more (all of them with --json)"
            )
        console.tell(_summary(found))
        for note in found.notes:
            console.tell(f"note: {note}")
    if found.differences:
        raise typer.Exit(EXIT_WORSE)


def _document(found: Verification) -> dict[str, object]:
    return {
        "record": str(found.record),
        "files": found.files,
        "claims": found.claims,
        "source": found.source,
        "notes": list(found.notes),
        "differences": list(found.differences),
    }


def _summary(found: Verification) -> str:
    count = len(found.differences)
    result = f"{count} difference{'s' if count != 1 else ''}" if count else "unchanged"
    files = f"{found.files} file{'s' if found.files != 1 else ''} checked"
    return (
        f"{found.record}: {result} ({files}, {found.claims} claims recomputed from {found.source})"
    )
