"""``-S key=value`` changes one thing. Its errors refer to the command line."""

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.scenario.load import render
from tests.unit.scenario.conftest import Loads

TEXT = (
    'axes: {arm: [a, b]}\ncommand: ["{bin}", "{arm}"]\nbaseline: {arm: a}\n'
    "measure: {rounds: {min: 12, max: 40}}\nnotes: [{title: t, text: x}]\n"
)


def test_an_override_changes_the_digest_of_the_scenario(loads: Loads) -> None:
    assert loads(TEXT, "margin=1%").sha256 != loads(TEXT).sha256
    assert loads(TEXT, "margin=1%").sha256 == loads(TEXT + "margin: 1%").sha256


def test_the_snippet_is_the_override(loads: Loads) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(TEXT, "measure.rounds.max=ten")
    assert render(caught.value).splitlines()[1:5] == [
        " --> -S measure.rounds.max=ten:1:20",
        "  |",
        "1 | measure.rounds.max=ten",
        "  |                    ^^^ expected an integer",
    ]
