"""Checks of the gate: its cells, metrics and limits."""

from collections.abc import Iterator

from bench_framework.errors import Problem, ScenarioError
from bench_framework.model.metrics import METRICS
from bench_framework.scenario.axes import axes_of
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.gate_policy import budget_limit, unit_of
from bench_framework.scenario.scalars import Refused, did_you_mean
from bench_framework.scenario.selection import parse_selection


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of `gate`."""
    gate, document = scenario.spec.gate, scenario.document
    if gate.cells is not None:
        yield from _selection(scenario, ("gate", "cells"), gate.cells)
    if gate.against is not None and (reason := _no_revisions(scenario)):
        advice = "remove it, to compare with the scenario's baseline"
        yield document.value_problem(
            ("gate", "against"), "BC108", f"`gate.against` has no effect: {reason}", advice
        )
    if "binary_size" in dict(gate.margins()) and scenario.spec.worker.command is not None:
        message = "`gate.binary_size` has no effect on a program that is not built"
        yield document.key_problem(("gate", "binary_size"), "BC108", message, "remove it")
    for index, budget in enumerate(gate.budgets):
        place: Path = ("gate", "budgets", index)
        yield from _selection(scenario, (*place, "cell"), budget.cell)
        if unit_of(scenario, budget.metric) is None and budget.metric not in scenario.lost:
            known = [
                *(n for n in METRICS if unit_of(scenario, n) is not None),
                *scenario.spec.metrics,
            ]
            near = did_you_mean(budget.metric, known, "metrics")
            message = f"metric `{budget.metric}` does not exist or cannot have a budget"
            yield document.value_problem((*place, "metric"), "BC206", message, near)
            continue
        try:
            budget_limit(scenario, budget)
        except Refused as refused:
            yield document.value_problem(
                (*place, "max"),
                refused.code,
                refused.message,
                label=refused.label,
                fix=refused.advice,
            )


def _no_revisions(scenario: Scenario) -> str:
    if reason := scenario.spec.worker.without_revisions:
        return reason
    if any(setting.revision for axis in axes_of(scenario) for setting in axis.settings.values()):
        return "an axis of this scenario names revisions"
    return ""


def _selection(scenario: Scenario, place: Path, words: str) -> Iterator[Problem]:
    """Yield the problems of a selection, each at the position of the key in the file."""
    known = {axis.name: axis.values for axis in axes_of(scenario)}
    try:
        parse_selection(words, known)
    except ScenarioError as error:
        for problem in error.problems:
            yield scenario.value_problem(place, problem.code, problem.message, problem.fix)
