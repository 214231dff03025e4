"""Export of a record in a format of other tools."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench_framework.errors import UsageError
from bench_framework.features.export import FORMATS, export_table
from bench_framework.store import finding, records
from bench_framework.store.source import Source
from bench_framework.workflow.pages import judge_record, record_host
from bench_framework.workflow.records import corrupt_records

UNKNOWN = "BX131"
"""Code: a format cannot be written."""


def export_record(results: Path, name: str, form: str, metrics: Sequence[str] = ()) -> str | bytes:
    """Return a record in a format; bytes if it is not text. Without `metrics`, all are exported.

    Raises:
        UsageError: BX101, there is no such record; BX107, it has no such metric; BX131, there is no
            such format, or it needs a package that is missing.
        RecordError: the record cannot be read.
    """
    if form not in FORMATS:
        fix = f"use one of {', '.join(FORMATS)}"
        raise UsageError(f"there is no format {form!r}", code=UNKNOWN, fix=fix)
    folder = finding.resolve(results, name)
    with records.open_record(folder) as record, corrupt_records.corruption_reported(folder):
        judgement = record.judgement() or judge_record(record)
        source = Source(record.plan, record.contents, judgement)
        table = export_table(source, record_host(record))
    known = {row["metric"] for row in table.rows}
    if missing := [metric for metric in metrics if metric not in known]:
        raise UsageError(
            f"{folder} has no metric {', '.join(map(repr, missing))}",
            code="BX107",
            fix=f"use one or more of {', '.join(sorted(known))}",
        )
    rows = [row for row in table.rows if not metrics or row["metric"] in metrics]
    return FORMATS[form](replace(table, rows=rows))
