"""Tests that docs/reference/scenario.md documents every key, and that its first example is valid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.schema.types import Part, parts_in

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/scenario.md").read_text(encoding="utf-8")


def keys(part: type[Part]) -> set[str]:
    """Return the keys of a mapping of the scenario language and of the mappings inside it."""
    names = {field.alias or name for name, field in part.model_fields.items()}
    inner = (p for field in part.model_fields.values() for p in parts_in(field.annotation))
    return names.union(*(keys(p) for p in inner))


def test_every_key_is_documented() -> None:
    missing = [key for key in keys(ScenarioFile) if not re.search(rf"[`{{ ]{key}[`:]", PAGE)]
    assert missing == []


def test_the_first_example_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    example = re.search(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert example is not None
    path = tmp_path / "sorting.yaml"
    path.write_text(example[1], encoding="utf-8")
    assert run_command_line(["validate", str(path)]) == 0, capsys.readouterr().err
