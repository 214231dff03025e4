"""The texts of errors: each raise gives the values of its entry, and each entry is raised."""

import ast
import pickle
import re
import string
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from bench_framework import errors
from bench_framework.cli.app import app
from bench_framework.errors import BenchError, ScenarioError, UsageError
from bench_framework.text.errors import entry_of, error_text, explanations, table

PACKAGE: Final = Path(errors.__file__).parent
KEY: Final = re.compile(r"B[CX]\d{3}(\.[a-z0-9-]+)?")
TEXTS: Final = ("message", "effect", "fix", "label", "note")
OTHER_KEYWORDS: Final = {"details", "exit_code", "also"}
AMENDING: Final = {"amend", "amended"}
OTHER_CALLS: Final = {"frozenset", "error_text"}
"""Calls whose codes are not those of errors, or that give the values as a mapping."""
GIVEN_BY_HELPER: Final = {
    "block_event": {"label"},
    "require_linux": {"system"},
    "unknown": {"near", "known"},
    "_too_many": {"count", "pair"},
    "split_command": {"text", "reason"},
    "_refused": {"library", "program"},
    "unreachable": {"address", "tls"},
    "connected": {"address", "tls"},
    "similar": {"near", "known"},
}
"""Values that a function adds to those of its callers, or returns for `**`."""
DETAILS_OF_HELPER: Final = {"fault": {"where", "cause"}}
"""Keywords of a function that become details."""


def entries() -> dict[str, Mapping[str, str]]:
    """Return each entry with a message, by its key."""
    result: dict[str, Mapping[str, str]] = {}
    for code, entry in table().items():
        if "message" in entry:
            result[code] = entry
        keys = [f"{code}.{name}" for name, part in entry.items() if isinstance(part, dict)]
        result |= {key: entry_of(key) for key in keys}
    return result


def parts_of(entry: Mapping[str, object]) -> list[object]:
    """Return the tables of a code that have several messages, effects or fixes."""
    return [part for part in entry.values() if isinstance(part, dict)]


def placeholders(entry: Mapping[str, str]) -> set[str]:
    return {name for text in TEXTS for name in names_in(entry.get(text, ""))}


def values_needed(call: ast.Call, key: str) -> set[str]:
    """Return the values that a call must give: those of the whole entry, or of what it replaces."""
    code, _, variant = key.partition(".")
    amending = name_of(call) in AMENDING
    return placeholders(table()[code][variant] if amending else entry_of(key))


def names_in(text: str) -> Iterator[str]:
    """Return the placeholders of a text and of its parts."""
    for _, name, part, _ in string.Formatter().parse(text):
        if name:
            yield name
            yield from names_in(part or "")


