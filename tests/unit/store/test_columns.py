"""Tests that each path in ``columns.toml`` leads from a row to an attribute."""

import re
import tomllib
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, strategies as st

from bench_framework.model import verdict
from bench_framework.model.plan import looks, plan
from bench_framework.model.record import run
from bench_framework.model.result import judgement, structure
from bench_framework.store import columns, frames, journal, lines, run_table, source
from bench_framework.store.columns import from_field, to_field
from tests.unit.workflow.measured_record import measured

ROOTS = {
    "source": "Source",
    "at": "Configuration",
    "reference": "Configuration",
    "block": "Block",
    "observation": "Observation",
    "receipt": "Receipt",
    "counts": "dict[str, int]",
    "spec": "BuildSpec",
    "build": "Build",
    "summaries": "dict[str, Summary]",
    "wall": "Summary",
    "cpu": "Summary",
    "peak": "Summary",
    "summary": "Summary",
    "comparison": "Comparison",
    "claim": "Claim",
    "floor": "NoiseFloor",
    "figure": "Derived",
    "table": "Contribution",
    "mean": "Effect",
    "cell": "EffectCell",
    "contrast": "ContrastResult",
    "first": "Change",
    "second": "Change",
}
"""Class of the value of a key of rows and builds. Other keys have a value without attributes."""
MODULES = (judgement, looks, plan, run, structure, verdict)
STORE = (journal, lines, source)
CLASSES = {name: value for module in (*MODULES, *STORE) for name, value in vars(module).items()}
SECTIONS = tomllib.loads(Path(columns.__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def annotation(kind: type, name: str) -> str:
    """Return the annotation of a field or property, without `None`."""
    fields = kind.__dict__["__dataclass_fields__"]
    if name in fields:
        value = fields[name].type
    else:
        member = vars(kind)[name]
        function = member.fget if isinstance(member, property) else member.func
        value = function.__annotations__["return"]
    text = value.__name__ if isinstance(value, type) and not get_args(value) else str(value)
    return re.sub(r"(?:\w+\.)+", "", text).removesuffix(" | None")


@pytest.mark.parametrize("section", SECTIONS)
def test_every_path_leads_to_an_attribute(section: str) -> None:
    for _, path, *_ in SECTIONS[section].values():
        kind = "Event" if section == "events" else "dict[str, Any]"
        for name in path.split("."):
            if kind == "dict[str, Any]":
                kind = ROOTS.get(name, "no class")
            elif values := re.fullmatch(r"(?:dict|Mapping)\[str, (.*)\]", kind):
                kind = values[1]  # the name is a key
            elif issubclass(CLASSES[kind], Enum):
                assert name == "value", path
            else:
                kind = annotation(CLASSES[kind], name)


HOSTILE = "=cmd|' /C calc'!A0 \x1b[2J\u202e\\x1b \\ \x85"


@given(st.text() | st.text("=+-@'\\xu0123abf\x1b\t\r\n\u202e"))
def test_a_field_is_no_formula_acts_on_no_terminal_and_is_read_back(text: str) -> None:
    field = to_field(text)
    assert from_field(field) == text
    assert not field.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & set(field)


def test_hostile_texts_are_the_same_in_record_table_and_frame(tmp_path: Path) -> None:
    with measured(tmp_path) as record:
        block = record.contents.blocks[0]
        receipt = replace(
            block.receipts[0],
            effective={"way": HOSTILE, "x\x1by": "+1"},
            notes=(HOSTILE, "long" * 50_000),
        )
        record.contents.blocks[0] = replace(block, receipts=(receipt, *block.receipts[1:]))
        record.save()
        text = (record.path / "runs.csv").read_text(encoding="utf-8")
        assert not {"\x1b", "\u202e", "\x85"} & set(text)
        assert ",=cmd" not in text
        blocks, _ = run_table.read(text, record.plan, record.contents.builds)
        assert blocks == record.contents.blocks
    frame = frames.Frames.load(record.path).runs
    assert frame["effective_way"][0] == HOSTILE
    assert frame["effective_x\x1by"][0] == "+1"
