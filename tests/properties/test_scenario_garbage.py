"""Any bytes of a file give a scenario, or errors that can be printed, and never a traceback."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from bench_framework.errors import ScenarioError
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.load import load, render
from bench_framework.scenario.plan import expand

FIXTURES = Path(__file__).parents[1] / "fixtures" / "scenarios"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(FIXTURES.glob("*.yaml"))]
PIECES = sorted(
    {word for text in TEXTS for word in text.replace("{", " { ").replace("}", " } ").split()}
)
NASTY = [
    "~",
    "null",
    "{}",
    "[]",
    "&a",
    "*a",
    "<<: *a",
    "!!int",
    "!x",
    "?",
    "- ",
    "---",
    "...",
    "%YAML 1.1",
    "'",
    '"',
    "|",
    ">",
    "\t",
    "\0",
    "\x85",
    "\u2028",
    "\ud800",
    "\U0001f600",
    "\ufeff",
    "9" * 30,
    "1e999",
    "-0",
    "{bin}",
    "{{",
    "\\",
    "\r",
]


def judge(text: str, *overrides: str, only: str | None = None) -> None:
    with contextlib.suppress(_Printed):
        assert outcome(text, overrides, only).cells


class _Printed(Exception):  # noqa: N818 -- an expected outcome of garbage
    """The scenario was refused, and the error could be printed."""


def outcome(text: str, overrides: tuple[str, ...], only: str | None) -> Plan:
    try:
        return expand(load(FIXTURES / "fuzz.yaml", text=text, overrides=overrides), only=only)
    except ScenarioError as error:
        refused = error
    assert all(problem.message and problem.code.startswith("BC") for problem in refused.problems)
    assert render(refused).endswith("Nothing was built or run.")
    raise _Printed


@given(st.text(max_size=200))
@example("? [a]\n: b")
@example("{version: 1, version: 1}")
@example("&a {a: *a}")
@example("<<: 1")
@example("- &a - *a")
@example("[&a 1, &a 2, *a]")
def test_any_text(text: str) -> None:
    judge(text)


@given(
    st.lists(st.sampled_from(PIECES + NASTY), max_size=30), st.sampled_from([" ", "\n", ": ", ", "])
)
def test_any_words_of_the_language(words: list[str], between: str) -> None:
    judge(between.join(words))


@given(st.sampled_from(TEXTS), st.data())
@settings(max_examples=3 * settings().max_examples, suppress_health_check=[HealthCheck.too_slow])
def test_any_damage_to_a_scenario(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 20)))
        text = text[:start] + data.draw(st.sampled_from(["", *NASTY, *PIECES])) + text[end:]
    judge(text)


@given(st.binary(max_size=80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.yaml"
    path.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert render(caught.value)


KEYS = [
    "version",
    "name",
    "axes",
    "axes.io",
    "axes.io.0",
    "input.size",
    "measure.rounds.max",
    "exclude.0.io",
    "experiments.0.change.block",
    "baseline",
    "command",
    "command.3",
    "worker.bin",
    "fixed",
    "a.b.c",
    "exclude.9",
    "",
]


@given(
    st.lists(
        st.tuples(st.sampled_from(KEYS), st.sampled_from(NASTY + PIECES) | st.text(max_size=10)),
        max_size=3,
    )
)
def test_any_override(changes: list[tuple[str, str]]) -> None:
    house = (FIXTURES / "house_example.yaml").read_text(encoding="utf-8")
    judge(house, *(f"{key}={value}" for key, value in changes))


@given(
    st.text(st.sampled_from(list("io=~!<>|, '\"()[]*sizeMB1readmp{}\\")), max_size=20)
    | st.text(max_size=20)
)
@example("io~" + "(" * 200)
@example("size<1e999MiB")
def test_any_selection(only: str) -> None:
    judge((FIXTURES / "house_example.yaml").read_text(encoding="utf-8"), only=only)
