"""The parts of `profile` that reach the plan."""

import pytest

from bench_framework.execution.profiling.profiles import cells_of
from bench_framework.model.plan import Plan
from bench_framework.model.profile import ProfilePolicy
from bench_framework.scenario.plan import expand
from tests.unit.scenario.conftest import Loads

AXES = (
    'axes: {arm: [a, b], io: [x, y]}\ncommand: ["{bin}", "{arm}", "{io}", "{k}"]\nbaseline: {arm: a, io: x}\n'
    "fixed: {k: one}\nexperiments: [{name: two, change: {k: two}}]\n"
)


def labels(plan: Plan) -> list[str]:
    assert plan.profile is not None
    return [cell.label for cell in cells_of(plan, plan.profile)]


def test_a_scenario_without_the_key_profiles_nothing(loads: Loads) -> None:
    assert expand(loads(AXES)).profile is None


def test_an_empty_profile_is_of_the_baseline_after_the_run(loads: Loads) -> None:
    plan = expand(loads(AXES + "profile: {}"))
    assert labels(plan) == ["a + x"]
    assert plan.profile == ProfilePolicy("baseline", "after-run", runs=5, frequency=997)


@pytest.mark.parametrize(
    ("variants", "expected"),
    [
        ("all", ["a + x", "a + y", "b + x", "b + y", "two"]),
        ("[{arm: b}]", ["b + x", "b + y"]),
        ("[{arm: b, io: x}, {io: y}]", ["a + y", "b + x", "b + y"]),
    ],
)
def test_variants_are_chosen_by_their_values(
    loads: Loads, variants: str, expected: list[str]
) -> None:
    assert labels(expand(loads(AXES + f"profile: {{variants: {variants}}}"))) == expected


def test_variants_that_k_omits_are_not_profiled(loads: Loads) -> None:
    assert labels(expand(loads(AXES + "profile: {variants: all}"), only="arm=b io=y")) == [
        "a + x",
        "b + y",
    ]


def test_buckets_keep_their_order_and_every_key_reaches_the_plan(loads: Loads) -> None:
    text = (
        "profile: {when: on-request, runs: 2, frequency: 99, sampler: callgrind, stacks: dwarf, timeout: 5s, "
        "buckets: {z: 'a|b', a: c}}"
    )
    policy = expand(loads(AXES + text)).profile
    assert policy == ProfilePolicy(
        when="on-request",
        runs=2,
        frequency=99,
        sampler="callgrind",
        stacks="dwarf",
        timeout=5.0,
        buckets={"z": "a|b", "a": "c"},
    )
    assert [*policy.buckets] == ["z", "a"]
