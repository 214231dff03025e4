"""Tests that each path in ``columns.toml`` leads from a row to an attribute."""

from __future__ import annotations

import re
import tomllib
from enum import Enum
from pathlib import Path

import pytest

from bench_framework.model import judgement, looks, plan, run, structure, verdict
from bench_framework.store import (
    cell_rows,
    columns,
    journal,
    judged_rows,
    lines,
    run_rows,
    source,
    structure_rows,
    tables,
)

ROWS = {
    "identity": "Run",
    "cell": "Run",
    "runs-head": "Run",
    "runs-block": "Run",
    "runs-outcome": "Run",
    "runs-tail": "Run",
    "imported-runs": "ImportedRun",
    "builds": "Binary",
    "events": "Event",
    "cells": "CellRow",
    "cells-tail": "CellRow",
    "comparisons": "ComparisonRow",
    "derived": "DerivedRow",
    "effects": "EffectRow",
    "contributions": "ContributionRow",
    "place": "EffectRow",
    "verdict": "ContributionRow",
}
"""Class of the rows of each section."""
MODULES = (judgement, looks, plan, run, structure, verdict)
STORE = (cell_rows, journal, judged_rows, lines, run_rows, source, structure_rows, tables)
CLASSES = {name: value for module in (*MODULES, *STORE) for name, value in vars(module).items()}
SECTIONS = tomllib.loads(Path(columns.__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def annotation(kind: type, name: str) -> str:
    """Return the annotation of a field or property, without `None`."""
    fields = kind.__dict__["__dataclass_fields__"]
    if name in fields:
        return str(fields[name].type).removesuffix(" | None").removeprefix("lines.")
    member = vars(kind)[name]
    function = member.fget if isinstance(member, property) else member.func
    return str(function.__annotations__["return"]).removesuffix(" | None")


@pytest.mark.parametrize("section", SECTIONS)
def test_every_path_leads_to_an_attribute(section: str) -> None:
    for _, path, *_ in SECTIONS[section].values():
        kind = ROWS[section]
        for name in path.split("."):
            if values := re.fullmatch(r"(?:dict|Mapping)\[str, (.*)\]", kind):
                kind = values[1]  # the name is a key
            elif issubclass(CLASSES[kind], Enum):
                assert name == "value", path
            else:
                kind = annotation(CLASSES[kind], name)
