"""Looking up in plans: by identity of what they hold, whatever plans came before."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand
from tests.unit.machine import SCENARIO


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return expand(load(tmp_path / "small.yaml", text=SCENARIO))


def test_the_parts_of_a_plan_are_looked_up_by_id(plan: Plan) -> None:
    assert [plan.cell(cell.id) for cell in plan.cells] == list(plan.cells)
    assert [plan.variant(variant.id) for variant in plan.variants] == list(plan.variants)
    assert [plan.input(item.id) for item in plan.inputs] == list(plan.inputs)


def test_an_id_that_is_none_is_an_error(plan: Plan) -> None:
    with pytest.raises(KeyError, match="nothing"):
        plan.cell("nothing")


def test_each_of_many_plans_finds_its_own(plan: Plan) -> None:
    for number in range(200):
        cells = tuple(replace(cell, label=f"{cell.label} {number}") for cell in plan.cells)
        other = replace(plan, cells=cells)
        assert [other.cell(cell.id).label for cell in cells] == [cell.label for cell in cells]
        assert plan.cell(cells[0].id).label == plan.cells[0].label


def test_of_equal_ids_the_first_is_found(plan: Plan) -> None:
    first, *_ = plan.cells
    doubled = replace(plan, cells=(*plan.cells, replace(first, label="the same again")))
    assert doubled.cell(first.id) is first
