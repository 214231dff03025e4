"""The tables of a record: ``runs.csv`` and other CSV files, and ``columns.json``."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

from bench_framework.store import (
    columns,
    imported_rows,
    judged_rows,
    layout,
    metric_columns,
    rows,
    structure_tables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from bench_framework.model.imported import Imported
    from bench_framework.store.columns import Column
    from bench_framework.store.rows import Row, Source


MAKERS: Final[dict[str, Callable[[Source], Iterator[Row]]]] = {
    "runs": rows.run_rows,
    "builds": rows.build_rows,
    "events": rows.event_rows,
    "cells": rows.cell_rows,
    "comparisons": judged_rows.comparison_rows,
    "derived": judged_rows.derived_rows,
    "effects": structure_tables.effect_rows,
    "contributions": structure_tables.contribution_rows,
}
"""Functions that yield the rows of each table, by table name."""
IMPORTED_MAKERS: Final[dict[str, Callable[[Source, Imported], Iterator[Row]]]] = {
    "runs": imported_rows.run_rows,
    "cells": imported_rows.cell_rows,
    "comparisons": imported_rows.comparison_rows,
}
"""Functions for an imported set, for the tables whose rows differ."""


def table_columns(source: Source) -> dict[str, tuple[Column, ...]]:
    """Return the columns of every table of a record, by table name."""
    axes, effective = (
        columns.axis_columns(source.plan),
        columns.effective_columns(source.effective()),
    )
    found = {
        "runs": (
            *columns.RUNS_HEAD,
            *axes,
            *effective,
            *columns.RUNS_BUILD,
            *columns.RUNS_MEASURED,
            *columns.worker_columns(source.contents.builds, source.phases(), source.plan.metrics),
            *metric_columns.declared_columns(source.plan.metrics),
            *columns.RUNS_TAIL,
            *metric_columns.RUNS,
            *metric_columns.BLOCK_RUNS,
        ),
        "builds": columns.BUILDS,
        "events": columns.EVENTS,
    }
    if source.contents.imported is not None:
        found["runs"] = imported_rows.RUNS
    if source.judgement is not None:
        found["cells"] = (*columns.IDENTITY, *columns.CELL, *axes, *effective, *columns.CELLS_TAIL)
        found["cells"] += metric_columns.CELLS
        found["cells"] += metric_columns.declared_columns(source.plan.metrics, median=True)
        found["comparisons"] = columns.COMPARISONS
        if source.judgement.derived:
            found["derived"] = columns.DERIVED
        found |= structure_tables.tables(source)
    return found


def write_tables(folder: Path, source: Source) -> None:
    """Write every available table. Without a judgement, these are runs, builds and events."""
    for name, text in table_texts(source).items():
        layout.write_whole(folder / f"{name}.csv", text)
    layout.write_whole(folder / layout.COLUMNS, columns.dictionary(table_columns(source)))


def table_texts(source: Source) -> dict[str, str]:
    """Return the text of every table by name. Equal sources give equal texts."""
    return {
        name: to_csv(wanted, _rows(source, name)) for name, wanted in table_columns(source).items()
    }


def _rows(source: Source, name: str) -> Iterator[Row]:
    imported = source.contents.imported
    if imported is not None and name in IMPORTED_MAKERS:
        return IMPORTED_MAKERS[name](source, imported)
    return MAKERS[name](source)


def to_csv(wanted: tuple[Column, ...], found: Iterable[Row]) -> str:
    """Return CSV text with commas, LF, a header line, decimal points and empty missing values.

    Raises:
        KeyError: a row has a column that the table does not declare.
    """
    names = [column.name for column in wanted]
    known = set(names)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in found:
        if not known.issuperset(row):
            raise KeyError(", ".join(sorted(set(row) - known)))
        # The writer prints missing values as empty fields, and numbers as the shortest text that
        # parses to the same value.
        values = map(row.get, names)
        writer.writerow(
            [("true" if v else "false") if v is True or v is False else v for v in values]
        )
    return text.getvalue()
