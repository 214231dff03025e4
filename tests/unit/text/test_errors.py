"""The texts of errors: each raise gives the values of its entry, and each entry is raised."""

import ast
import pickle
import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from bench_framework import errors
from bench_framework.errors import BenchError, ScenarioError, UsageError
from bench_framework.text.errors import error_text, explanations, table

PACKAGE: Final = Path(errors.__file__).parent
KEY: Final = re.compile(r"B[CX]\d{3}(\.[a-z0-9-]+)?")
TEXTS: Final = ("message", "effect", "fix", "label", "note")
OTHER_KEYWORDS: Final = {"details", "exit_code", "also"}
OTHER_CALLS: Final = {"Event", "frozenset", "error_text"}
"""Calls whose codes are not those of errors, or that give the values as a mapping."""
GIVEN_BY_HELPER: Final = {
    "unknown": {"fix"},
    "_too_many": {"count", "pair"},
    "split_command": {"text", "reason"},
}
"""Values that a function adds to those of its callers."""
DETAILS_OF_HELPER: Final = {"fault": {"where", "cause"}}
"""Keywords of a function that become details."""


def entries() -> dict[str, Mapping[str, str]]:
    """Return each entry with a message, by its key."""
    result: dict[str, Mapping[str, str]] = {}
    for code, entry in table().items():
        if "message" in entry:
            result[code] = entry
        result |= {f"{code}.{name}": part for name, part in entry.items() if isinstance(part, dict)}
    return result


def placeholders(entry: Mapping[str, str]) -> set[str]:
    parts = (part for name in TEXTS for part in string.Formatter().parse(entry.get(name, "")))
    return {name for _, name, _, _ in parts if name}


def sources() -> Iterator[tuple[str, ast.AST]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield path.name, node


def keys_in(node: ast.expr) -> list[str]:
    """Return the keys that an argument may be."""
    options = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)
    values = (option.value for option in options if isinstance(option, ast.Constant))
    return [value for value in values if isinstance(value, str) and KEY.fullmatch(value)]


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def test_each_raise_gives_the_values_of_its_entry() -> None:
    texts, wrong = entries(), []
    for file, node in sources():
        if not isinstance(node, ast.Call) or name_of(node) in OTHER_CALLS:
            continue
        name, given = name_of(node), {keyword.arg for keyword in node.keywords}
        given -= OTHER_KEYWORDS | DETAILS_OF_HELPER.get(name, set())
        given |= GIVEN_BY_HELPER.get(name, set())
        for key in (key for argument in node.args[:3] for key in keys_in(argument)):
            if key in texts and given != placeholders(texts[key]):
                wrong.append((file, node.lineno, key, given ^ placeholders(texts[key])))
            elif key not in texts and "." in key:
                wrong.append((file, node.lineno, key, {"no entry"}))
    assert wrong == []


def test_each_entry_is_raised() -> None:
    constants = {
        node.value
        for _, node in sources()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert sorted(set(entries()) - constants) == []


def test_no_error_is_raised_with_a_text_of_its_own() -> None:
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, BenchError) and kind is not ScenarioError
    }
    literal = []
    for file, node in sources():
        if isinstance(node, ast.Call) and name_of(node) in kinds:
            first = node.args[0]
            by_name = isinstance(first, ast.Name) and first.id == "key"
            if len(node.args) != 1 or not (by_name or keys_in(first)):
                literal.append((file, node.lineno))
    assert literal == []


def test_the_texts_are_filled_with_the_values() -> None:
    text = error_text("BX107.histories-no-metric", {"metric": "wal", "medians": "wall, cpu"})
    assert text == ("BX107", "histories have no metric wal", None, "use one of wall, cpu", "", None)


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        error_text("BX107.histories-no-metric", {"metric": "wal"})


def test_an_explanation_is_one_text_or_title_text_and_example() -> None:
    assert {len(texts) for texts in explanations().values()} == {1, 3}


def test_an_error_is_the_same_after_a_way_through_another_process() -> None:
    error = UsageError("BX107.histories-no-metric", details=(("a", "b"),), metric="m", medians="x")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (UsageError, str(error), vars(error))
