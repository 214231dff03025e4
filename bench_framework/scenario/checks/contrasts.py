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
            message = f"two contrasts have the name `{part.name}`"
            yield scenario.value_problem((*path, "name"), "BC206", message, "choose another name")
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
            message = f"`{axis}` is an axis of the variants, not of the input"
            yield scenario.key_problem(where, "BC206", message, "name a variant by it")
        else:
            yield from check_reference(scenario, where, axis, value)


def check_side(scenario: Scenario, path: Path, given: Mapping[str, str]) -> Iterator[Problem]:
    """Yield the problems of axis values, or of `{experiment: NAME}`, that select a variant."""
    if EXPERIMENT not in given:
        yield from check_values(scenario, path, given)
        return
    name, place = given[EXPERIMENT], (*path, EXPERIMENT)
    if len(given) > 1:
        message = "`experiment` selects one variant, so axis values cannot be added"
        yield scenario.key_problem(place, "BC206", message, "remove the other values")
    else:
        known = [e.name for e in scenario.spec.experiments if not e.at]
        message = f"there is no experiment `{name}` that changes the baseline"
        yield from scenario.unknown(place, name, known, "experiments", message)


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
            message = f"contrast `{part.name}` compares a variant with itself"
            advice = "change one of the two; an omitted axis has the baseline's value"
            yield scenario.value_problem((*path, "against"), "BC206", message, advice)
        elif not missing and not ids[0] & ids[1]:
            message = f"the two sides of contrast `{part.name}` have no input in common"
            yield scenario.value_problem(path, "BC206", message, "change `exclude` or `input`")
        for key in missing:
            values = ", ".join(f"{axis}={value}" for axis, value in part.sides[key].items())
            message = f"`{key}` ({values}) of contrast `{part.name}` is not compared with anything"
            advice = "choose a variant that is measured and is neither a bound nor an anchor"
            yield scenario.value_problem((*path, key), "BC206", message, advice)
