"""Checks of `contrasts`: each side is one measured candidate, and the two sides differ."""

from collections.abc import Iterator, Mapping

from bench_framework.errors import Problem
from bench_framework.scenario.checks.rules import check_judged, check_reference, check_values
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.expansion import EXPERIMENT, Expansion


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of names, axes, values and metrics."""
    names: set[str] = set()
    for index, part in enumerate(scenario.spec.contrasts):
        path: Path = ("contrasts", index)
        if part.name in names:
            yield scenario.value_problem((*path, "name"), "BC206.contrast-twice", name=part.name)
        names.add(part.name)
        for key, given in part.sides.items():
            yield from check_side(scenario, (*path, key), given)
        yield from check_inputs(scenario, (*path, "input"), part.input)
        yield from check_judged(scenario, path, part.metric)


def check_inputs(scenario: Scenario, path: Path, given: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the problems of references to input axes and their values."""
    for axis, value in given.items():
        where = (*path, axis)
        if axis in scenario.axes and scenario.axes[axis].kind != "input":
            yield scenario.key_problem(where, "BC206.axis-of-variants", axis=axis)
        else:
            yield from check_reference(scenario, where, axis, value)


def check_side(scenario: Scenario, path: Path, given: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the problems of axis values, or of `{experiment: NAME}`, that select a variant."""
    if EXPERIMENT not in given:
        yield from check_values(scenario, path, given)
        return
    name, place = given[EXPERIMENT], (*path, EXPERIMENT)
    if len(given) > 1:
        yield scenario.key_problem(place, "BC206.experiment-with-values")
    else:
        known = [e.name for e in scenario.spec.experiments if not e.at]
        yield from scenario.unknown(place, "BC206.no-experiment", name, known, name=name)


def check_cells(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems of contrasts of other than two compared cells; names are valid already."""
    if not scenario.spec.contrasts:
        return
    expansion = Expansion(scenario)
    compared = {
        (cell.variant_id, cell.input_id)
        for cell in expansion.cells(expansion.pairs())
        if cell.role.compared
    }
    for index, part in enumerate(scenario.spec.contrasts):
        path: Path = ("contrasts", index)
        inputs = expansion.input_ids(part.input)
        sides = {key: expansion.selected(given) for key, given in part.sides.items()}
        ids = [{i for i in inputs if v and (v.id, i) in compared} for v in sides.values()]
        missing = [key for key, there in zip(sides, ids, strict=True) if not there]
        if sides["of"] == sides["against"] is not None:
            yield scenario.value_problem(
                (*path, "against"), "BC206.contrast-with-itself", name=part.name
            )
        elif not missing and not ids[0] & ids[1]:
            yield scenario.value_problem(path, "BC206.contrast-without-input", name=part.name)
        for key in missing:
            values = ", ".join(f"{axis}={value}" for axis, value in part.sides[key].items())
            yield scenario.value_problem(
                (*path, key), "BC206.contrast-not-compared", key=key, values=values, name=part.name
            )
