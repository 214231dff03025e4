"""Checks of the gate: its cells, metrics and limits."""

from collections.abc import Iterator
from dataclasses import replace

from bench_framework.errors import Problem, ScenarioError
from bench_framework.model.metrics import METRICS
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.gate_policy import budget_limit, unit_of
from bench_framework.scenario.scalars import Refused
from bench_framework.scenario.selection import BENCH_NAMES, parse_selection


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of `gate`."""
    gate, worker = scenario.spec.gate, scenario.spec.worker
    if gate.cells is not None:
        yield from _selection(scenario, ("gate", "cells"), gate.cells)
    reason = worker.without_revisions
    if not reason and any(setting.revision for _, setting in scenario.settings):
        reason = Reason(ReasonCode.AXIS_OF_REVISIONS)
    if gate.against and reason:
        yield scenario.value_problem(
            ("gate", "against"), "BC108.gate-against-without-effect", reason=reason
        )
    if "binary_size" in dict(gate.margins) and worker.command is not None:
        yield scenario.key_problem(("gate", "binary_size"), "BC108.binary-size-of-program")
    if gate.on_same_instructions == "warn" and not (worker.bench and gate.explain):
        code = "BC108.same-instructions-of-program"
        if worker.bench:
            code = "BC108.same-instructions-not-counted"
        yield scenario.key_problem(("gate", "on-same-instructions"), code, name=scenario.spec.name)
    known = [name for name in METRICS if unit_of(scenario, name) is not None]
    known += scenario.spec.metrics
    for index, budget in enumerate(gate.budgets):
        place: Path = ("gate", "budgets", index)
        yield from _selection(scenario, (*place, "cell"), budget.cells)
        if budget.metric not in known:
            at, key, metric = (*place, "metric"), "BC206.metric-without-budget", budget.metric
            yield from scenario.unknown(at, key, metric, known, metric=metric)
            continue
        try:
            budget_limit(scenario, budget)
        except Refused as refused:
            yield scenario.document.text_problem((*place, "max"), refused.text)


def _selection(scenario: Scenario, place: Path, words: str) -> Iterator[Problem]:
    """Yield the problems of a selection, each at the position of the key in the file."""
    known = {name: axis.values for name, axis in scenario.axes.items()}
    try:
        parse_selection(words, known, later=BENCH_NAMES if scenario.spec.worker.bench else ())
    except ScenarioError as error:
        at = scenario.document.place.at(place)
        for problem in error.problems:
            yield replace(problem, file=at.file, at=at.value)
