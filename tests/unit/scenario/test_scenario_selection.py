"""``-k`` selects configurations by their values, and always keeps their baseline."""

import pytest

from bench_framework.errors import ScenarioError
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


def test_what_is_left_out_is_a_hole_with_its_reason(plans: Plans) -> None:
    whole, part = plans(TEXT), plans(TEXT, only="io=mmap")
    assert {hole.reason for hole in part.holes} == {Reason(ReasonCode.UNSELECTED, "io=mmap")}
    matrix_cells = len([c for c in whole.cells if c.label not in {"control", "other k"}])
    assert len(part.holes) + len([c for c in part.cells if c.label != "control"]) == matrix_cells
    assert part.experiments == ()


def test_cells_keep_their_identity(plans: Plans) -> None:
    assert {c.id for c in plans(TEXT, only="io=mmap").cells} <= {c.id for c in plans(TEXT).cells}


def test_budgets_of_other_configurations_do_not_apply(plans: Plans) -> None:
    text = TEXT + "gate: {budgets: [{cell: io=read size=10MiB, metric: wall, max: 1s}]}\n"
    assert [len(b.cell_ids) for b in plans(text).judge.gate.budgets] == [4]
    assert plans(text, only="size=50MiB").judge.gate.budgets == ()


def test_a_mistake_is_reported_under_its_option() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_selection("arm=z", {"arm": ["a", "b"]}, open_names=(), option="--baseline")
    assert render(caught.value).startswith(
        "error[BC113]: axis `arm` has no value `z`\n --> --baseline:1:5"
    )
