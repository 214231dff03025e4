"""Overrides of scenario keys from the command line: ``-S measure.rounds.max=5``."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import Position, Problem
from bench_framework.scenario.document import Document, Place, Scalar, Unreadable, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER: Final = re.compile(r"[0-9]{1,18}")


def apply(document: Document, overrides: Sequence[str]) -> None:
    """Change the document in place. Invalid overrides are added to the document's problems."""
    given: set[str] = set()
    for override in overrides:
        file = f"-S {override}"
        document.sources[file] = override
        name, equals, text = override.partition("=")
        path = name.strip().split(".")
        if not equals or not all(path) or not isinstance(document.data, dict):
            at = Position(1, 1, max(1, len(override)))
            advice = "write KEY=VALUE, such as measure.rounds.max=5"
            document.problems.append(
                Problem("BC112", "this is not an override", file=file, at=at, help=advice)
            )
            continue
        try:
            value = parse(text, file) if text.strip() else _nothing(file)
        except Unreadable as unreadable:
            moved = _shifted(unreadable.problem.at, len(name) + 1)
            document.problems.append(replace(unreadable.problem, at=moved))
            continue
        _shift(value.place, len(name) + 1)
        document.problems += [replace(p, at=_shifted(p.at, len(name) + 1)) for p in value.problems]
        value.place.key = Position(1, 1, max(1, len(name)))
        _set(document, path, value)
        given.add(name.strip())
    _keep_rounds_ordered(document, given)


def _nothing(file: str) -> Document:
    """Return an empty value whose position, after shifting, is the equals sign."""
    return Document(Scalar("", plain=True), Place(file, Position(1, 0, 1)), {})


def _set(document: Document, path: list[str], value: Document) -> None:
    """Set the value at its path and create missing mappings."""
    data, place = document.data, document.place
    for part in path[:-1]:
        key = _key(data, part)
        if key not in place.children or not isinstance(data[key], (dict, list)):
            fresh: dict[str, Any] = {}
            _put(data, key, fresh)
            place.children[key] = Place(
                value.place.file, value.place.key or value.place.value, value.place.key
            )
        else:  # YAML merges share values, so copy to change this path only
            data[key] = copy(data[key])
            place.children[key] = replace(
                place.children[key], children=dict(place.children[key].children)
            )
        data, place = data[key], place.children[key]
    key = _key(data, path[-1])
    _put(data, key, value.data)
    place.children[key] = value.place


def _key(data: Any, part: str) -> str | int:
    """Return an index into a list, or a key."""
    if isinstance(data, list):
        return min(int(part), len(data)) if part.isdigit() else len(data)
    return part


def _put(data: Any, key: str | int, value: Any) -> None:
    if isinstance(data, list) and key == len(data):
        data.append(value)
    else:
        data[key] = value


def _shifted(at: Position | None, by: int) -> Position | None:
    return replace(at, column=at.column + by) if at is not None and at.line == 1 else at


def _shift(place: Place, by: int) -> None:
    """Shift the positions of a value from the value's text to the override's text."""
    shifted: set[int] = set()
    pending = [place]
    while pending:
        item = pending.pop()
        if id(item) in shifted:
            continue
        shifted.add(id(item))
        item.value = _shifted(item.value, by) or item.value
        item.key = _shifted(item.key, by)
        pending += item.children.values()


def _keep_rounds_ordered(document: Document, given: set[str]) -> None:
    """Move the end of `measure.rounds` in the file if the other end is overridden past it."""
    measure = document.data.get("measure") if isinstance(document.data, dict) else None
    rounds = measure.get("rounds") if isinstance(measure, dict) else None
    ends = [f"measure.rounds.{end}" in given for end in ("min", "max")]
    if (
        not isinstance(rounds, dict)
        or sum(ends) != 1
        or not all(_is_number(rounds.get(end)) for end in ("min", "max"))
    ):
        return
    if int(rounds["min"]) > int(rounds["max"]):
        changed, other = ("min", "max") if ends[0] else ("max", "min")
        rounds[other] = rounds[changed]


def _is_number(value: Any) -> bool:
    return isinstance(value, Scalar) and value.plain and _NUMBER.fullmatch(value) is not None
