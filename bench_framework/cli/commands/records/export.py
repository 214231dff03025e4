"""``benchctl export``: a record in a format of other tools."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from bench_framework.cli.arguments import RecordName, names_in
from bench_framework.cli.console import Console
from bench_framework.errors import UsageError
from bench_framework.features.export_formats import export_formats

EXAMPLES = """
benchctl export @last --format csv-long
benchctl export @last --format parquet -o last.parquet
benchctl export @last --format bmf --metric wall -o wall.json    # for Bencher
benchctl export @last --format benchstat > new.txt   # for Go's benchstat
benchctl export @main --format latex --metric wall,peak_rss -o table.tex
"""


def export(
    context: typer.Context,
    record: RecordName = "@last",
    format: Annotated[  # noqa: A002 -- the name of the option
        str,
        Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help=f"Format: {', '.join(export_formats())}. Format bmf is that of Bencher.",
        ),
    ] = "csv-long",
    metric: Annotated[
        str | None, Option(metavar="LIST", help="Metrics, such as wall,peak_rss; default: all.")
    ] = None,
    out: Annotated[
        Path | None, Option("--out", "-o", metavar="FILE", help="File to write; default: stdout.")
    ] = None,
) -> None:
    """Write the results of a record in a format that other tools read.

    csv-long, jsonl and parquet have one row per configuration and metric: median,
    95 % CI and the comparison with the baseline, in seconds and bytes. latex
    prints these rows. The others have no comparison: hyperfine has one result per
    configuration, benchstat one line per run, and the rest the medians.
    """
    from bench_framework.store import layout
    from bench_framework.workflow.documents import FileDocument
    from bench_framework.workflow.records.export import export_record

    console: Console = context.obj
    console.warn_of_changes(record)
    content = export_record(
        console.results,
        record,
        format,
        names_in(metric) if metric else (),
    )
    if out is not None:
        layout.write_output(out, content)
        if console.json:
            console.emit_json(FileDocument(out, format, out.stat().st_size))
        else:
            console.say(f"wrote {out}")
    elif isinstance(content, bytes):
        raise UsageError("BX100.not-text", format=format)
    else:
        console.emit(content)
