"""Rows of the tables of an imported set that differ from those of a measured record."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from bench_framework.store import judged_rows, rows
from bench_framework.store.columns import CELL, IDENTITY, Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.model.imported import Imported
    from bench_framework.store.rows import Row, Source

RUNS: Final = (
    *IDENTITY,
    *CELL,
    Column("metric", "string", "wall, cpu or peak_rss"),
    Column("run", "integer", "place among the runs that ended well, from 1"),
    Column("value", "number", "seconds, or bytes for peak_rss", nullable=True),
)
"""Columns of ``runs.csv``, without rounds and other data that imported files do not have."""


def run_rows(source: Source, imported: Imported) -> Iterator[Row]:
    """Yield one row per run and metric of the sessions with single runs."""
    known = [column.name for column in (*IDENTITY, *CELL)]
    for row in rows.cell_rows(source):
        _, command = imported.commands[row["cell_id"]]
        identity = {name: row[name] for name in known}
        for series in command.series:
            for number, value in enumerate(series.values, 1):
                yield {**identity, "metric": series.metric, "run": number, "value": value}


def cell_rows(source: Source, imported: Imported) -> Iterator[Row]:
    """Yield one row per command, with the number of runs in its file."""
    for row in rows.cell_rows(source):
        _, command = imported.commands[row["cell_id"]]
        yield {**row, "runs": command.runs or 0, "runs_failed": command.failed}


def comparison_rows(source: Source, _: Imported) -> Iterator[Row]:
    """Yield one row per comparison. Each session is a separate family."""
    assert source.judgement is not None
    headline = (c for c in source.judgement.comparisons if c.family == "headline")
    sizes = Counter(source.plan.cell(c.cell_id).input_id for c in headline)
    for row in judged_rows.comparison_rows(source):
        yield {**row, "family_size": sizes[source.plan.cell(row["cell_id"]).input_id]}
