"""What the cells of a table become in HTML: aligned texts, the number behind a text, and as few classes as will do.

A page of two hundred cells has tens of thousands of these, so that each attribute that says nothing costs a reader
a tenth of a megabyte.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from bench_framework.report.blocks import Cell, Column, Row, Table

FIGURE_SPACE: Final = "\u2007"
POINT_SPACE: Final = "\u2008"
REFUSED: Final = frozenset({Verdict.FAILED, Verdict.OTHER_OUTPUT, Verdict.NOT_COMPARABLE})
DIGITS: Final = 12
"""Significant digits of a value: the last bits may depend on the processor; the record's files have them all."""
_PLAIN: Final = re.compile(r"\d+(?:\.\d+)?")
_TITLE_END: Final = re.compile(r"[:;] |\. (?=[A-Z0-9])|\.$")
WHOLE: Final = 1e15
"""Below this every whole number is one of floating point, and is written without an exponent."""


def shown(table: Table) -> list[list[tuple[str, str | None]]]:
    """Row by row the texts of a table, each with the value of its ``data`` element, if it needs one.

    In decimal columns texts are filled with spaces as wide as a digit, so that points align. A column of plain
    numbers without claims needs no values: it sorts as well by what it shows, and the record's files have the rest.
    """
    columns = [
        _column(column, [row.cells[place] for row in table.rows])
        for place, column in enumerate(table.columns)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _column(column: Column, cells: list[Cell]) -> list[tuple[str, str | None]]:
    longest = (
        max((_decimals(cell.text) for cell in cells), default=0) if column.align == "decimal" else 0
    )
    plain = all(c.claim is None and (_PLAIN.fullmatch(c.text) or c.value is None) for c in cells)
    return [
        (_filled(cell.text, longest) if longest else cell.text, None if plain else _datum(cell))
        for cell in cells
    ]


def _datum(cell: Cell) -> str | None:
    """Return the value that a cell is sorted by."""
    value = cell.value
    if value is None or (cell.claim is None and value == cell.verdict):
        return None
    if isinstance(value, str):
        return value
    if float(value).is_integer() and abs(value) < WHOLE:
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def headed(caption: str) -> tuple[str, str]:
    """A caption as its title, which is what stands before the first colon, stop or semicolon, and the rest."""
    end = _TITLE_END.search(caption)
    return (caption, "") if end is None else (caption[: end.start()], caption[end.start() :])


def row_class(row: Row) -> Markup:
    """The class attribute of a row, or nothing."""
    marks = {"refused": row.verdict in REFUSED, "best": row.strong, "baseline": row.baseline}
    return _class([name for name, holds in marks.items() if holds])


def cell_class(cell: Cell, column: Column) -> Markup:
    """The class attribute of a cell: numbers stand at the right without one."""
    aligned = "" if column.align != "left" or not cell.text else "notes" if column.prose else "t"
    verdict = f"v-{cell.verdict.value}" if cell.verdict else ""
    return _class([name for name in (aligned, verdict) if name])


def _class(names: list[str]) -> Markup:
    return Markup(f' class="{" ".join(names)}"' if names else "")  # noqa: S704 -- names of ours


def _filled(text: str, longest: int) -> str:
    if not text[:1].isdigit():
        return text
    missing = longest - _decimals(text)
    point = POINT_SPACE if missing and "." not in text else ""
    return text + point + FIGURE_SPACE * (missing - len(point))


def _decimals(text: str) -> int:
    """Characters from the point to the end of the number, the point counted."""
    if not text[:1].isdigit() or "." not in text:
        return 0
    return len(text) - text.index(".")
