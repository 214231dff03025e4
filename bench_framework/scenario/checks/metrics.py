"""Checks of declared metrics, and of the names of metrics."""

from collections.abc import Iterator
from dataclasses import replace

from bench_framework.errors import Problem
from bench_framework.model import json_path
from bench_framework.model.faults import FaultCode
from bench_framework.model.metrics import (
    BUILD,
    COUNTED,
    DERIVED,
    INSTRUCTIONS,
    ITERATION,
    METRICS,
    SIMULATED,
    is_exact,
)
from bench_framework.model.phrases import Phrase
from bench_framework.model.plan.declared_metrics import (
    COUNTS_OF_GATE,
    UNITS,
    DeclaredMetric,
    InstructionPolicy,
)
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.scalars import compiled_regex, similar
from bench_framework.scenario.schema.measure import COUNTER_KEYS, SOURCE_KEYS, MetricPart


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of declared metrics, and of the names of metrics."""
    for name, part in scenario.spec.metrics.items():
        yield from _declared(scenario, name, part)
    yield from _judged(scenario)
    yield from _limits(scenario)


def declared_metrics(scenario: Scenario) -> tuple[DeclaredMetric, ...]:
    """Return the declared metrics of a valid scenario, in its order."""
    metrics = []
    if scenario.spec.worker.bench is not None:
        metrics.append(DeclaredMetric(ITERATION, "harness", "s", direction="lower"))
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
    """Return how to count, or `None` if `judge`, `metrics` and `gate` omit what is counted."""
    spec = scenario.spec
    part, judged = spec.metrics.get(INSTRUCTIONS), any(name in COUNTED for name in spec.judge)
    in_gate = {*dict(spec.gate.margins), *(budget.metric for budget in spec.gate.budgets)}
    gated = not in_gate.isdisjoint(COUNTED)
    estimated = not in_gate.union(spec.judge).isdisjoint(SIMULATED)
    if part is not None:
        optional, simulated = gated and not judged, estimated or part.cache_sim
        return InstructionPolicy(part.runs, part.timeout, part.tool, optional, simulated)
    if judged:
        return InstructionPolicy(cache_sim=estimated)
    return replace(COUNTS_OF_GATE, cache_sim=estimated) if gated else None


def _declared(scenario: Scenario, name: str, part: MetricPart) -> Iterator[Problem]:
    path = ("metrics", name)
    if name == INSTRUCTIONS:
        for key in ("from", *SOURCE_KEYS):
            if key in (scenario.document.data.get("metrics", {}).get(name) or {}):
                place, known = (*path, key), ", ".join(COUNTER_KEYS)
                key_of = "BC108.key-of-instructions"
                yield scenario.key_problem(place, key_of, key=key, counter_keys=known)
        policy = instruction_policy(scenario)
        if part.tool == "perf" and policy is not None and policy.cache_sim:
            yield scenario.value_problem((*path, "tool"), "BC108.perf-without-caches")
        return
    if name in METRICS:
        judged = METRICS[name].judged != "shown"
        yield scenario.key_problem(path, "BC108.built-in-metric", name=name, judged=judged)
        return
    if part.source is None:
        yield scenario.key_problem(path, "BC107.metric-without-from", name=name)
        return
    yield from _source(scenario, name, part)
    if part.regex is not None:
        compiled, place = compiled_regex(part.regex), (*path, "regex")
        if isinstance(compiled, str):
            key = "BC102.metric-not-a-regex"
            yield scenario.value_problem(place, key, name=name, fault=compiled)
        elif compiled.groups == 0:
            yield scenario.value_problem(place, "BC102.metric-without-group", name=name)
        elif compiled.groups > 1:
            key, groups = "BC102.metric-with-several-groups", compiled.groups
            yield scenario.value_problem(place, key, name=name, groups=groups)
    if part.json_path is not None:
        try:
            json_path.parse(part.json_path)
        except ValueError as error:
            place, key = (*path, "json"), "BC102.metric-not-a-json-path"
            yield scenario.value_problem(
                place, key, name=name, json_path=part.json_path, error=error.args[0]
            )


def _source(scenario: Scenario, name: str, part: MetricPart) -> Iterator[Problem]:
    """Yield a problem if the scenario does not have the metric's source."""
    answer, place = scenario.spec.answer, ("metrics", name, "from")
    if part.source == "worker" and not scenario.spec.worker.follows_protocol:
        yield scenario.value_problem(place, "BC108.metric-without-protocol", name=name)
    elif part.source == "answer" and answer.file is None:
        yield scenario.value_problem(place, "BC108.metric-without-answer-file", name=name)
    elif part.source == "stdout" and answer.stdout != "file":
        key, stdout = "BC108.metric-without-stdout", answer.stdout
        yield scenario.value_problem(place, key, name=name, stdout=stdout)


def _judged(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of `judge`. A worker's metrics are known only after its build."""
    spec = scenario.spec
    if spec.worker.bench is not None and "judge" not in spec.model_fields_set:
        return
    for index, metric in enumerate(spec.judge):
        place = ("judge", index)
        if metric in spec.judge[:index]:
            yield scenario.value_problem(place, "BC104.metric-twice", metric=metric)
        elif metric not in scenario.lost and (reason := _refusal(scenario, metric)):
            known = [name for name in METRICS if not _refusal(scenario, name)]
            declared = ((n, p) for n, p in spec.metrics.items() if n not in METRICS)
            known += [name for name, part in declared if part.direction != "none"]
            yield scenario.value_problem(
                place,
                "BC206.metric-cannot-be-judged",
                metric=metric,
                reason=Phrase(reason),
                **similar(metric, known),
            )


def _refusal(scenario: Scenario, metric: str) -> FaultCode | None:
    """Return why a metric cannot be judged, or `None` if it can or is not known yet."""
    benches = scenario.spec.worker.bench is not None
    if metric in METRICS and benches != (metric == ITERATION) and not is_exact(metric):
        return FaultCode.HARNESS_DECIDES if benches else FaultCode.NEEDS_BENCH
    part, kind = scenario.spec.metrics.get(metric), METRICS.get(metric)
    if part is not None and kind is None:
        return None if part.direction != "none" else FaultCode.NEEDS_DIRECTION
    if kind is None:
        follows = scenario.spec.worker.follows_protocol
        return None if follows else FaultCode.REPORTS_NO_METRICS
    if metric == "build_time":
        return FaultCode.BUILT_ONCE
    if kind.judged == "shown":
        derived = kind.source == DERIVED
        return FaultCode.COMPUTED if derived else FaultCode.INFORMATION_ONLY
    if kind.kernel_key and not scenario.spec.worker.follows_protocol:
        return FaultCode.COUNTED_ONCE
    if kind.source == BUILD and scenario.spec.worker.command is not None:
        return FaultCode.NOTHING_BUILT
    return None


def _limits(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of the names under `margin`."""
    spec = scenario.spec
    if spec.worker.follows_protocol:
        return
    known = [*METRICS, *spec.metrics]
    for metric in spec.margin if isinstance(spec.margin, dict) else ():
        if metric not in known and metric not in scenario.lost:
            path = ("margin", metric)
            yield scenario.key_problem(
                path, "BC206.no-metric", metric=metric, **similar(metric, known)
            )
