"""Reader of published tables: label, mean, sd, n and unit per row, as CSV or Markdown."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from bench_framework.store.importers import faults

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIRED: Final = ("label", "mean")
COLUMNS: Final = (*REQUIRED, "sd", "n", "unit")
PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "µs": 10**6, "μs": 10**6, "ns": 10**9}
"""Number of each unit in a second. µ is the micro sign or the Greek letter."""
MOST_RUNS: Final = 10**9
_PIPE: Final = re.compile(r"(?<!\\)\|")
"""Separator of the cells of a row. ``\\|`` is a literal bar."""
_HYPERFINES: Final = "command"
"""First column of the tables that hyperfine writes."""


@dataclass(frozen=True, slots=True)
class Published:
    """One row of a table, in seconds. Missing values are `None`."""

    label: str
    mean: float
    sd: float | None
    n: int | None


def read_table(text: str, file: str) -> tuple[Published, ...]:
    """Return the rows of a table.

    The text is CSV with a header line, or a Markdown table. The columns label, mean, sd, n and unit
    may have any order.

    Raises `UsageError` (BX454): it is not such a table (BX451), a value is not possible (BX452), or
    the units are invalid.
    """
    lines = _markdown(text) if text.lstrip().startswith("|") else _comma(text, file)
    head, *rows = lines or [[]]
    names = [name.strip().lower() for name in head]
    _check_head(names, file)
    if not rows:
        raise faults.fault(faults.UNKNOWN, file, "the table has no rows")
    figures = [
        _row(dict(zip(names, cells, strict=True)), file, f"row {number}")
        for number, cells in _whole(rows, len(names), file)
    ]
    units = list(dict.fromkeys(unit for _, unit in figures))
    if len(units) > 1:
        fix = "use the same unit in every row"
        raise faults.fault(
            faults.UNITS, file, f"one table has several units: {', '.join(units)}", fix=fix
        )
    return tuple(row for row, _ in figures)


def _markdown(text: str) -> list[list[str]]:
    """Return the cells of each line of a Markdown table, without the rule below the header."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("|")]
    rows = [[cell.strip().replace("\\|", "|") for cell in _PIPE.split(line)[1:]] for line in lines]
    rows = [row[:-1] if row and not row[-1] else row for row in rows]
    return [row for row in rows if not all(cell and set(cell) <= set(":-") for cell in row)]


def _comma(text: str, file: str) -> list[list[str]]:
    try:
        lines = list(csv.reader(io.StringIO(text), strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise faults.fault(
            faults.UNKNOWN, file, "the table is not valid CSV", cause=str(error)
        ) from error
    return [[cell.strip() for cell in line] for line in lines if any(cell.strip() for cell in line)]


def _check_head(names: list[str], file: str) -> None:
    missing = [name for name in REQUIRED if name not in names]
    strange = [name for name in names if name not in COLUMNS]
    if missing or strange or len(set(names)) < len(names):
        problem = (
            f"no column {', '.join(missing)}" if missing else f"the columns {', '.join(names)}"
        )
        advice = (
            f"write the column names in the first line: {','.join(COLUMNS)} (sd, n, unit optional)"
        )
        if names[:1] == [_HYPERFINES]:
            problem = (
                "this looks like a table of hyperfine, which does not contain the number of runs"
            )
            advice = "import the file of `hyperfine --export-json`, which contains every run"
        message = f"the file is neither hyperfine's JSON nor a table with a header: {problem}"
        raise faults.fault(faults.UNKNOWN, file, message, fix=advice)


def _whole(rows: list[list[str]], width: int, file: str) -> Iterator[tuple[int, list[str]]]:
    for number, cells in enumerate(rows, 1):
        if len(cells) != width:
            message = f"row {number} has {len(cells)} cells, the header has {width}"
            raise faults.fault(faults.UNKNOWN, file, message)
        yield number, cells


def _row(cells: dict[str, str], file: str, where: str) -> tuple[Published, str]:
    label = cells["label"]
    if not label:
        raise faults.fault(faults.NAMES, file, "a row has no label", where=where)
    where = f"{where} ({label})"
    unit = cells.get("unit") or "s"
    if unit not in PER_SECOND:
        fix = f"use one of: {', '.join(PER_SECOND)}"
        raise faults.fault(
            faults.UNITS, file, f"{unit!r} is not a unit of time", where=where, fix=fix
        )
    scale = PER_SECOND[unit]
    mean = faults.require_time(
        _seconds(cells["mean"], scale, "mean", file, where), "mean", file, where
    )
    sd = None
    if cells.get("sd"):
        spread = _seconds(cells["sd"], scale, "sd", file, where)
        sd = faults.require_amount(spread, faults.MOST_S, "sd", file, where)
    n = _count(cells.get("n", ""), file, where)
    # A single run has no spread, so a given value is ignored.
    return Published(label, mean, sd if n != 1 else None, n), unit


def _seconds(text: str, per_second: int, what: str, file: str, where: str) -> float:
    """Return a time in seconds, converted in decimal so that 191.2 ms is exactly 0.1912 s."""
    value = _number(text, what, file, where)
    return float(Decimal(repr(value)) / per_second)


def _number(text: str, what: str, file: str, where: str) -> float:
    try:
        return float(text.replace("_", "x"))
    except ValueError as error:
        message = f"{what} is {text!r}, which is not a number"
        fix = "write a number with a decimal point; the unit has a separate column"
        raise faults.fault(faults.IMPOSSIBLE, file, message, where=where, fix=fix) from error


def _count(text: str, file: str, where: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:12]) <= MOST_RUNS:
        message = f"n is {text}; it must be a whole number of at least 1"
        raise faults.fault(faults.IMPOSSIBLE, file, message, where=where)
    return int(text)
