"""``benchctl report``: write the report of a record again."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from bench_framework.cli.arguments import EmbedRuns, RecordName, Template
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
        str, Option("--format", metavar="LIST", help="Formats to write: html, md, term.")
    ] = "html,md,term",
    embed_runs: EmbedRuns = None,
    template: Template = None,
) -> None:
    """Write the report of a record again; verdicts are read from the record, not recomputed."""
    from bench_framework.workflow.pages import parse_formats, report_record

    console: Console = context.obj
    console.warn_of_changes(record)
    pages = report_record(
        console.results,
        record,
        formats=parse_formats(formats),
        embed_runs=embed_runs,
        template=template,
    )
    console.emit_pages(pages)
    for path in () if console.json else pages.files:
        console.say(f"wrote {path}")
