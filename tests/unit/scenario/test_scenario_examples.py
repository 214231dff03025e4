"""The examples of the language's description load and expand as they are, without cuts."""

from pathlib import Path

import pytest

from bench_framework.model.plan.arguments import BIN, INPUT
from bench_framework.model.plan.plan import CONTROL_LABEL, Plan, Role
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand

FIXTURES = Path(__file__).parents[2] / "fixtures" / "scenarios"


@pytest.fixture(scope="module")
def house() -> Plan:
    return expand(load(FIXTURES / "house_example.yaml"))


def test_the_full_example_becomes_cells_and_holes_of_the_full_product(house: Plan) -> None:
    full = 4 * 2 * 2 * 3
    excluded = 2  # mmap, 200MiB, sequential: under both allocators
    assert len(house.holes) == excluded
    experiments, controls = 3, 3
    assert len(house.cells) == full - excluded + experiments + controls


def test_an_excluded_combination_names_its_rule(house: Plan) -> None:
    hole = next(hole for hole in house.holes if ("io", "mmap") in hole.values)
    expected = {"io": "mmap", "runtime": "sequential", "allocator": "system", "size": "200MiB"}
    assert dict(hole.values) == expected
    assert hole.rule is not None
    assert hole.rule.endswith("house_example.yaml:15")


def test_axes_know_what_they_act_on(house: Plan) -> None:
    expected = {"io": "run", "runtime": "run", "allocator": "build", "size": "input"}
    assert {axis.name: axis.kind for axis in house.axes} == expected
    sizes = next(axis for axis in house.axes if axis.name == "size")
    assert [value.size_bytes for value in sizes.values] == [10 << 20, 50 << 20, 200 << 20]


def test_variants_share_two_builds(house: Plan) -> None:
    assert [build.features for build in house.builds] == [(), ("jemalloc",)]
    assert {build.crate for build in house.builds} == {"builtin"}


def test_the_command_is_words_with_slots(house: Plan) -> None:
    cell = house.cells[0]
    words = ["run", "--io", "read", "--runtime", "sequential", "--block", "64KiB"]
    assert cell.command == ((BIN,), *((word,) for word in words), (INPUT,))


def test_each_input_has_one_baseline_and_its_control_with_equal_words(house: Plan) -> None:
    for given in house.inputs:
        baseline, control = house.baseline_cell(given.id), house.control_cell(given.id)
        assert baseline is not None
        assert control is not None
        assert baseline.variant_id == control.variant_id == house.baseline_id
        assert baseline.command == control.command
        assert baseline.id != control.id
        assert control.label == CONTROL_LABEL
        assert house.cells_of(given.id)[-1] is control


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


def test_another_name_of_a_data_set_is_resolved(house: Plan) -> None:
    datasets = [given.dataset for given in house.inputs]
    expected = [("prose", 10 << 20, 42), ("prose", 50 << 20, 42), ("prose", 200 << 20, 42)]
    assert [(d.family, d.size_bytes, d.seed) for d in datasets if d is not None] == expected


def test_the_least_scenario_needs_no_input_no_build_and_no_contract() -> None:
    plan = expand(load(FIXTURES / "minimal.yaml"))
    expected = [("a", Role.BASELINE), ("b", Role.CANDIDATE), ("control", Role.CONTROL)]
    assert [(cell.label, cell.role) for cell in plan.cells] == expected
    assert plan.program == ("/usr/bin/prog",)
    assert plan.builds == ()
    assert plan.inputs[0].dataset is None
    assert not plan.answer.contract
    assert plan.cells[1].command == ((BIN,), ("b",))
