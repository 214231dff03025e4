"""``benchctl init``: write a commented first scenario and its schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.console import Console

EXAMPLES = """
benchctl init bench && benchctl run bench/scenario.yaml
"""


def init(
    context: typer.Context,
    folder: Annotated[
        Path, Argument(metavar="DIR", help="Folder to write to; created if it does not exist.")
    ] = Path("bench"),
    force: Annotated[bool, Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """Write a commented, runnable scenario and the JSON Schema for editors."""
    from bench_framework.workflow.scenarios import start_folder

    console: Console = context.obj
    for path in start_folder(folder, force=force):
        console.say(f"wrote {path}")
    console.say("its comments explain what to change; run it with:")
    console.emit(f"benchctl run {folder / 'scenario.yaml'}")
