"""The output of the scenario's `tuning` command as a table of the technical notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from bench_framework.report.blocks import Block, Cell, Column, Row, Table
from bench_framework.report.numbers import DASH, show_size, significant

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData

MOST_ROWS: Final = 60
"""Most rows of the table. tuning.json contains all."""
MOST_COLUMNS: Final = 8
DIGITS: Final = 3
_Value = str | int | float | bool | None


def tuning(data: ReportData) -> tuple[Block, ...]:
    """Return one table of the printed ``rows`` with the ``choice`` in bold.

    It is an empty tuple without rows.
    """
    output = data.tuning or {}
    rows: list[Mapping[str, Any]] = [
        row for row in _list(output.get("rows")) if isinstance(row, Mapping)
    ]
    columns = [str(name) for name in rows[0]][:MOST_COLUMNS] if rows else []
    if not columns:
        return ()
    choice = output.get("choice")
    heads = [_head(name, rows, data) for name in columns]
    heads_of = (Column(heads[0]), *(Column(head, "right") for head in heads[1:]))
    table_rows = tuple(
        Row(
            tuple(_cell(name, row.get(name), data) for name in columns), strong=_chosen(row, choice)
        )
        for row in rows[:MOST_ROWS]
    )
    basis = output.get("basis")
    legend = ["Bold: chosen."] if any(row.strong for row in table_rows) else []
    legend += [f"Reported by the command: {basis}."] if isinstance(basis, str) and basis else []
    ran = output.get("effective")
    if isinstance(ran, Mapping) and ran:
        legend.append(
            f"Actual modes: {', '.join(f'{axis} {value}' for axis, value in ran.items())}."
        )
    if len(rows) > MOST_ROWS:
        legend.append(f"tuning.json contains {len(rows) - MOST_ROWS} more rows.")
    caption = (
        "Output of the scenario's tuning command, which tried each row once before the "
        "measurement: a starting point, not a result."
    )
    return (Table("tuning", caption, heads_of, table_rows, tuple(legend), sortable=False),)


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _chosen(row: Mapping[str, Any], choice: object) -> bool:
    return (
        isinstance(choice, Mapping)
        and bool(choice)
        and all(row.get(key) == choice[key] for key in choice)
    )


def _head(name: str, rows: Sequence[Mapping[str, Any]], data: ReportData) -> str:
    if any(isinstance(row.get(name), list) for row in rows):
        return f"{name.replace('_', ' ')}, n"
    if name.endswith("_per_s"):
        return f"{name.removesuffix('_per_s').replace('_', ' ')}/s".replace(
            "bytes/s", f"{_rate(data)[0]}/s"
        )
    return name.removesuffix("_bytes").replace("_", " ")


def _cell(name: str, value: object, data: ReportData) -> Cell:
    if isinstance(value, list):  # a list of trials is shown by its length
        return Cell(str(len(value)), len(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell(DASH if value is None else str(value))
    if name == "bytes_per_s":
        return Cell(significant(value / _rate(data)[1], DIGITS), value)
    if name.endswith("_bytes"):
        return Cell(show_size(value, data.plan.unit_family), value)
    return Cell(str(value) if isinstance(value, int) else significant(value, DIGITS), value)


def _rate(data: ReportData) -> tuple[str, float]:
    return ("MB", 1e6) if data.plan.unit_family == "si" else ("MiB", float(1 << 20))
