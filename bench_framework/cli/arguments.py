"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

ScenarioFile = Annotated[
    str, Argument(metavar="FILE", help="A scenario file, or the name of a bundled scenario.")
]
RecordName = Annotated[
    str, Argument(metavar="RECORD", help="A record: its folder, SCENARIO/ID, @last or @prev.")
]
Only = Annotated[
    str | None,
    Option(
        "--only",
        "-k",
        metavar="FILTER",
        help="Select configurations (variant and input), for example 'io=mmap size<=50MiB'.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    Option(
        "--set",
        "-S",
        metavar="KEY=VALUE",
        help="Override a key of the scenario, for example margin=5%.",
    ),
]
Base = Annotated[
    str | None,
    Option(
        "--base",
        metavar="REV",
        help=(
            "Compare every variant with itself at this revision: a branch, tag, commit or "
            "merge-base."
        ),
    ),
]
Head = Annotated[
    str | None, Option("--head", metavar="REV", help="Revision to test; default: the working tree.")
]
Fresh = Annotated[
    bool, Option("--fresh", help="Start a new record; do not resume an interrupted one.")
]
Template = Annotated[
    Path | None,
    Option(
        "--template", metavar="DIR", help="Folder with templates that replace the default ones."
    ),
]
EmbedRuns = Annotated[
    bool | None,
    Option(
        "--embed-runs/--no-embed-runs",
        help="Embed all runs in report.html, so that it can be verified without its record; "
        "default: if they take at most 1 MB.",
    ),
]
