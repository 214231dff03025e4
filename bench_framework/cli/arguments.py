"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ScenarioFile = Annotated[
    str, typer.Argument(metavar="FILE", help="A scenario file, or the name of a bundled scenario.")
]
RecordName = Annotated[
    str, typer.Argument(metavar="RECORD", help="A record: its folder, SCENARIO/ID, @last or @prev.")
]
Only = Annotated[
    str | None,
    typer.Option(
        "--only",
        "-k",
        metavar="FILTER",
        help="Select configurations (variant and input), for example 'io=mmap size<=50MiB'.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-S",
        metavar="KEY=VALUE",
        help="Override a key of the scenario, for example margin=5%.",
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="REV",
        help=(
            "Compare every variant with itself at this revision: a branch, tag, commit or "
            "merge-base."
        ),
    ),
]
Head = Annotated[
    str | None,
    typer.Option("--head", metavar="REV", help="Revision to test; default: the working tree."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Start a new record; do not resume an interrupted one.")
]
Template = Annotated[
    Path | None,
    typer.Option(
        "--template", metavar="DIR", help="Folder with templates that replace the default ones."
    ),
]
EmbedRuns = Annotated[
    bool | None,
    typer.Option(
        "--embed-runs/--no-embed-runs",
        help="Embed all runs in report.html, so that it can be verified without its record; "
        "default: if they take at most 1 MB.",
    ),
]
