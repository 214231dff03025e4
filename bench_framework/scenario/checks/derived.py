"""Checks of `bounds`, `choose-from`, `cells` and `derived`: names, and units of formulas."""

from collections.abc import Iterator, Mapping

from bench_framework.errors import Problem
from bench_framework.model.formula import FormulaError, Unit, parse
from bench_framework.scenario.axes import AxisView, axes_of, baseline_values, named_values
from bench_framework.scenario.checks.rules import check_values
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.matrix import combine
from bench_framework.scenario.scalars import did_you_mean


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of names and formulas."""
    axes = {axis.name: axis for axis in axes_of(scenario)}
    yield from _bounds(scenario, axes)
    for index, given in enumerate(scenario.spec.choose_from):
        yield from check_values(scenario, axes, ("choose-from", index), given)
    for name, given in scenario.spec.cells.items():
        yield from check_values(scenario, axes, ("cells", name), given)
    yield from _formulas(scenario)


def check_cells(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems of named cells and choices that are not measured; names are valid already."""
    matrix = combine(scenario)
    measured = {tuple(sorted(matrix.variant_part(values))) for values in matrix.measured}
    for name, given in scenario.spec.cells.items():
        values = named_values(matrix.axes, scenario.spec.baseline, given)
        if tuple(sorted(values)) not in measured:
            values_text = ", ".join(f"{axis}={value}" for axis, value in values)
            message = f"cell `{name}` ({values_text}) is not measured"
            advice = "change its values, or the rule that excludes it"
            yield scenario.key_problem(("cells", name), "BC209", message, advice)
    for index, given in enumerate(scenario.spec.choose_from):
        if not any(given.items() <= dict(values).items() for values in measured):
            message, advice = "`choose-from` selects no measured variant", "change its values"
            yield scenario.value_problem(("choose-from", index), "BC209", message, advice)


def _bounds(scenario: Scenario, axes: Mapping[str, AxisView]) -> Iterator[Problem]:
    for index, given in enumerate(scenario.spec.bounds):
        wrong = [*check_values(scenario, axes, ("bounds", index), given)]
        yield from wrong
        for baseline in scenario.spec.baseline:
            chosen = baseline_values(tuple(axes.values()), baseline) or {}
            if not wrong and given.items() <= chosen.items():
                message = "the baseline cannot be a bound, because bounds are not compared"
                advice = "choose another baseline, or remove the bound"
                yield scenario.value_problem(("bounds", index), "BC206", message, advice)


def _formulas(scenario: Scenario) -> Iterator[Problem]:
    units: dict[str, Unit] = {}
    cells = scenario.spec.cells
    for name, part in scenario.spec.derived.items():
        path = ("derived", name, "formula")
        if name in cells:
            message = f"`{name}` is already the name of a cell"
            advice = "choose another name"
            yield scenario.key_problem(path[:2], "BC209", message, advice)
        try:
            formula = parse(part.formula, units)
        except FormulaError as error:
            yield scenario.value_problem(path, "BC209", f"`{name}` cannot be computed: {error}")
            continue
        units[name] = formula.unit
        for cell in formula.cells:
            if cell not in cells and cell not in scenario.lost:
                advice = (
                    did_you_mean(cell, list(cells), "cells") or f"define `{cell}` under `cells`"
                )
                yield scenario.value_problem(path, "BC209", f"there is no cell `{cell}`", advice)
