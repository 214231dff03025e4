"""``benchctl verify``: is a record or a page still what was written, and does it say what follows from it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_WORSE

if TYPE_CHECKING:
    from bench_framework.workflow.page_verification import PageVerification
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
            metavar="RECORD", help="A record's folder, SCENARIO/ID, @last or @prev; or a report.html alone."
        ),
    ] = "@last",
) -> None:
    """Check every file of a record, judge its runs.csv again, and render its report again.

    A report.html that lies in no record is held against the claims in it, and against its runs where it carries them.
    """
    from bench_framework.workflow.page_verification import PageVerification
    from bench_framework.workflow.verification import verify

    console: Console = context.obj
    found = verify(console.results, record)
    if isinstance(found, PageVerification):
        document, told = _page_document(found), _page_line(found)
    else:
        document, told = _record_document(found), _record_line(found)
    if console.json:
        console.emit_json(document)
    else:
        for line in found.differences[:MOST_SHOWN]:
            console.tell(line)
        if len(found.differences) > MOST_SHOWN:
            console.emit(f"… and {len(found.differences) - MOST_SHOWN} more (all of them with --json)")
        console.tell(told)
        for note in found.notes:
            console.tell(f"note: {note}")
    if found.differences:
        raise typer.Exit(EXIT_WORSE)


def _what(found: Verification | PageVerification) -> str:
    count = len(found.differences)
    return f"{count} difference{'s' if count != 1 else ''}" if count else "as it was written"


def _record_document(found: Verification) -> dict[str, object]:
    return {
        "record": str(found.record),
        "files": found.files,
        "claims": found.claims,
        "source": found.source,
        "notes": list(found.notes),
        "differences": list(found.differences),
    }


def _record_line(found: Verification) -> str:
    return f"{found.record}: {_what(found)} ({found.files} files, {found.claims} claims made again from {found.source})"


def _page_document(found: PageVerification) -> dict[str, object]:
    return {
        "page": str(found.page),
        "claims": found.claims,
        "sentences": found.sentences,
        "numbers": found.numbers,
        "runs": found.runs,
        "notes": list(found.notes),
        "differences": list(found.differences),
    }


def _page_line(found: PageVerification) -> str:
    held = f"{found.sentences} sentences and {found.numbers} numbers held against the {found.claims} claims in it"
    if found.runs is None:
        return (
            f"{found.page}: {_what(found)} ({held}; the runs were not at hand, so that no claim was recomputed, and "
            "all else was held against its seals, which whoever changes a page on purpose can write again)"
        )
    how = "every claim" if found.own_templates else "everything"
    own = "; its templates are not in it, so that it was not rendered again" if found.own_templates else ""
    return (
        f"{found.page}: {_what(found)} ({held}, and {how} recomputed from the {found.runs} runs in it{own})"
    )
