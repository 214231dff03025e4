"""Checks of `causes` and `projections`: what they name, and formulas whose units fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.formula import FormulaError, Unit, parse
from bench_framework.scenario.check_rules import named
from bench_framework.scenario.leaves import did_you_mean
from bench_framework.scenario.matrix import axes_of, baseline_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from bench_framework.errors import Problem
    from bench_framework.scenario.loaded import Scenario
    from bench_framework.scenario.matrix import AxisView
    from bench_framework.scenario.schema.parts import CausePart


def check(scenario: Scenario) -> Iterator[Problem]:
    """Problems of both."""
    axes = {axis.name: axis for axis in axes_of(scenario)}
    for index, part in enumerate(scenario.spec.causes):
        for axis, value in part.at.items():
            yield from named(scenario, axes, ("causes", index, "at", axis), axis, value, variant_only=True)
        yield from _change(scenario, axes, index, part)
    yield from _projections(scenario)


def _change(
    scenario: Scenario, axes: Mapping[str, AxisView], index: int, part: CausePart
) -> Iterator[Problem]:  # fmt: skip
    fixed = scenario.spec.fixed
    for key, value in part.change.items():
        path = ("causes", index, "change", key)
        if key in fixed:
            if not any(experiment.change == {key: value} for experiment in scenario.spec.experiments):
                advice = f"experiments: [{{name: …, change: {{{key}: {value}}}}}]"
                yield scenario.document.value_problem(
                    path,
                    "BC206",
                    f"no experiment changes `{key}` to `{value}`, so nothing tests this",
                    help=advice,
                )
            continue
        yield from named(scenario, axes, path, key, value, variant_only=True, also=tuple(fixed))
        first = scenario.spec.baseline[0] if scenario.spec.baseline else {}
        chosen = {**(baseline_values(tuple(axes.values()), first) or {}), **part.at}
        if chosen.get(key) == value:
            yield scenario.document.value_problem(
                path, "BC204", "this change tests nothing", note=f"`{key}` is {value} already"
            )


def _projections(scenario: Scenario) -> Iterator[Problem]:
    cells, derived = scenario.spec.cells, scenario.spec.derived
    units = _units(derived)
    for name, part in scenario.spec.projections.items():
        path = ("projections", name)
        if name in cells or name in derived:
            yield scenario.document.key_problem(
                path, "BC209", f"`{name}` is a figure that is measured already"
            )
        if part.measured is not None and part.measured not in cells:
            advice = did_you_mean(part.measured, list(cells), "cells") or "name it under `cells`"
            yield scenario.document.value_problem(
                (*path, "measured"), "BC209", f"there is no cell called `{part.measured}`", help=advice
            )
        try:
            formula = parse(part.formula, units)
        except FormulaError as error:
            yield scenario.document.value_problem(
                (*path, "formula"), "BC209", f"`{name}` cannot be worked out: {error}"
            )
            continue
        units[name] = formula.unit
        for cell in formula.cells:
            if cell not in cells and cell not in scenario.lost:
                advice = did_you_mean(cell, list(cells), "cells") or "name it under `cells`"
                yield scenario.document.value_problem(
                    (*path, "formula"), "BC209", f"there is no cell called `{cell}`", help=advice
                )


def _units(derived: Mapping[str, str]) -> dict[str, Unit]:
    """Units of the derived rows that can be read; the others have a problem of their own."""
    units: dict[str, Unit] = {}
    for name, text in derived.items():
        try:
            units[name] = parse(text, units).unit
        except FormulaError:
            continue
    return units
