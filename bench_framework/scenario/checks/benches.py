"""Checks of `worker.bench`: keys that do not apply to benchmarks, and names of axes."""

from collections.abc import Iterator
from typing import Final

from bench_framework.errors import Problem
from bench_framework.model.metrics import ITERATION
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.benches import AXES
from bench_framework.scenario.definition import Scenario

_OF_COMMANDS: Final = {
    "command": PhraseCode.BENCH_COMMAND,
    "shell": PhraseCode.BENCH_COMMAND,
    "stdin": PhraseCode.BENCH_COMMAND,
    "tuning": PhraseCode.BENCH_COMMAND,
    "input": PhraseCode.BENCH_INPUT,
    "answer": PhraseCode.BENCH_OUTPUT,
    "prepare": PhraseCode.BENCH_BEFORE,
    "cleanup": PhraseCode.BENCH_AFTER,
    "profile": PhraseCode.BENCH_PROFILE,
    "derived": PhraseCode.BENCH_FIGURES,
    "metrics": PhraseCode.BENCH_METRICS,
}
"""Keys without an effect on benchmarks, each with what it would decide."""


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of a scenario with `worker.bench`."""
    spec = scenario.spec
    if spec.worker.bench is None:
        return
    for key, what in _OF_COMMANDS.items():
        if key in spec.model_fields_set:
            code = "BC108.key-without-benches"
            yield scenario.key_problem((key,), code, key=key, what=Phrase(what))
    for name in spec.axes:
        if name in AXES:
            yield scenario.key_problem(("axes", name), "BC108.axis-of-benches", name=name)
    for place, setting in scenario.settings:
        for key in sorted(setting.model_fields_set & {"pgo", "calls"}):
            yield scenario.key_problem((*place, key), "BC108.setting-of-benches", key=key)
    for metric, _ in spec.gate.margins:
        if metric not in (ITERATION, "binary_size"):
            yield scenario.key_problem(("gate", metric), "BC108.gate-of-benches", metric=metric)
