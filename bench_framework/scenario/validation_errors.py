"""Conversion of pydantic's validation errors to problems with positions in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench_framework.scenario import scalars
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.schema.types import docstrings, parts_in
from bench_framework.scenario.schema.worker import AxisTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench_framework.errors import Problem
    from bench_framework.scenario.document import Document, Path
    from bench_framework.scenario.schema.types import Part

_NEEDS = {
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def problem_of(error: Any, document: Document) -> tuple[Problem, Path]:
    """Return the problem and the path of the invalid part, which is removed to check the rest.

    Args:
        error: one of pydantic's ``ValidationError.errors()``.
        document: the validated document.
    """
    loc: tuple[str | int, ...] = error["loc"]
    path = known_path(document.data, loc)
    kind, context = error["type"], error.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(document, loc, path), path
    if kind == "missing":
        name = str(loc[-1])
        message = f"`{name}` is missing in `{spell(path)}`" if path else f"`{name}` is missing"
        return document.key_problem(path, "BC107", message, help=_described(loc)), path
    if kind.startswith("BC"):
        return _refusal(document, loc, path, kind, context)
    return _shape_problem(document, path, error), path


def _shape_problem(document: Document, path: Path, error: Any) -> Problem:
    """Return the problem of an error that pydantic itself raised, such as a wrong type."""
    kind, context = error["type"], error.get("ctx", {})
    value = document_value(document.data, path)
    label, advice = "", None
    if kind in _NEEDS:
        message = f"must be {_NEEDS[kind]}, got {scalars.describe(value)}"
        label = f"expected {_NEEDS[kind]}"
        advice = (
            f"write [{value}]" if isinstance(value, str) and value and kind == "list_type" else None
        )
    elif kind == "too_short":
        least, actual = context.get("min_length", 1), context.get("actual_length", 0)
        message = f"must have at least {_entries(least)}, got {actual}"
    elif kind == "too_long":
        message = f"must have exactly {_entries(context.get('max_length', 1))}, got {len(value)}"
    else:
        message = f"cannot be read: {error['msg']}"
    return document.value_problem(
        path, "BC102", f"`{spell(path)}` {message}", label=label, help=advice
    )


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def known_path(data: Any, loc: Sequence[Any]) -> Path:
    """Return `loc` without the parts that are not in the document, such as tags of unions."""
    path: list[str | int] = []
    for part in loc:
        inside = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if inside or (isinstance(data, dict) and part in data):
            data = data[part]
            path.append(part)
    return tuple(path)


def document_value(data: Any, path: Path) -> Any:
    """Return the value at a path that exists in the document."""
    for part in path:
        data = data[part]
    return data


def spell(path: Path) -> str:
    """Return a path as a user writes it: ``measure.rounds.min``, ``axes.io[2]``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the scenario"


def _refusal(
    document: Document, loc: Sequence[str | int], path: Path, code: str, context: dict[str, Any]
) -> tuple[Problem, Path]:
    """Return the problem of a `Refused` from `scalars` or from `Part.demand`."""
    message = context["message"]
    more = {"label": context["label"], "help": context["help"] or None}
    at: Path = tuple(context["at"])
    if at:
        inner = (*path, *at)
        return document.key_problem(inner, code, message, **more), known_path(document.data, inner)
    if message.startswith(("must ", "cannot ")):
        message = f"`{spell(path)}` {message}"
    if loc and loc[-1] == "[key]":
        return _refused_key(document, path, code, message, more), path
    if code in {"BC107", "BC108"} and isinstance(document_value(document.data, path), dict):
        return document.key_problem(path, code, message, **more), path
    return document.value_problem(path, code, message, **more), path


def _refused_key(
    document: Document, path: Path, code: str, message: str, more: dict[str, Any]
) -> Problem:
    """Return the problem of a key that is not a valid name or not in a closed set."""
    if code != "BC102":
        return document.key_problem(path, code, message, **more)
    listed = str(more["label"]).replace("not one of", "keys allowed here")
    advice = "  ".join(text for text in (more["help"], listed) if text)
    return document.key_problem(
        path, "BC101", f"unknown key `{path[-1]}` in `{spell(path[:-1])}`", help=advice or None
    )


def _unknown_key(document: Document, loc: Sequence[str | int], path: Path) -> Problem:
    key = str(loc[-1])
    keys = keys_of(part_at(loc[:-1]))
    where = f" in `{spell(path[:-1])}`" if path[:-1] else ""
    near = scalars.did_you_mean(key, keys)
    listed = (
        f"keys allowed here: {', '.join(sorted(keys))}" if len(keys) <= scalars.MAX_LISTED else ""
    )
    advice = "  ".join(text for text in (near, listed) if text)
    return document.key_problem(path, "BC101", f"unknown key `{key}`{where}", help=advice or None)


def keys_of(part: type[Part]) -> list[str]:
    """Return the keys of a part as they are written in YAML."""
    return [field.alias or name for name, field in part.model_fields.items()]


def part_at(loc: Sequence[str | int]) -> type[Part]:
    """Return the model of the mapping at `loc`, a pydantic location with union tags."""
    kinds: list[type[Part]] = [ScenarioFile]
    for step in loc:
        if step in {"<list>", "<mapping>", "<scalar>"}:
            kinds = [kind for kind in kinds if kind is not AxisTable] or kinds
        elif isinstance(step, str) and step.startswith("<"):
            kinds = [kind for kind in kinds if kind.__name__ == step[1:-1]] or kinds
        elif isinstance(step, str):
            kinds = _below(kinds, step) or kinds
    return kinds[0]


def _below(kinds: list[type[Part]], key: str) -> list[type[Part]]:
    return [
        part
        for kind in kinds
        for name, field in kind.model_fields.items()
        if (field.alias or name) == key
        for part in parts_in(field.annotation)
    ]


def _described(loc: Sequence[str | int]) -> str | None:
    """Return the description of a missing key."""
    part = part_at(loc[:-1])
    for name, field in part.model_fields.items():
        if (field.alias or name) == loc[-1] and (text := docstrings(part).get(name)):
            return f"add `{loc[-1]}`: {text[0].lower()}{text[1:]}".rstrip(".").replace("\n", " ")
    return None
