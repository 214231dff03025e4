"""Hostile names of values, labels and experiments reach the plan unchanged."""

import json
import shlex
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from bench_framework.scenario.selection import condition

HOSTILE = [
    "two words",
    "quo'te",
    'double"quote',
    "semi;colon",
    "$(touch x)",
    "`touch x`",
    "100%",
    "%s%n",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "-rf",
    "--",
    "*",
    "?",
    "~",
    "#",
    "&a",
    "!tag",
    "{bin}",
    "{{",
    "}",
    "a|b",
    'it\'s "both" | of them',
    "a, b",
    "a + b",
    "new\nline",
    "tab\there",
    "\r",
    "naïve",
    "日本語",
    "🙂",
    "e\u0301",
    "\u202egnp.exe",
    "\x1b[31m",
    "control",
    "default",
    "null",
    "true",
    "1e3",
    " leading",
    "trailing ",
    "C:\\dir",
    "x" * 2000,
]
names = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30
)


def plan_of(values: list[str], **more: object) -> Plan:
    scenario = {
        "version": 1,
        "name": "n",
        "question": "q",
        "worker": {"command": ["prog"]},
        "axes": {"arm": values},
        "command": ["{bin}", "{arm}", "--x={arm}"],
        "baseline": {"arm": values[0]},
    }
    return expand(load(Path("s.yaml"), text=json.dumps({**scenario, **more})))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_value_is_one_unchanged_argument(name: str) -> None:
    plan = plan_of(["plain", name])
    assert plan.cells[1].command == ((BIN,), (name,), (f"--x={name}",))
    assert plan.variants[1].values == (("arm", name),)


@given(st.lists(names, min_size=2, max_size=5, unique=True))
def test_any_values_are_unchanged_arguments(values: list[str]) -> None:
    plan = plan_of(values)
    assert [cell.command[1] for cell in plan.cells[: len(values)]] == [(value,) for value in values]
    assert len({variant.label for variant in plan.variants}) == len(values)


@given(names, names, names)
def test_environment_labels_and_experiments_are_unchanged(
    label: str, value: str, experiment: str
) -> None:
    plan = plan_of(
        ["a", "b"],
        axes={"arm": {"a": {"label": label}, "b": {"about": value}}},
        fixed={"k": value},
        env={"K": "{k}"},
        experiments=[{"name": experiment, "change": {"k": value + "!"}}],
    )
    assert plan.axes[0].values[0].label == label
    assert plan.variants[1].describe == value
    assert dict(plan.cells[0].env) == {"K": value}
    assert plan.experiments[0].name == experiment
    assert dict(plan.cells[2].env) == {"K": value + "!"}


@given(names)
def test_a_shell_reads_a_hostile_value_back_as_one_word(name: str) -> None:
    (word,) = plan_of(["plain", name], shell=True, command="{bin} {arm}").cells[1].command
    rest = word[1]
    assert isinstance(rest, str)
    assert shlex.split(rest) == [name]


@given(st.lists(names, min_size=2, max_size=4, unique=True), st.data())
def test_a_condition_selects_the_value_it_was_written_for(
    values: list[str], data: st.DataObject
) -> None:
    value = data.draw(st.sampled_from(values))
    scenario = {
        "version": 1,
        "name": "n",
        "question": "q",
        "worker": {"command": ["prog"]},
        "axes": {"arm": values},
        "command": ["{bin}", "{arm}"],
        "baseline": {"arm": values[0]},
    }
    plan = expand(load(Path("s.yaml"), text=json.dumps(scenario)), only=condition("arm", value))
    assert {dict(variant.values)["arm"] for variant in plan.variants} == {values[0], value}
