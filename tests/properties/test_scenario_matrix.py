"""Every combination of axes and rules is a configuration or a hole, once, with an id of its values."""

import itertools
import json
from pathlib import Path
from typing import Any

from hypothesis import assume, given, reject, strategies as st

from bench_framework.errors import ScenarioError
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.scenario.load import load
from bench_framework.scenario.plan import expand

NAMES = ("io", "runtime", "alloc", "size")
Matrix = dict[str, Any]


@st.composite
def matrices(draw: st.DrawFn) -> Matrix:
    """Draw axes with their values, excluded combinations and a design, as JSON, which is YAML."""
    axes: dict[str, Any] = {
        name: [f"{name[0]}{i}" for i in range(draw(st.integers(1, 4)))]
        for name in NAMES[: draw(st.integers(1, 3))]
    }
    matrix: Matrix = {
        "version": 1,
        "name": "n",
        "question": "q",
        "worker": {"command": ["prog"]},
        "axes": axes,
    }
    command = ["{bin}", *(f"{{{name}}}" for name in axes)]
    matrix["baseline"] = {name: draw(st.sampled_from(values)) for name, values in axes.items()}
    if draw(st.booleans()):
        axes["size"] = ["1MiB", "2MiB", "3MiB"][: draw(st.integers(1, 3))]
        matrix["input"] = {"dataset": "prose", "size": "{size}"}
        command.append("{input}")
    rule = st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(values) for name, values in axes.items()}
    )
    matrix["exclude"] = draw(st.lists(rule.filter(bool), max_size=3))
    matrix["design"] = draw(st.sampled_from(["full", "one-at-a-time", "ladder"]))
    matrix["command"] = command
    return matrix


def planned(matrix: Matrix) -> Plan:
    try:
        return expand(load(Path("s.yaml"), text=json.dumps(matrix)))
    except ScenarioError as error:
        refused = error
    # Random rules may exclude all configurations or the baseline. Any other error is a defect.
    assert {problem.code for problem in refused.problems} <= {"BC201", "BC208"}
    return reject()


def measured(plan: Plan) -> list[frozenset[tuple[str, str]]]:
    """Return the combination of each configuration except the A/A control."""
    cells = [cell for cell in plan.cells if cell.role is not Role.CONTROL]
    return [
        frozenset(plan.variant(c.variant_id).values + plan.input(c.input_id).values) for c in cells
    ]


@given(matrices())
def test_cells_and_holes_are_the_full_product_and_nothing_twice(matrix: Matrix) -> None:
    plan = planned(matrix)
    combinations = measured(plan) + [frozenset(hole.values) for hole in plan.holes]
    whole = {
        frozenset(zip(matrix["axes"], row, strict=True))
        for row in itertools.product(*matrix["axes"].values())
    }
    assert len(combinations) == len(whole)
    assert set(combinations) == whole


@given(matrices())
def test_excluded_combinations_are_never_measured(matrix: Matrix) -> None:
    cells = measured(planned(matrix))
    assert not any(set(rule.items()) <= cell for rule in matrix["exclude"] for cell in cells)


@given(matrices())
def test_every_hole_of_a_rule_names_its_line(matrix: Matrix) -> None:
    assert all(hole.reason and hole.rule == "s.yaml:1" for hole in planned(matrix).holes)


@given(matrices())
def test_ids_and_labels_are_unique(matrix: Matrix) -> None:
    plan = planned(matrix)
    for things in (plan.cells, plan.variants, plan.inputs):
        assert len({thing.id for thing in things}) == len(things)
    assert len({variant.label for variant in plan.variants}) == len(plan.variants)


@given(matrices(), st.randoms(use_true_random=False))
def test_reordering_changes_no_cell(matrix: Matrix, random: Any) -> None:
    assume(matrix["design"] != "ladder")  # the order of a ladder is its steps
    other = json.loads(json.dumps(matrix))
    names = list(other["axes"])
    random.shuffle(names)
    other["axes"] = {
        name: random.sample(other["axes"][name], len(other["axes"][name])) for name in names
    }
    random.shuffle(other["exclude"])
    first, second = planned(matrix), planned(other)
    assert {(c.id, c.command, c.role) for c in first.cells} == {
        (c.id, c.command, c.role) for c in second.cells
    }


@given(matrices())
def test_one_rule_more_changes_no_cell_that_stays(matrix: Matrix) -> None:
    more = json.loads(json.dumps(matrix))
    more["exclude"].append({name: values[-1] for name, values in matrix["axes"].items()})
    assert {c.id for c in planned(more).cells} <= {c.id for c in planned(matrix).cells}


@given(matrices())
def test_equal_scenarios_give_equal_plans(matrix: Matrix) -> None:
    assert planned(matrix) == planned(json.loads(json.dumps(matrix)))


@given(matrices())
def test_each_input_has_its_cells_together_the_control_last(matrix: Matrix) -> None:
    plan = planned(matrix)
    grouped = [key for key, _ in itertools.groupby(cell.input_id for cell in plan.cells)]
    assert grouped == [one.id for one in plan.inputs]
    for one in plan.inputs:
        roles = [cell.role for cell in plan.cells_of(one.id)]
        assert roles.count(Role.BASELINE) == roles.count(Role.CONTROL) <= 1
        assert Role.CONTROL not in roles[:-1]


@given(matrices(), st.data())
def test_a_selection_takes_a_part_and_the_rest_are_holes(
    matrix: Matrix, data: st.DataObject
) -> None:
    whole = planned(matrix)
    name = data.draw(st.sampled_from(list(matrix["axes"])))
    value = data.draw(st.sampled_from(matrix["axes"][name]))
    assume(any((name, value) in cell for cell in measured(whole)))
    part = expand(load(Path("s.yaml"), text=json.dumps(matrix)), only=f"{name}={value}")
    assert len(measured(part)) + len(part.holes) == len(measured(whole)) + len(whole.holes)
    baseline = set(whole.variant(whole.baseline_id).values)
    assert all((name, value) in cell or baseline <= cell for cell in measured(part))
