"""Tests that docs/reference/scenario.md documents every key and choice, with a valid example."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

from bench_framework import _native
from bench_framework.cli.app import run_command_line
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.schema.parts import DATASETS, INPUT_NAMES
from bench_framework.scenario.schema.types import keys, parts_in
from bench_framework.scenario.template import SLOTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/scenario.md").read_text(encoding="utf-8")


def parts(part: type[Any]) -> Iterator[type[Any]]:
    """Yield a mapping of the scenario language and the mappings inside it."""
    yield part
    for key in keys(part).values():
        for inner in parts_in(key.type):
            yield from parts(inner)


def choices(annotation: Any) -> Iterator[str]:
    """Yield the words that a key accepts."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for inner in get_args(annotation):
            yield from choices(inner)


def test_every_key_is_documented() -> None:
    names = {key for part in parts(ScenarioFile) for key in keys(part)}
    assert [key for key in sorted(names) if not re.search(rf"[`{{ ]{key}[`:]", PAGE)] == []


def test_every_placeholder_is_documented() -> None:
    names = (*SLOTS, *INPUT_NAMES)
    assert [name for name in names if f"`{{{name}}}`" not in PAGE] == []


def test_every_choice_is_documented() -> None:
    words = {
        word
        for part in parts(ScenarioFile)
        for key in keys(part).values()
        for word in choices(key.type)
    }
    assert "one-at-a-time" in words
    assert [word for word in sorted(words) if f"`{word}`" not in PAGE] == []


def test_the_first_example_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = re.search(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert example is not None
    path = tmp_path / "sorting.yaml"
    path.write_text(example[1], encoding="utf-8")
    assert run_command_line(["validate", str(path)]) == 0, capsys.readouterr().err


def test_the_datasets_are_those_of_the_generator() -> None:
    kinds = (name for name, _ in (*_native.text_kinds(), *_native.session_profiles()))
    assert {*kinds, "text"} == {*DATASETS}
