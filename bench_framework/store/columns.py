"""Columns of CSV tables, listed in ``columns.toml``: how they are described, written and read."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.model.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Names = tuple[str, ...]
_PARSERS: Final[dict[str, Callable[[str], Any]]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": {"true": True, "false": False}.__getitem__,
    "datetime": str,
    "json": json.loads,
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column. An empty field is a missing value.

    Attributes:
        name: name in the header of the table.
        type: type of Frictionless Table Schema, or ``json`` for a string of JSON.
        about: description in ``columns.json``.
        value: attributes, or keys of dictionaries, from a row to the value.
        field: path of the value in the data that is read from the table.
        required: true if every row has a value.
        unit: unit of the values, if they have one.
    """

    name: str
    type: str
    about: str
    value: Names
    field: Names = ()
    required: bool = False
    unit: str = ""

    def get(self, row: Any) -> Any:
        """Return the value of a row, or `None` if a part of the path is `None`."""
        value = row
        for name in self.value:
            if value is None:
                return None
            value = value.get(name) if type(value) is dict else getattr(value, name)
        if self.type == "json":
            return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else None
        return value

    def parse(self, content: str) -> Any:
        """Return the value of a field that is not empty. Raises `ValueError`."""
        try:
            return _PARSERS[self.type](content)
        except (ValueError, KeyError) as error:
            raise ValueError(f"{self.name} is {content!r}") from error

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
def listed(*sections: str) -> tuple[Column, ...]:
    """Return the columns of sections of ``columns.toml``."""
    columns: list[Column] = []
    for section in sections:
        for name, (words, value, about, *field) in _sections()[section].items():
            kind, *marks = words.split()
            units = [mark for mark in marks if mark != "required"]
            unit = "bytes" if kind == "integer" and name.endswith("_bytes") else "".join(units)
            path, target = (tuple(p.split(".")) for p in (value, *field, value)[:2])
            text = about or METRICS[name].about
            columns.append(Column(name, kind, text, path, target, "required" in marks, unit))
    return tuple(columns)


def to_csv(columns: Iterable[Column], rows: Iterable[object]) -> str:
    """Return CSV text with commas, LF, a header line, decimal points and empty missing values.

    Of several columns with the same name, the last one supplies the values.
    """
    names = [column.name for column in columns]
    by_name = {column.name: column.get for column in columns}
    getters = [by_name[name] for name in names]
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        # The writer prints missing values as empty fields, and numbers as the shortest text that
        # parses to the same value.
        values = (get(row) for get in getters)
        writer.writerow(
            [("true" if v else "false") if v is True or v is False else v for v in values]
        )
    return file.getvalue()


def from_csv(columns: Iterable[Column], row: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a row as nested dictionaries, by the `field` of each column.

    Empty fields are left out.

    Raises:
        ValueError: a field has another type.
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


def dictionary(tables: Mapping[str, Iterable[Column]]) -> str:
    """Return ``columns.json``, a Frictionless package with one Table Schema per table."""
    resources = [
        {
            "name": name,
            "path": f"{name}.csv",
            "schema": {"fields": [column.schema for column in columns]},
        }
        for name, columns in tables.items()
    ]
    return json.dumps({"resources": resources}, indent=1, ensure_ascii=False) + "\n"