@cache
def sources() -> tuple[tuple[str, ast.AST], ...]:
    return tuple(
        (path.name, node)
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def keys_in(node: ast.expr) -> list[str]:
    """Return the keys that an argument may be."""
    options = (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,)
    values = (option.value for option in options if isinstance(option, ast.Constant))
    return [value for value in values if isinstance(value, str) and KEY.fullmatch(value)]


def name_of(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def assigned_keys(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Yield each variable of a function with a key that is assigned to it."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=True))
            yield from ((ast.unparse(name), key) for name, part in pairs for key in keys_in(part))


def values_of(keyword: ast.keyword) -> set[str]:
    """Return the name of the value of an argument, or those of the values that `**helper()` gives."""
    if keyword.arg is None and isinstance(keyword.value, ast.Call):
        return GIVEN_BY_HELPER.get(name_of(keyword.value), {""})
    return {keyword.arg or ""}


def values_given(call: ast.Call) -> set[str]:
    """Return the names of the values that a call gives to its texts."""
    name, given = name_of(call), set[str]().union(*map(values_of, call.keywords))
    given -= OTHER_KEYWORDS | DETAILS_OF_HELPER.get(name, set())
    return given | GIVEN_BY_HELPER.get(name, set())


def test_each_raise_gives_the_values_of_its_entry() -> None:
    texts, wrong = entries(), []
    for file, node in sources():
        if not isinstance(node, ast.Call) or name_of(node) in OTHER_CALLS:
            continue
        given = values_given(node)
        for key in (key for argument in node.args[:3] for key in keys_in(argument)):
            if key in texts and given != (needed := values_needed(node, key)):
                wrong.append((file, node.lineno, key, given ^ needed))
            elif key not in texts and "." in key:
                wrong.append((file, node.lineno, key, {"no entry"}))
    assert wrong == [], wrong


def test_a_key_in_a_variable_gets_the_values_of_its_entry() -> None:
    texts, wrong = entries(), []
    for file, function in sources():
        if not isinstance(function, ast.FunctionDef):
            continue
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        calls = [call for call in calls if name_of(call) not in OTHER_CALLS]
        for variable, key in assigned_keys(function):
            users = [call for call in calls if variable in map(ast.unparse, call.args[:3])]
            checked = users if key in texts else []
            if checked and not any(values_needed(c, key) <= values_given(c) for c in checked):
                wrong.append((file, function.name, key))
    assert wrong == []


def test_each_entry_is_raised() -> None:
    constants = {
        node.value
        for _, node in sources()
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    shared = {code for code, entry in table().items() if "message" in entry and parts_of(entry)}
    assert sorted(set(entries()) - constants - shared) == []


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


def test_no_event_has_a_text_of_its_own() -> None:
    calls = [(file, node) for file, node in sources() if isinstance(node, ast.Call)]
    events = [(file, call) for file, call in calls if name_of(call) == "Event" and call.args]
    assert [file for file, call in events if not ast.unparse(call.args[0]).endswith(".code")] == []


def test_the_texts_are_filled_with_the_values() -> None:
    text = error_text("BX107.histories-no-metric", {"metric": "wal", "medians": "wall, cpu"})
    assert text == ("BX107", "histories have no metric wal", None, "use one of wall, cpu", "", None)


def test_a_part_of_a_text_depends_on_its_value() -> None:
    near = error_text("BX102.no-scenario", {"name": "serch", "near": "search"})
    assert (near.message, near.fix) == (
        "there is no file and no bundled scenario named serch",
        "did you mean `search`?",
    )
    other = error_text("BX102.no-scenario", {"name": "x", "near": None})
    assert other.fix == "`benchctl init` writes a scenario to start from"


def test_one_of_several_messages_has_the_effect_and_the_fix_of_its_code() -> None:
    shared, text = table()["BX112"], error_text("BX112.missing-key", {"key": "level"})
    assert text.message == "an accepted change needs `level`"
    assert text.effect == shared["effect"] == "the gate has no result"
    assert text.fix == error_text("BX112.other-keys", {}).fix


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        error_text("BX107.histories-no-metric", {"metric": "wal"})


def test_an_explanation_is_one_text_or_title_text_and_example() -> None:
    assert {len(texts) for texts in explanations().values()} == {1, 3}


def test_an_error_is_the_same_after_a_way_through_another_process() -> None:
    error = UsageError("BX107.histories-no-metric", details=(("a", "b"),), metric="m", medians="x")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (UsageError, str(error), vars(error))


COMMAND_IN_TEXT: Final = re.compile(r"(`)?\bbenchctl ((?:[a-z]+ ?)+)([^`;]*)")
OPTION: Final = re.compile(r"(?<!\S)--?[a-z][a-z-]*")
ARGUMENTS: Final = re.compile(r"(?<!\S)--(?!\S)")


def test_commands_in_texts_exist_with_their_options() -> None:
    root: Any = typer.main.get_command(app)
    names = 0
    for key, entry in entries().items():
        for match in COMMAND_IN_TEXT.finditer(" ".join(entry.get(name, "") for name in TEXTS)):
            command = root
            for word in match[2].split():
                if word not in getattr(command, "commands", ()):
                    break
                command = command.commands[word]
            if command is root:
                assert not match[1], (key, match[0])  # a sentence about benchctl
                continue
            names += 1
            parameters = [*root.params, *command.params]
            known = {name for part in parameters for name in (*part.opts, *part.secondary_opts)}
            given = OPTION.findall(ARGUMENTS.split(match[3])[0])
            assert {*given} <= known | {"--help"}, (key, match[0])
    assert names
