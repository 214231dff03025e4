"""``benchctl report``: write the report of a record again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bench_framework.cli.arguments import EmbedRuns, RecordName
from bench_framework.cli.console import Console

EXAMPLES = """
benchctl report @last
benchctl report results/quickstart/20260302T1704Z --format md
benchctl report @last --no-embed-runs    # a smaller page, not verifiable without its record
"""


def report(
    context: typer.Context,
    record: RecordName = "@last",
    formats: Annotated[
        str, typer.Option("--format", metavar="LIST", help="Formats to write: html, md, term.")
    ] = "html,md,term",
    embed_runs: EmbedRuns = None,
    template: Annotated[
        Path | None,
        typer.Option(
            "--template", metavar="DIR", help="Folder with templates that replace the shipped ones."
        ),
    ] = None,
) -> None:
    """Write the report of a record again; verdicts are read from the record, not recomputed."""
    from bench_framework.workflow.pages import parse_formats, report_record, terminal_page

    console: Console = context.obj
    pages = report_record(
        console.results,
        record,
        formats=parse_formats(formats),
        embed_runs=embed_runs,
        template=template,
    )
    if console.json:
        console.emit_json(
            {"record": str(pages.record), "files": [str(path) for path in pages.files]}
        )
        return
    if pages.document is not None:
        console.emit(
            terminal_page(pages.document, console.width, console.colored_stdout, console.unicode)
        )
    for path in pages.files:
        console.say(f"wrote {path}")
