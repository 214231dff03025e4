"""``benchctl import``: a report on results of another tool or of a table."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.console import Console

EXAMPLES = """
benchctl import bench.json --baseline 'grep -c the corpus.txt'
benchctl import before.csv after.csv --baseline smol --name smol
benchctl import target/criterion
Files: JSON of hyperfine --export-json (1.x and 2.x), Google Benchmark or pyperf; a folder of criterion; or a CSV \
or Markdown table with the columns label, mean, sd, n and unit, or label, time and unit with one row per run.
"""


def import_files(
    context: typer.Context,
    files: Annotated[
        list[Path], Argument(metavar="FILE", help="Files to import; each file is one session.")
    ],
    name: Annotated[
        str | None,
        Option(metavar="NAME", help="Name of the record; default: the name of the first file."),
    ] = None,
    baseline: Annotated[
        str | None, Option(metavar="LABEL", help="Label of the baseline; default: the first label.")
    ] = None,
) -> None:
    """Import a CSV table or the results of another benchmark tool, and write a report.

    Imported results are exploratory, because their runs are not interleaved.
    A gate does not accept them.
    """
    from bench_framework.extensions.importers import workflow

    console: Console = context.obj
    console.emit_pages(workflow.import_files(console.results, files, name=name, baseline=baseline))
