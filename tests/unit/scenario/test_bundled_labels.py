"""Tests that a label means one program in all bundled scenarios."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand

SCENARIOS = Path(__file__).parents[3] / "scenarios"


class Labelled(NamedTuple):
    """A variant that `describe` labels, with its axis values and fixed keys."""

    scenario: str
    program: str
    label: str
    values: dict[str, str]

    def is_same(self, other: Labelled) -> bool:
        """Return whether both have equal values for all keys that both scenarios have."""
        return all(
            self.values[key] == other.values[key]
            for key in self.values.keys() & other.values.keys()
        )


def labelled() -> list[Labelled]:
    items = []
    for path in sorted(SCENARIOS.glob("*.yaml")):
        scenario = load(path)
        labels = {part.label for part in scenario.spec.describe if part.label}
        for variant in expand(scenario).variants:
            if variant.label in labels:
                values = {**scenario.spec.fixed, **dict(variant.values)}
                program = scenario.spec.worker.bin or ""
                items.append(Labelled(path.stem, program, variant.label, values))
    return items


LABELLED = labelled()


def test_some_programs_are_on_several_pages() -> None:
    pages: dict[str, set[str]] = {}
    for item in LABELLED:
        pages.setdefault(item.label, set()).add(item.scenario)
    assert pages["Tokio optimised native"] == {"runtimes", "tokio"}
    assert pages["Tokio (original)"] == {"tokio"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(a, b, id=f"{a.scenario}: {a.label} - {b.scenario}: {b.label}")
        for a, b in itertools.combinations(LABELLED, 2)
        if a.program == b.program and a.scenario != b.scenario
    ],
)
def test_a_label_is_one_program_and_a_program_has_one_label(one: Labelled, other: Labelled) -> None:
    if one.label == other.label:
        different = {
            k for k in one.values.keys() & other.values.keys() if one.values[k] != other.values[k]
        }
        assert not different
    elif "engine" in one.values.keys() & other.values.keys():
        assert not one.is_same(other)
