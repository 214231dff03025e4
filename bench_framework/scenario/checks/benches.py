"""Checks of `worker.bench`: keys that do not apply to benchmarks, and names of axes."""

from collections.abc import Iterator
from typing import Final

from bench_framework.errors import Problem
from bench_framework.model.metrics import ITERATION
from bench_framework.scenario.definition import Scenario

AXES: Final = ("benchmark", "target")
"""Names of the axes of benchmarks: their ids, and their bench targets."""
_OF_COMMANDS: Final = {
    "command": "the command of a benchmark",
    "shell": "the command of a benchmark",
    "stdin": "the command of a benchmark",
    "tuning": "the command of a benchmark",
    "input": "the input of a benchmark",
    "answer": "the output of a benchmark",
    "prepare": "what runs before a benchmark",
    "cleanup": "what runs after a benchmark",
    "profile": "the profile of a benchmark",
    "derived": "figures of benchmarks",
    "metrics": "the metrics of a benchmark",
}
"""Keys without an effect on benchmarks, each with what it would decide."""


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of a scenario with `worker.bench`."""
    spec = scenario.spec
    if spec.worker.bench is None:
        return
    for key, what in _OF_COMMANDS.items():
        if key in spec.model_fields_set:
            yield scenario.key_problem((key,), "BC108.key-without-benches", key=key, what=what)
    for name in spec.axes:
        if name in AXES:
            yield scenario.key_problem(("axes", name), "BC108.axis-of-benches", name=name)
    for place, setting in scenario.settings:
        if setting.pgo is not None:
            yield scenario.key_problem((*place, "pgo"), "BC108.pgo-of-benches")
    for metric, _ in spec.gate.margins:
        if metric not in (ITERATION, "binary_size"):
            yield scenario.key_problem(("gate", metric), "BC108.gate-of-benches", metric=metric)
