"""``benchctl help``: what a code means, and what the exit codes are."""

from __future__ import annotations

from typing import Annotated

import typer

from bench_framework.cli.console import Console
from bench_framework.errors import UsageError

EXIT_CODES = """\
0    done
1    the gate found something worse, or verify found a difference
2    wrong usage, or an invalid scenario
3    something could not be measured (a build, a cell, an answer, the machine); what worked is still reported
4    the gate could not judge
70   a defect of benchctl; the traceback is saved and its path printed
130  interrupted; `benchctl run` with the same scenario resumes

Several causes: the first that holds in the order 3, 1, 4. The report is written before exit in every case."""

EPILOG = """
[bold]Examples[/bold]

benchctl help exit-codes

benchctl help BC104
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("help", epilog=EPILOG, rich_help_panel="Help")(explain)


def explain(
    context: typer.Context,
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help="'exit-codes', or a code such as BC104 or BX201.")
    ],
) -> None:
    """Explain a code, or the exit codes."""
    from bench_framework import workflow  # noqa: PLC0415 -- --help must not load it

    console: Console = context.obj
    if topic in {"exit-codes", "exit_codes"}:
        console.emit(EXIT_CODES)
        return
    codes = workflow.codes()
    text = codes.get(topic.upper())
    if text is None:
        raise UsageError(
            f"no help on {topic!r}",
            help=f"topics: exit-codes, {', '.join(sorted(codes))}",
        )
    console.emit(text)
