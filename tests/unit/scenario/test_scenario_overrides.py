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


@pytest.mark.parametrize(
    "override",
    [
        "margin.peak_rss=10%",
        "axes.arm.0.label=x",
        "axes.arm.label=x",
        "axes.arm.3=c",
        "axes.arm.²=c",
        f"axes.arm.{'9' * 5000}=c",
    ],
)
def test_an_override_replaces_no_value_on_its_way(loads: Loads, override: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        loads(TEXT + "margin: 1%", override)
    assert [problem.code for problem in caught.value.problems] == ["BC112"]


def test_an_override_adds_to_a_list_and_to_a_key_without_value(loads: Loads) -> None:
    added = loads(TEXT + "margin:", "axes.arm.2=c", "margin.wall=1%")
    assert [*added.spec.axes["arm"]] == ["a", "b", "c"]
