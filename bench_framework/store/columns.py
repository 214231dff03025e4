"""Columns of CSV tables, listed in ``columns.toml``: how they are described, written and read."""

import csv
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from bench_framework.foreign import escaped, parse_json
from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import METRICS
from bench_framework.model.reasons import Reason
from bench_framework.text.reasons import phrase, phrase_of

Names = tuple[str, ...]
MOST_CACHED: Final = 1 << 14
"""Texts whose fields are remembered: most texts of a table occur in many rows."""
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that act on a terminal: control characters and direction marks."""
_ESCAPE: Final = re.compile(r"\\(\\|x[0-9a-f]{2}|u[0-9a-f]{4})")
_FORMULA: Final = tuple("=+-@\t'")
# A note of a worker can be longer than Python's limit of 128 KiB.
csv.field_size_limit(1 << 30)


@lru_cache(maxsize=MOST_CACHED)
def to_field(text: str) -> str:
    r"""Return a text for a CSV field that a spreadsheet does not compute and a terminal can print.

    A text that begins like a formula gets a leading ``'``. A control character becomes ``\x1b``; in
    such a text, and in one that contains ``\x`` or ``\u``, a backslash is doubled.
    """
    if "\\x" in text or "\\u" in text or _CONTROL.search(text):
        text = _CONTROL.sub(escaped, text.replace("\\", "\\\\"))
    return f"'{text}" if text.startswith(_FORMULA) else text


@lru_cache(maxsize=MOST_CACHED)
def from_field(text: str) -> str:
    """Return the text that `to_field` converted."""
    text = text.removeprefix("'")
    if "\\x" not in text and "\\u" not in text:
        return text
    return _ESCAPE.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)), text)


_PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "string": from_field,
    "integer": int,
    "number": float,
    "boolean": {"true": True, "false": False}.__getitem__,
    "datetime": str,
    "json": parse_json,
}


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column. An empty field is a missing value.

    Attributes:
        type: type of Frictionless Table Schema, or ``json`` for a string of JSON.
        about: description in ``columns.json``.
        value: attributes, or keys of dictionaries, from a row to the value.
        field: path of the value in the data that is read from the table.
        required: true if every row has a value.
    """

    name: str
    type: str
    about: str
    value: Names
    field: Names = ()
    required: bool = False
    unit: str = ""

    def get(self, row: Any) -> Any:
        """Return the value of a row as a field, or `None` if a part of the path is `None`."""
        root = self.value[0]
        value = row[root] if type(row) is dict else getattr(row, root)
        for name in self.value[1:]:
            if value is None:
                return None
            value = value.get(name) if type(value) is dict else getattr(value, name)
        if self.type == "json":
            text = json.dumps(value, ensure_ascii=False, sort_keys=True) if value else None
            return text and _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
        if isinstance(value, Reason):
            value = phrase(value)
        if self.type == "string" and isinstance(value, str):
            return to_field(value)
        return value

    def parse(self, content: str) -> Any:
        """Return the value of a field that is not empty. Raises `ValueError`."""
        try:
            return _PARSERS[self.type](content)
        except (ValueError, KeyError) as error:
            raise ValueError(phrase_of(FaultCode.HAS_VALUE, self.name, repr(content))) from error

    @property
    def schema(self) -> dict[str, Any]:
        """Entry in ``columns.json``."""
        kind = "string" if self.type == "json" else self.type
        schema: dict[str, Any] = {"name": self.name, "type": kind, "description": self.about}
        if self.unit:
            schema["unit"] = self.unit
        if self.required:
            schema["constraints"] = {"required": True}
        return schema


@cache
def _sections() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))


@cache
def listed(*sections: str) -> tuple[CsvColumn, ...]:
    """Return the columns of sections of ``columns.toml``."""
    columns: list[CsvColumn] = []
    for section in sections:
        for name, (words, value, about, *field) in _sections()[section].items():
            kind, *marks = words.split()
            units = [mark for mark in marks if mark != "required"]
            unit = "bytes" if kind == "integer" and name.endswith("_bytes") else "".join(units)
            path, target = (tuple(p.split(".")) for p in (value, *field, value)[:2])
            text = about or METRICS[name].about
            columns.append(CsvColumn(name, kind, text, path, target, "required" in marks, unit))
    return tuple(columns)


def metric_column(name: str, kind: str, about: str, path: Names) -> CsvColumn:
    """Return the column of a built-in metric, with its unit."""
    return CsvColumn(name, kind, about, path, path, unit=METRICS[name].unit)


def fields_of(columns: Iterable[CsvColumn], rows: Iterable[object]) -> Iterator[list[Any]]:
    """Yield the names of the columns, then the fields of each row for `csv_lines`.

    Texts are converted by `to_field`.
    Of several columns with the same name, the last one supplies the values.
    """
    names = [column.name for column in columns]
    by_name = {column.name: column.get for column in columns}
    getters = [by_name[name] for name in names]
    yield [*map(to_field, names)]
    for row in rows:
        values = (get(row) for get in getters)
        yield [("true" if v else "false") if v is True or v is False else v for v in values]


class _Echo:
    """A file for a `csv.writer` that returns each line."""

    def write(self, line: str) -> str:
        return line


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Yield CSV lines with commas, LF, decimal points and empty missing values."""
    # The writer prints missing values as empty fields, and numbers as the shortest text that
    # parses to the same value.
    return map(csv.writer(_Echo(), lineterminator="\n").writerow, rows)


def to_csv(columns: Iterable[CsvColumn], rows: Iterable[object]) -> str:
    """Return the CSV text of a table with a header line."""
    return "".join(csv_lines(fields_of(columns, rows)))


def from_csv(columns: Iterable[CsvColumn], row: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a row as nested dictionaries, by the `field` of each column.

    Empty fields are left out.

    Raises `ValueError`: a field has another type.
    """
    values: dict[str, Any] = {}
    for column in columns:
        if content := row.get(column.name):
            *parents, name = column.field
            level = values
            for parent in parents:
                level = level.setdefault(parent, {})
            level[name] = column.parse(content)
    return values
