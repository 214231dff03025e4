"""Checks of declared metrics, and of the names of metrics."""

from collections.abc import Iterator
from typing import Final

from bench_framework.errors import Problem
from bench_framework.model import json_path
from bench_framework.model.metrics import (
    BUILD,
    DERIVED,
    INSTRUCTIONS,
    METRICS,
    UNITS,
    DeclaredMetric,
    InstructionPolicy,
)
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.scalars import compiled_regex, did_you_mean
from bench_framework.scenario.schema.measure import COUNTER_KEYS, SOURCE_KEYS, MetricPart

IN_QUOTES: Final = "write it in single quotes, in which a backslash is literal"
GATED_COUNTS: Final = 2
"""Number of counted runs if only the gate uses instructions. Two runs show variation."""


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of declared metrics, and of the names of metrics."""
    for name, part in scenario.spec.metrics.items():
        yield from _declared(scenario, name, part)
    yield from _judged(scenario)
    yield from _limits(scenario)


def declared_metrics(scenario: Scenario) -> tuple[DeclaredMetric, ...]:
    """Return the declared metrics of a valid scenario, in its order."""
    metrics = []
    for name, part in scenario.spec.metrics.items():
        if part.source is None:
            continue
        unit, scale = UNITS[part.unit]
        path = json_path.parse(part.json_path) if part.json_path is not None else ()
        metrics.append(
            DeclaredMetric(
                name, part.source, unit, scale, part.direction, path, part.regex or "", part.about
            )
        )
    return tuple(metrics)


def instruction_policy(scenario: Scenario) -> InstructionPolicy | None:
    """Return how to count instructions, or `None` if `judge`, `metrics` and `gate` omit them."""
    spec = scenario.spec
    part, judged = spec.metrics.get(INSTRUCTIONS), INSTRUCTIONS in spec.judge
    gated = INSTRUCTIONS in dict(spec.gate.margins()) or any(
        b.metric == INSTRUCTIONS for b in spec.gate.budgets
    )
    if part is not None:
        return InstructionPolicy(part.runs, part.timeout, part.tool, optional=gated and not judged)
    if judged:
        return InstructionPolicy()
    return InstructionPolicy(runs=GATED_COUNTS, optional=True) if gated else None


def _declared(scenario: Scenario, name: str, part: MetricPart) -> Iterator[Problem]:
    path = ("metrics", name)
    if name == INSTRUCTIONS:
        for key in ("from", *SOURCE_KEYS):
            if key in (scenario.document.data.get("metrics", {}).get(name) or {}):
                yield scenario.key_problem(
                    (*path, key),
                    "BC108.no-effect-instructions",
                    key=key,
                    counter_keys=", ".join(COUNTER_KEYS),
                )
        return
    if name in METRICS:
        use = "" if METRICS[name].judged == "shown" else " and use it in `judge`"
        yield scenario.key_problem(path, "BC108.built-metric-benchctl", name=name, use=use)
        return
    if part.source is None:
        yield scenario.key_problem(path, "BC107.metric-without-from", name=name)
        return
    yield from _source(scenario, name, part)
    if part.regex is not None:
        compiled, fault = compiled_regex(part.regex), ""
        if isinstance(compiled, str):
            fault, advice = f"`regex` is not a regular expression: {compiled}", IN_QUOTES
        elif compiled.groups == 0:
            fault = "`regex` needs a group that matches the number"
            advice = "put the number in parentheses: ([0-9.]+)"
        elif compiled.groups > 1:
            fault = f"`regex` has {compiled.groups} groups instead of one"
            advice = "write (?:…) for groups other than the number"
        if fault:
            yield scenario.value_problem(
                (*path, "regex"), "BC102.metric-regex", name=name, fault=fault, fix=advice
            )
    if part.json_path is not None:
        try:
            json_path.parse(part.json_path)
        except ValueError as error:
            yield scenario.value_problem(
                (*path, "json"),
                "BC102.metric-not-json",
                name=name,
                json_path=part.json_path,
                error=error,
            )


def _source(scenario: Scenario, name: str, part: MetricPart) -> Iterator[Problem]:
    """Yield a problem if the scenario does not have the metric's source."""
    spec, answer = scenario.spec, scenario.spec.answer
    message, advice = "", ""
    if part.source == "worker" and not scenario.spec.worker.follows_protocol:
        message = "this worker does not follow the protocol"
        advice = "write from: stdout, or add worker: {contract: true} if it does"
    elif part.source == "answer" and answer.file is None:
        message, advice = "`from: answer` needs `answer.file`", "add answer: {file: out.json}"
    elif part.source == "stdout" and answer.stdout != "file":
        message = f"stdout is not stored, because `answer.stdout` is `{answer.stdout}`"
        advice = "remove `answer.stdout`"
    elif part.source == "stdout" and spec.shell and ">" in str(spec.command or ""):
        return  # the shell may redirect stdout, so only the run can report missing numbers
    if message:
        place = ("metrics", name, "from")
        yield scenario.value_problem(
            place, "BC108.metric-source", name=name, message=message, fix=advice
        )


def _judged(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of `judge`. A worker's metrics are known only after its build."""
    spec = scenario.spec
    for index, metric in enumerate(spec.judge):
        place = ("judge", index)
        if metric in spec.judge[:index]:
            yield scenario.value_problem(place, "BC104.judge-lists-twice", metric=metric)
        elif metric not in scenario.lost and (reason := _refusal_reason(scenario, metric)):
            known = [name for name in METRICS if not _refusal_reason(scenario, name)]
            known += [name for name, part in spec.metrics.items() if part.direction != "none"]
            advice = did_you_mean(metric, known, "metrics")
            yield scenario.value_problem(
                place, "BC206.metric-cannot-judged", metric=metric, reason=reason, fix=advice
            )


def _refusal_reason(scenario: Scenario, metric: str) -> str:
    """Return why a metric cannot be judged, or an empty text if it can or is not known yet."""
    part, kind = scenario.spec.metrics.get(metric), METRICS.get(metric)
    if part is not None and kind is None:
        return "" if part.direction != "none" else "it has no `direction`"
    if kind is None:
        unknown = "this worker reports no metrics, and `metrics` does not declare it"
        return "" if scenario.spec.worker.follows_protocol else unknown
    if metric == "build_time":
        return "each variant is built only once"
    if kind.judged == "shown" and kind.source == DERIVED:
        return "it is computed from other metrics"
    if kind.judged == "shown":
        return "it is for information only"
    if kind.kernel_key and not scenario.spec.worker.follows_protocol:
        return "without the worker protocol it is counted in only one run"
    if kind.source == BUILD and scenario.spec.worker.command is not None:
        return "nothing is built, all variants run one program"
    return ""


def _limits(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of the names under `margin` and `epsilon`."""
    spec = scenario.spec
    if scenario.spec.worker.follows_protocol:
        return
    known = [*METRICS, *spec.metrics]
    for key in ("margin", "epsilon"):
        given = getattr(spec, key)
        for metric in given if isinstance(given, dict) else ():
            if metric not in known and metric not in scenario.lost:
                advice = did_you_mean(metric, known, "metrics")
                yield scenario.key_problem(
                    (key, metric), "BC206.no-metric", metric=metric, fix=advice
                )
