"""``-k`` selects configurations by their values, and always keeps their baseline."""

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.model.plan import Plan
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.scenario.load import render
from bench_framework.scenario.selection import parse_selection
from tests.unit.scenario.conftest import Plans

TEXT = (
    "axes: {io: [read, mmap, odd one], threads: [1, 2, 16], size: [10MiB, 50MiB]}\n"
    'input: {dataset: prose, size: "{size}"}\nfixed: {k: v}\n'
    'command: ["{bin}", "{io}", "{threads}", "{k}", "{input}"]\nbaseline: {io: read, threads: 1}\n'
    "experiments: [{name: other k, change: {k: w}}]\n"
)


def taken(plan: Plan) -> set[tuple[str, str]]:
    """Return variant and input labels of the measured configurations, without the A/A control."""
    return {(c.label, plan.input(c.input_id).label) for c in plan.cells if c.label != "control"}


BASE = {("read + threads=1", "10MiB"), ("read + threads=1", "50MiB")}


@pytest.mark.parametrize(
    ("only", "extra"),
    [
        ("io=mmap threads=2", {("mmap + threads=2", "10MiB"), ("mmap + threads=2", "50MiB")}),
        ("io=mmap,threads<=1", {("mmap + threads=1", "10MiB"), ("mmap + threads=1", "50MiB")}),
        (
            "io!=read io!='odd one' threads>2",
            {("mmap + threads=16", "10MiB"), ("mmap + threads=16", "50MiB")},
        ),
        (
            'io="odd one" threads=16',
            {("odd one + threads=16", "10MiB"), ("odd one + threads=16", "50MiB")},
        ),
        (
            "io~^odd threads>=16",
            {("odd one + threads=16", "10MiB"), ("odd one + threads=16", "50MiB")},
        ),
        ("io!~[ed] threads=1", {("mmap + threads=1", "10MiB"), ("mmap + threads=1", "50MiB")}),
        (
            "io=mmap|read threads=2",
            {(f"{io} + threads=2", s) for io in ("mmap", "read") for s in ("10MiB", "50MiB")},
        ),
        ("experiment='other k'", {("other k", "10MiB"), ("other k", "50MiB")}),
        (
            "variant='mmap + threads=2'",
            {("mmap + threads=2", "10MiB"), ("mmap + threads=2", "50MiB")},
        ),
    ],
)
def test_conditions(only: str, extra: set[tuple[str, str]], plans: Plans) -> None:
    assert taken(plans(TEXT, only=only)) == BASE | extra


@pytest.mark.parametrize(
    "only", ["size<50MiB io=mmap threads=1", "size=10240KiB io=mmap threads=1"]
)
def test_sizes_compare_as_sizes_and_an_input_without_cells_is_left_out(
    only: str, plans: Plans
) -> None:
    plan = plans(TEXT, only=only)
    assert taken(plan) == {("read + threads=1", "10MiB"), ("mmap + threads=1", "10MiB")}
    assert [given.label for given in plan.inputs] == ["10MiB"]


def test_what_is_left_out_is_a_hole_with_its_reason(plans: Plans) -> None:
    whole, part = plans(TEXT), plans(TEXT, only="io=mmap")
    assert {hole.reason for hole in part.holes} == {Reason(ReasonCode.UNSELECTED, "io=mmap")}
    matrix_cells = len([c for c in whole.cells if c.label not in {"control", "other k"}])
    assert len(part.holes) + len([c for c in part.cells if c.label != "control"]) == matrix_cells
    assert part.experiments == ()


def test_selecting_the_baseline_alone_measures_it_against_its_control(plans: Plans) -> None:
    plan = plans(TEXT, only="variant='read + threads=1' size=10MiB")
    assert [cell.label for cell in plan.cells] == ["read + threads=1", "control"]


def test_cells_keep_their_identity(plans: Plans) -> None:
    assert {c.id for c in plans(TEXT, only="io=mmap").cells} <= {c.id for c in plans(TEXT).cells}


@pytest.mark.parametrize(
    ("only", "marked", "message", "advice"),
    [
        ("", "", "the selection is empty", ""),
        ("io:mmap", "io:mmap", "this is not a condition", "NAME=VALUE"),
        ("io=", "io=", "this is not a condition", ""),
        ("oi=mmap", "oi", "there is no axis `oi`", "did you mean `io`?"),
        ("threads=2 io=mmpa", "mmpa", "axis `io` has no value `mmpa`", "did you mean `mmap`?"),
        ("io<5", "5", "the values of io cannot be compared", "use one of: read"),
        ("size<=50", "50", "the values of size cannot be compared", "10MiB"),
        ("threads<many", "many", "compares sizes and numbers", "50MiB"),
        ("io~(", "(", "this is not a regular expression", ""),
        ("io~[[a]", "[[a]", "this is not a regular expression: Possible nested set", ""),
    ],
)
def test_a_selection_that_cannot_be_read(
    only: str, marked: str, message: str, advice: str, plans: Plans
) -> None:
    with pytest.raises(ScenarioError) as caught:
        plans(TEXT, only=only)
    (problem,) = caught.value.problems
    assert problem.code == "BC113"
    assert message in problem.message
    assert advice in (problem.fix or "")
    assert problem.at is not None
    assert only[problem.at.column - 1 :][: problem.at.length] == marked
    assert " --> -k:1:" in render(caught.value)


def test_conditions_that_exclude_each_other(plans: Plans) -> None:
    with pytest.raises(ScenarioError) as caught:
        plans(TEXT, only="io=mmap io=read")
    assert [p.code for p in caught.value.problems] == ["BC207"]


def test_a_mistake_is_reported_under_its_option() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_selection("arm=z", {"arm": ["a", "b"]}, open_names=(), option="--baseline")
    assert render(caught.value).startswith(
        "error[BC113]: axis `arm` has no value `z`\n --> --baseline:1:5"
    )
