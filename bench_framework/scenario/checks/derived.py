"""Checks of `bounds`, `choose-from`, `cells` and `derived`: names, and units of formulas."""

from collections.abc import Iterator

from bench_framework.errors import Problem
from bench_framework.model.formula import FormulaError, FormulaUnit, parse
from bench_framework.scenario.checks.rules import check_values
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import suggest
from bench_framework.scenario.matrix import combine
from bench_framework.scenario.scalars import list_names


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of names and formulas."""
    spec = scenario.spec
    yield from _bounds(scenario)
    for index, given in enumerate(spec.choose_from):
        yield from check_values(scenario, ("choose-from", index), given)
    for name, given in spec.cells.items():
        yield from check_values(scenario, ("cells", name), given)
    yield from _formulas(scenario)


def check_cells(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems of named cells and choices that are not measured; names are valid already."""
    measured = [dict(values).items() for values in combine(scenario).measured]
    for name, given in scenario.spec.cells.items():
        values = dict(scenario.variant_values(given))
        if not any(values.items() <= combination for combination in measured):
            values_text = ", ".join(f"{axis}={value}" for axis, value in values.items())
            yield scenario.key_problem(
                ("cells", name), "BC209.cell-not-measured", name=name, values_text=values_text
            )
    for index, given in enumerate(scenario.spec.choose_from):
        if not any(given.items() <= combination for combination in measured):
            yield scenario.value_problem(("choose-from", index), "BC209.choose-from")


def _bounds(scenario: Scenario) -> Iterator[Problem]:
    for index, given in enumerate(scenario.spec.bounds):
        wrong = [*check_values(scenario, ("bounds", index), given)]
        yield from wrong
        for baseline in scenario.spec.baseline if not wrong else ():
            if given.items() <= dict(scenario.variant_values(baseline)).items():
                yield scenario.value_problem(("bounds", index), "BC206.baseline-as-bound")


def _formulas(scenario: Scenario) -> Iterator[Problem]:
    units: dict[str, FormulaUnit] = {}
    cells = scenario.spec.cells
    for name, part in scenario.spec.derived.items():
        path = ("derived", name, "formula")
        if name in cells:
            yield scenario.key_problem(path[:2], "BC209.name-of-cell", name=name)
        try:
            formula = parse(part.formula, units)
        except FormulaError as error:
            yield scenario.value_problem(path, "BC209.formula", name=name, error=error.phrase)
            continue
        units[name] = formula.unit
        for cell in formula.cells:
            if cell not in cells and cell not in scenario.lost:
                near, known = suggest(cell, cells), list_names(cells)
                key = "BC209.no-cell" if near or known else "BC209.no-cell-near"
                yield scenario.value_problem(path, key, cell=cell, near=near, known=known)
