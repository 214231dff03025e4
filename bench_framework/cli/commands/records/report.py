"""``benchctl report``: write the report of a record again."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from bench_framework.cli.arguments import EmbedRuns, RecordName, Template
from bench_framework.cli.console import Console
from bench_framework.errors import UsageError

EXAMPLES = """
benchctl report @last
benchctl report results/quickstart/20260302T1704Z --format md
benchctl report @last --no-embed-runs    # smaller; `verify` needs the record
benchctl report @last --publish docs/benchmarks/sort    # to commit or upload
benchctl report docs/sort --wording bench/sort.yaml    # other labels or texts
"""


def report(
    context: typer.Context,
    record: RecordName = "@last",
    formats: Annotated[
        str, Option("--format", metavar="LIST", help="Formats to write: html, md, term.")
    ] = "html,md,term",
    embed_runs: EmbedRuns = None,
    template: Template = None,
    publish: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write the report with its figures, tables and runs to this folder, to commit or "
            "upload it. `benchctl verify DIR` recomputes it. RECORD can be such a folder.",
        ),
    ] = None,
    wording: Annotated[
        str | None,
        typer.Option(
            metavar="SCENARIO",
            help="Use the labels, titles, question and takeaways of this scenario. What is measured and "
            "judged must be the same. For a published report, or with --publish.",
        ),
    ] = None,
) -> None:
    """Write the report of a record again, from its stored measurements."""
    from bench_framework.workflow.pages import PAGE, parse_formats, report_record
    from bench_framework.workflow.records import embedded_runs

    console: Console = context.obj
    requested = parse_formats(formats)
    if embedded_runs.is_published(Path(record)):
        write = publish is not None or requested != ("term",)
        place = (publish or Path(record)) if write else None
        pages = embedded_runs.publish(Path(record) / PAGE, place, wording)
        if "term" in requested:
            console.emit_pages(pages)
        for path in () if console.json else pages.files:
            console.say(f"wrote {path}")
        return
    if wording is not None and publish is None:
        raise UsageError("BX104.wording-of-record")
    console.warn_of_changes(record)
    pages = report_record(
        console.results,
        record,
        formats=requested,
        embed_runs=embed_runs if publish is None else True,
        template=template,
    )
    console.emit_pages(pages)
    published: tuple[Path, ...] = ()
    if publish is not None:
        published = embedded_runs.publish(pages.record / PAGE, publish, wording).files
    for path in () if console.json else (*pages.files, *published):
        console.say(f"wrote {path}")
