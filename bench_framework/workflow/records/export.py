"""Export of records for other tools."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench_framework.errors import UsageError
from bench_framework.features.export import export_table
from bench_framework.features.export_formats import export_formats, exporter
from bench_framework.store import finding, records
from bench_framework.store.source import Source
from bench_framework.workflow.pages import judge_record, record_host
from bench_framework.workflow.records.integrity import corruption_reported


def export_record(results: Path, name: str, form: str, metrics: Sequence[str] = ()) -> str | bytes:
    """Return a record in a format; bytes if it is not text. Without `metrics`, all are exported.

    Raises:
        UsageError: BX101, there is no such record; BX107, it has no such metric; BX131, there is no
            such format, or it needs a package that is missing.
        RecordError: the record cannot be read.
    """
    if form not in (formats := export_formats()):
        raise UsageError("BX131.no-format", form=form, formats=", ".join(formats))
    folder = finding.resolve(results, name)
    with records.open_record(folder) as record, corruption_reported(folder):
        judgement = record.judgement() or judge_record(record)
        source = Source(record.plan, record.contents, judgement)
        table = export_table(source, record_host(record))
    known = {row["metric"] for row in table.rows}
    if missing := [metric for metric in metrics if metric not in known]:
        raise UsageError(
            "BX107.no-metric",
            folder=folder,
            repr=", ".join(map(repr, missing)),
            known=", ".join(sorted(known)),
        )
    rows = [row for row in table.rows if not metrics or row["metric"] in metrics]
    content: str | bytes = exporter(form)(replace(table, rows=rows))
    return content
