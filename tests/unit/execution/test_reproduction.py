"""The command that reproduces a failed cell."""

import shlex
from dataclasses import replace

import pytest

from bench_framework.execution.failures import reproduction
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.plan.plan import Cell, Input, Plan, Role, Variant
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.model.plan.revisions import Revisions
from bench_framework.scenario.revisions import at_revisions
from bench_framework.scenario.selection import parse_selection
from tests.build import make_plan


def plan_of(value: str, *, path: str = "bench/s.yaml", experiment: str | None = None) -> Plan:
    variant = Variant("v", (("arm", value), ("io", "read")), None, experiment=experiment)
    given = Input("i", (("size", "10MiB"),), None)
    cell = Cell("c", variant.id, given.id, "v", Role.CANDIDATE, (("x",),))
    policy = AnswerPolicy("none")
    changes = {"scenario_path": path, "program": ("/bin/true",), "answer": policy}
    return make_plan((variant,), (given,), (cell,), **changes)


def test_the_command_has_the_file_and_one_value_per_axis() -> None:
    plan = plan_of("a")
    assert (
        reproduction(plan, plan.cells[0])
        == "benchctl run bench/s.yaml -k 'arm=a io=read size=10MiB' --quick"
    )


def test_without_axes_there_is_nothing_to_select() -> None:
    plan = plan_of("a", path="my scenario.yaml")
    plan = replace(
        plan,
        variants=(variant := Variant("v", (), None),),
        inputs=(given := Input("i", (), None),),
        cells=(replace(plan.cells[0], variant_id=variant.id, input_id=given.id),),
    )
    assert reproduction(plan, plan.cells[0]) == "benchctl run 'my scenario.yaml' --quick"


def test_the_command_of_two_revisions_names_them_and_selects_each_axis_once() -> None:
    plan = plan_of("a")
    spec = BuildSpec("/crate", "b")
    variant = replace(plan.variants[0], build=spec)
    plan = replace(plan, variants=(variant,), program=None, builds=(spec,))
    between = at_revisions(plan, Revisions("1" * 40, None))
    commands = {reproduction(between, cell) for cell in between.cells}
    selection = "-k 'arm=a io=read size=10MiB' --quick"
    assert commands == {f"benchctl run bench/s.yaml {selection} --base {'1' * 40}"}


def test_overrides_are_kept_and_a_selection_is_not() -> None:
    plan = replace(
        plan_of("a"),
        invocation=Invocation(only="arm=b", overrides=("fixed.size=32 MB", "measure.rounds=3")),
    )
    words = shlex.split(reproduction(plan, plan.cells[0]))
    assert words[3:7] == ["-S", "fixed.size=32 MB", "-S", "measure.rounds=3"]
    assert words[7:] == ["-k", "arm=a io=read size=10MiB", "--quick"]


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        "two words",
        "a,b",
        "a|b",
        "it's",
        'say "x"',
        "both ' and \" here",
        "$(touch x)",
        "größe",
        "x=y",
        "-k",
        "",
        "a;b",
        "[x]",
        "back\\slash ' \"",
    ],
)
def test_any_value_survives_the_shell_and_the_selection(value: str) -> None:
    plan = plan_of(value, path="odd name's.yaml", experiment="larger blocks")
    words = shlex.split(reproduction(plan, plan.cells[0]))
    assert words[:4] == ["benchctl", "run", "odd name's.yaml", "-k"]
    assert words[5:] == ["--quick"]
    values = {"arm": value, "io": "read", "size": "10MiB", "experiment": "larger blocks"}
    names = {"arm": [value, "other"], "io": ["read"], "size": ["10MiB"]}
    selects = parse_selection(words[4], names, open_names=("experiment",))
    assert selects(values)
    assert not selects(values | {"arm": "other"})
