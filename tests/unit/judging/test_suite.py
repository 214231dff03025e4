"""Tests of the shares of a suite: of its error rate and of its budget."""

from dataclasses import replace

import pytest

from bench_framework.features.gate.question import question_of
from bench_framework.features.suite import decisions, first_budget, with_shares
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import Budget
from tests.unit.judging.conftest import Study


@pytest.fixture
def plans() -> list[Plan]:
    return [Study(arms=("a", "b")).plan, Study(arms=("a", "b", "c", "d")).plan]


def test_each_comparison_of_a_suite_begins_at_the_same_level(plans: list[Plan]) -> None:
    family = sum(decisions(plan, gated=True) for plan in plans)
    shared = with_shares(plans, gated=True)
    levels = [question_of(plan).looks for plan in shared]
    assert sum(looks.level for looks in levels) == pytest.approx(0.01)
    assert [looks.level / looks.family for looks in levels] == pytest.approx([0.01 / family] * 2)
    # The report of each scenario keeps its level, and its looks.
    assert [looks_of(plan) for plan in shared] == [looks_of(plan) for plan in plans]


def test_budgets_of_a_gate_have_a_share(plans: list[Plan]) -> None:
    cells = tuple(cell.id for cell in plans[0].cells[:2])
    limit = Budget("", "wall", 1.0, "1s", cells)
    gate = replace(plans[0].judge.gate, budgets=(limit,))
    first = replace(plans[0], judge=replace(plans[0].judge, gate=gate))
    assert decisions(first, gated=True) == decisions(plans[0], gated=True) + 2


def test_reports_share_their_own_level(plans: list[Plan]) -> None:
    shared = with_shares(plans, gated=False)
    assert sum(plan.judge.level for plan in shared) == pytest.approx(0.05)
    assert {plan.judge.gate.level for plan in shared} == {0.01}


def test_a_budget_is_divided_by_need() -> None:
    assert first_budget(120, [60, 180], [0, 0]) == 30
    assert first_budget(480, [60, 180], [0, 0]) == 120
    # Each scenario has at least what it needs for a verdict, also if another one needs much.
    assert first_budget(100, [10, 990], [40, 50]) == pytest.approx(40.1)
    # Time that the others did not use is left for the last one.
    assert first_budget(90, [180], [0]) == 90
    assert first_budget(-1, [180], [20]) == 20
