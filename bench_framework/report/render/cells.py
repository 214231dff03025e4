"""Table cells in HTML: aligned texts, sort values, and few classes.

A large report has tens of thousands of cells, so that each redundant attribute costs 0.1 MB.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from bench_framework.model.verdict import Verdict
from bench_framework.report.render.widths import decimal_width

if TYPE_CHECKING:
    from bench_framework.report.blocks import Cell, Column, Row, Table

FIGURE_SPACE: Final = "\u2007"
POINT_SPACE: Final = "\u2008"
REFUSED: Final = frozenset({Verdict.FAILED, Verdict.OTHER_OUTPUT, Verdict.NOT_COMPARABLE})
DIGITS: Final = 12
"""Significant digits of a value. The last bits can depend on the processor."""
_PLAIN: Final = re.compile(r"\d+(?:\.\d+)?")
_TITLE_END: Final = re.compile(r"[:;] |\. (?=[A-Z0-9])|\.$")
WHOLE: Final = 1e15
"""Whole numbers below this value are exact as floats and need no exponent."""


def cell_texts(table: Table) -> list[list[tuple[str, str | None]]]:
    """Return the texts of a table by row, each with the value of its ``data`` element or `None`.

    In decimal columns, texts are padded with spaces as wide as a digit, so that points align. A
    column of plain numbers without claims needs no values, because its texts sort correctly.
    """
    columns = [
        _column(column, [row.cells[place] for row in table.rows])
        for place, column in enumerate(table.columns)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _column(column: Column, cells: list[Cell]) -> list[tuple[str, str | None]]:
    longest = (
        max((decimal_width(cell.text) for cell in cells), default=0)
        if column.align == "decimal"
        else 0
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
    """Split a caption at its first colon, full stop or semicolon into title and rest."""
    end = _TITLE_END.search(caption)
    return (caption, "") if end is None else (caption[: end.start()], caption[end.start() :])


def row_class(row: Row) -> Markup:
    """Return the class attribute of a row, or an empty string."""
    marks = {
        "refused": row.verdict in REFUSED,
        "inconclusive": row.verdict is Verdict.INCONCLUSIVE,
        "best": row.strong,
        "baseline": row.baseline,
    }
    return _class([name for name, applies in marks.items() if applies])


def cell_class(cell: Cell, column: Column) -> Markup:
    """Return the class attribute of a cell. Right-aligned numbers have none."""
    aligned = "" if column.align != "left" or not cell.text else "notes" if column.prose else "t"
    verdict = f"v-{cell.verdict.value}" if cell.verdict else ""
    return _class([name for name in (aligned, verdict) if name])


def _class(names: list[str]) -> Markup:
    return Markup(f' class="{" ".join(names)}"' if names else "")  # noqa: S704 -- names of ours


def _filled(text: str, longest: int) -> str:
    if not text[:1].isdigit():
        return text
    missing = longest - decimal_width(text)
    point = POINT_SPACE if missing and "." not in text else ""
    return text + point + FIGURE_SPACE * (missing - len(point))
