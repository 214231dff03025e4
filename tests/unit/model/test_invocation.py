"""The command line of a plan, from the options that a record stores."""

import shlex

import pytest

from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.plan.revisions import Revisions

BASE = "b" * 40


@pytest.mark.parametrize(
    ("invocation", "words"),
    [
        (Invocation(), "run 'my io.yaml'"),
        (
            Invocation(only="io=mmap", overrides=("margin=5 %", "measure.warmup=1"), quick=True),
            "run 'my io.yaml' -k io=mmap -S 'margin=5 %' -S measure.warmup=1 --quick",
        ),
        (
            Invocation(gate=True, results="my results", scheduler="s", host="h"),
            "gate 'my io.yaml' --dir 'my results' --scheduler s --host h",
        ),
    ],
)
def test_a_command_has_the_options_of_its_plan(invocation: Invocation, words: str) -> None:
    command = shlex.split(invocation.command("my io.yaml", None))
    assert command == ["benchctl", *shlex.split(words)]


def test_the_revisions_are_those_of_the_plan() -> None:
    command = Invocation(gate=True).command("quickstart", Revisions(BASE, None))
    assert command == f"benchctl run quickstart --base {BASE} --gate"


def test_a_plan_without_a_scenario_has_its_whole_command() -> None:
    words = ("ab", "sleep 1", "sleep 2")
    assert shlex.split(Invocation(words=words).command("", None)) == ["benchctl", *words]
