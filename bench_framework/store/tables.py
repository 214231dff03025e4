"""The tables of a record: ``runs.csv`` and other CSV files, and ``columns.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bench_framework.store import columns, judged_rows, layout
from bench_framework.store.columns import Column, listed
from bench_framework.store.run_rows import run_columns, run_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from bench_framework.store.source import Source


class Table(NamedTuple):
    """The columns and the rows of a table."""

    columns: tuple[Column, ...]
    rows: Iterable[object]


def record_tables(source: Source) -> dict[str, Table]:
    """Return the tables of a record by name. Without a judgement: runs, builds and events."""
    contents, judgement = source.contents, source.judgement
    events = (*contents.events, *(judgement.events if judgement else ()))
    tables = {
        "runs": Table(listed("identity", "cell", "imported-runs"), _imported_runs(source))
        if contents.imported
        else Table(run_columns(source), run_rows(source)),
        "builds": Table(listed("identity", "builds"), source.builds),
        "events": Table(listed("events"), events),
    }
    if judgement is not None:
        tables["cells"] = Table(judged_rows.cell_columns(source), judged_rows.cell_rows(source))
        comparisons = judged_rows.comparison_rows(source)
        tables["comparisons"] = Table(listed("comparisons"), comparisons)
        if judgement.derived:
            tables["derived"] = Table(listed("derived"), judged_rows.derived_rows(source))
        if judgement.structure.effects:
            effects = judged_rows.effect_rows(source)
            tables["effects"] = Table(listed("place", "effects", "verdict"), effects)
        if judgement.structure.contributions:
            steps = judged_rows.contribution_rows(source)
            tables["contributions"] = Table(listed("place", "contributions", "verdict"), steps)
    return tables


def _imported_runs(source: Source) -> Iterator[dict[str, Any]]:
    for at in source.cells.values():
        for series in at.command.series if at.command else ():
            for run, value in enumerate(series.values, 1):
                metric = {"metric": series.metric, "run": run, "value": value}
                yield {"source": source, "at": at, **metric}


def write_tables(folder: Path, source: Source) -> None:
    """Write every available table and ``columns.json``."""
    for name, content in table_texts(source).items():
        layout.write_whole(folder / f"{name}.csv", content)
    layout.write_whole(folder / layout.COLUMNS, dictionary(source))


def table_texts(source: Source) -> dict[str, str]:
    """Return the text of every table by name. Equal sources give equal texts."""
    return {name: columns.to_csv(*table) for name, table in record_tables(source).items()}


def runs_text(source: Source) -> str:
    """Return the text of ``runs.csv``."""
    return columns.to_csv(*record_tables(source)["runs"])


def dictionary(source: Source) -> str:
    """Return the text of ``columns.json``."""
    return columns.dictionary({n: table.columns for n, table in record_tables(source).items()})
