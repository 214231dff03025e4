"""The policies and the experiment of the example in the language's description."""

from pathlib import Path

import pytest

from bench_framework.model.plan.plan import Plan, Role
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand

FIXTURES = Path(__file__).parents[2] / "fixtures" / "scenarios"


@pytest.fixture(scope="module")
def house() -> Plan:
    return expand(load(FIXTURES / "house_example.yaml"))


def test_the_experiment_is_the_baseline_with_one_change(house: Plan) -> None:
    (experiment,) = house.experiments
    expected = ("larger blocks", (("block", "256KiB"),), "rejected")
    assert (experiment.name, experiment.change, experiment.decision) == expected
    variant = house.variant(experiment.variant_id)
    assert variant.values == house.variant(house.baseline_id).values
    cells = [cell for cell in house.cells if cell.variant_id == variant.id]
    assert len(cells) == 3
    assert all(("256KiB",) in cell.command and cell.role is Role.CANDIDATE for cell in cells)


def test_policies_come_from_the_file(house: Plan) -> None:
    assert (house.measure.rounds_min, house.measure.rounds_max) == (12, 40)
    assert (house.measure.budget_s, house.measure.timeout_s, house.measure.warmup_rounds) == (
        900.0,
        120.0,
        2,
    )
    assert house.judge.margin == 0.02
    assert house.judge.metrics == ("wall", "cpu")
    assert house.judge.gate.margins == (("wall", 0.02), ("cpu", 0.02), ("peak_rss", 0.05))
    assert house.answer.contract
