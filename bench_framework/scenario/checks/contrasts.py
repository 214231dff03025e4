"""Checks of `contrasts`: each side is one measured candidate, and the two sides differ."""

from collections.abc import Iterator, Mapping

from bench_framework.errors import Problem
from bench_framework.scenario.axes import AxisView, axes_of
from bench_framework.scenario.checks.rules import check_reference, check_values
from bench_framework.scenario.contrasts import EXPERIMENT, input_ids, selected
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.expansion import Expansion
from bench_framework.scenario.matrix import combine
from bench_framework.scenario.scalars import did_you_mean
from bench_framework.scenario.schema.parts import ContrastPart


def _sides(part: ContrastPart) -> dict[str, dict[str, str]]:
    return {"of": part.candidate, "against": part.reference}


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of names, axes, values and metrics."""
    axes = {axis.name: axis for axis in axes_of(scenario)}
    names: set[str] = set()
    for index, part in enumerate(scenario.spec.contrasts):
        path: Path = ("contrasts", index)
        if part.name in names:
            message = f"two contrasts have the name `{part.name}`"
            yield scenario.value_problem((*path, "name"), "BC206", message, "choose another name")
        names.add(part.name)
        for key, given in _sides(part).items():
            yield from check_side(scenario, axes, (*path, key), given)
        yield from check_inputs(scenario, axes, (*path, "input"), part.input)
        if part.metric is not None and part.metric not in scenario.spec.judge:
            advice = did_you_mean(part.metric, scenario.spec.judge, "judged here")
            message = f"metric `{part.metric}` is not in `judge`"
            yield scenario.value_problem((*path, "metric"), "BC206", message, advice)


def check_inputs(
    scenario: Scenario, axes: Mapping[str, AxisView], path: Path, given: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield the problems of references to input axes and their values."""
    for axis, value in given.items():
        where = (*path, axis)
        if axis in axes and axes[axis].kind != "input":
            message = f"`{axis}` is an axis of the variants, not of the input"
            yield scenario.key_problem(where, "BC206", message, "name a variant by it")
        else:
            yield from check_reference(scenario, axes, where, axis, value)


def check_side(
    scenario: Scenario, axes: Mapping[str, AxisView], path: Path, given: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield the problems of axis values, or of `{experiment: NAME}`, that select a variant."""
    if EXPERIMENT not in given:
        yield from check_values(scenario, axes, path, given)
        return
    known = [e.name for e in scenario.spec.experiments if not e.at]
    name = given[EXPERIMENT]
    if len(given) > 1:
        message = "`experiment` selects one variant, so axis values cannot be added"
        yield scenario.key_problem((*path, EXPERIMENT), "BC206", message, "remove the other values")
    elif name not in known and name not in scenario.lost:
        advice = did_you_mean(name, known, "experiments")
        message = f"there is no experiment `{name}` that changes the baseline"
        yield scenario.value_problem((*path, EXPERIMENT), "BC206", message, advice)


def check_cells(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems of contrasts of other than two compared cells; names are valid already."""
    if not scenario.spec.contrasts:
        return
    expansion = Expansion(scenario, combine(scenario))
    compared = {
        (cell.variant_id, cell.input_id)
        for cell in expansion.cells(expansion.pairs())
        if cell.role.compared
    }
    for index, part in enumerate(scenario.spec.contrasts):
        path: Path = ("contrasts", index)
        inputs = input_ids(expansion, part.input)
        sides = [selected(expansion, given) for given in _sides(part).values()]
        ids = [{i for i in inputs if side and (side.id, i) in compared} for side in sides]
        missing = [key for key, there in zip(_sides(part), ids, strict=True) if not there]
        if sides[0] == sides[1] is not None:
            message = f"contrast `{part.name}` compares a variant with itself"
            advice = "change one of the two; an omitted axis has the baseline's value"
            yield scenario.value_problem((*path, "against"), "BC206", message, advice)
        elif not missing and not ids[0] & ids[1]:
            message = f"the two sides of contrast `{part.name}` have no input in common"
            yield scenario.value_problem(path, "BC206", message, "change `exclude` or `input`")
        for key in missing:
            values = ", ".join(f"{axis}={value}" for axis, value in _sides(part)[key].items())
            message = f"`{key}` ({values}) of contrast `{part.name}` is not compared with anything"
            advice = "choose a variant that is measured and is neither a bound nor an anchor"
            yield scenario.value_problem((*path, key), "BC206", message, advice)
