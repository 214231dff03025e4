"""Arguments and options that several commands share, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

ScenarioFile = Annotated[
    str, typer.Argument(metavar="FILE", help="A scenario file, or the name of a shipped scenario.")
]
RecordName = Annotated[
    str, typer.Argument(metavar="RECORD", help="A record's folder, SCENARIO/ID, @last or @prev.")
]
Only = Annotated[
    str | None,
    typer.Option(
        "--only",
        "-k",
        metavar="CELLS",
        help="Only the cells that match, such as 'io=mmap size<=50MiB'.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-S",
        metavar="KEY=VALUE",
        help="Change a key of the scenario, such as measure.rounds.max=5.",
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="REV",
        help="Measure every variant at this revision too, against itself: a branch, tag, commit or merge-base.",
    ),
]
Head = Annotated[
    str | None,
    typer.Option(
        "--head", metavar="REV", help="The other revision; default: the files as they lie there."
    ),
]
EmbedRuns = Annotated[
    bool | None,
    typer.Option(
        "--embed-runs/--no-embed-runs",
        help="Whether report.html contains all runs, so that it can be verified alone; default: up to 1 MB.",
    ),
]
