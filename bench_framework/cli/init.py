"""``benchctl init``: a commented scenario to start from, with its schema beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bench_framework.cli.console import Console

EPILOG = """
[bold]Example[/bold]

benchctl init bench && benchctl run bench/scenario.yaml
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Run")(init)


def init(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where to write; made if it is not there.")
    ] = Path("bench"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
) -> None:
    """Write a commented scenario that runs as it is, and the schema that editors complete it by."""
    from bench_framework.workflow.scenarios import start_folder

    console: Console = context.obj
    for path in start_folder(folder, force=force):
        console.say(f"wrote {path}")
    console.say("its comments say what to change; it runs as it is:")
    console.emit(f"benchctl run {folder / 'scenario.yaml'}")
