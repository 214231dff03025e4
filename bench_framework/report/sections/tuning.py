"""What the scenario's `tuning` found, as it was printed: a table for S22, without any sentence of ours about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from bench_framework.report.blocks import Block, Cell, Column, Row, Table
from bench_framework.report.numbers import DASH, show_size, significant

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData

MOST_ROWS: Final = 60
"""Of a larger table the rest stands in tuning.json."""
MOST_COLUMNS: Final = 8
DIGITS: Final = 3
_Value = str | int | float | bool | None


def tuning(data: ReportData) -> tuple[Block, ...]:
    """One table of the ``rows`` that were printed, the ``choice`` marked; nothing where there are none."""
    said = data.tuning or {}
    rows: list[Mapping[str, Any]] = [
        row for row in _list(said.get("rows")) if isinstance(row, Mapping)
    ]
    columns = [str(name) for name in rows[0]][:MOST_COLUMNS] if rows else []
    if not columns:
        return ()
    choice = said.get("choice")
    heads = [_head(name, rows, data) for name in columns]
    places = (Column(heads[0]), *(Column(head, "right") for head in heads[1:]))
    shown = tuple(
        Row(
            tuple(_cell(name, row.get(name), data) for name in columns), strong=_chosen(row, choice)
        )
        for row in rows[:MOST_ROWS]
    )
    basis = said.get("basis")
    legend = ["Bold: chosen."] if any(row.strong for row in shown) else []
    legend += [f"The command's own words: {basis}."] if isinstance(basis, str) and basis else []
    ran = said.get("effective")
    if isinstance(ran, Mapping) and ran:
        legend.append(f"What ran: {', '.join(f'{axis} {value}' for axis, value in ran.items())}.")
    if len(rows) > MOST_ROWS:
        legend.append(f"{len(rows) - MOST_ROWS} more rows stand in tuning.json.")
    caption = "What was tried once before measuring, by the scenario's tuning command: a starting point, not a result."
    return (Table("tuning", caption, places, shown, tuple(legend), sortable=False),)


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
    if isinstance(value, list):  # of several trials, how many there were
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
