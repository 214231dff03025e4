"""Checks of metrics: those that a scenario declares, and every place that names one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

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
from bench_framework.scenario import bundled
from bench_framework.scenario.scalars import did_you_mean
from bench_framework.scenario.schema.metrics import COUNTER_KEYS, SOURCE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.errors import Problem
    from bench_framework.scenario.definition import Scenario
    from bench_framework.scenario.schema.metrics import MetricPart

GATED_COUNTS: Final = 2
"""Repetitions where only the gate asks: the fewest that show whether a count varies from run to run."""


def check(scenario: Scenario) -> Iterator[Problem]:
    """Problems of declared metrics, and of the names of all."""
    for name, part in scenario.spec.metrics.items():
        yield from _declared(scenario, name, part)
    yield from _judged(scenario)
    yield from _limits(scenario)


def declared_metrics(scenario: Scenario) -> tuple[DeclaredMetric, ...]:
    """The metrics of a valid scenario, in its order."""
    found = []
    for name, part in scenario.spec.metrics.items():
        if part.source is None:
            continue
        unit, scale = UNITS[part.unit]
        path = json_path.parse(part.json_path) if part.json_path is not None else ()
        found.append(
            DeclaredMetric(
                name, part.source, unit, scale, part.direction, path, part.regex or "", part.about
            )
        )
    return tuple(found)


def instruction_policy(scenario: Scenario) -> InstructionPolicy | None:
    """How instructions are counted; `None` where neither `judge`, `metrics` nor `gate` names them."""
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


def speaks(scenario: Scenario) -> bool:
    """Whether the worker follows the protocol, so that it may have metrics of its own."""
    contract = scenario.spec.worker.contract
    return bool(bundled.description(scenario)) if contract is None else contract


def _declared(scenario: Scenario, name: str, part: MetricPart) -> Iterator[Problem]:
    document, path = scenario.document, ("metrics", name)
    if name == INSTRUCTIONS:
        for key in ("from", *SOURCE_KEYS):
            if key in (scenario.document.data.get("metrics", {}).get(name) or {}):
                message = f"`instructions` are counted by benchctl: `{key}` has no effect"
                advice = f"it takes {', '.join(COUNTER_KEYS)}; another name can be read from what is printed"
                yield document.key_problem((*path, key), "BC108", message, help=advice)
        return
    if name in METRICS:
        advice = "choose another name; `judge` takes it without a declaration"
        yield document.key_problem(
            path, "BC108", f"`{name}` is a metric of benchctl's own", help=advice
        )
        return
    if part.source is None:
        advice = "from: stdout, answer or worker"
        yield document.key_problem(
            path, "BC107", f"metric `{name}` does not say where it stands", help=advice
        )
        return
    yield from _source(scenario, name, part)
    if part.regex is not None and (wrong := _regex_fault(part.regex)):
        yield document.value_problem(
            (*path, "regex"), "BC102", f"metric `{name}`: {wrong[0]}", help=wrong[1]
        )
    if part.json_path is not None:
        try:
            json_path.parse(part.json_path)
        except ValueError as error:
            message = f"metric `{name}`: `{part.json_path}` is no path into JSON: {error}"
            advice = "write keys with dots, and indexes in brackets: latency.p99, rows[0].value"
            yield document.value_problem((*path, "json"), "BC102", message, help=advice)


def _source(scenario: Scenario, name: str, part: MetricPart) -> Iterator[Problem]:
    """A source that this scenario does not have."""
    spec, answer = scenario.spec, scenario.spec.answer
    message, advice = "", ""
    if part.source == "worker" and not speaks(scenario):
        message = "this worker does not follow the protocol"
        advice = "from: stdout reads what it prints; `worker: {contract: true}` says that it follows the protocol"
    elif part.source == "answer" and answer.file is None:
        message, advice = "there is no `answer.file`", "answer: {file: out.json}"
    elif part.source == "stdout" and answer.stdout != "file":
        message, advice = (
            f"`answer.stdout` is `{answer.stdout}`: stdout is not kept",
            "leave `answer.stdout` out",
        )
    elif part.source == "stdout" and spec.shell and ">" in str(spec.command or ""):
        return  # the shell may redirect; the run will say what is missing
    if message:
        place = ("metrics", name, "from")
        yield scenario.document.value_problem(
            place, "BC108", f"metric `{name}`: {message}", help=advice
        )


def _regex_fault(text: str) -> tuple[str, str] | None:
    """What is wrong with an expression, and what to do; `None` if it has one group."""
    try:
        found = re.compile(text, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        return (
            f"`regex` cannot be read: {error}",
            "a backslash is kept as it is between single quotes",
        )
    if found.groups == 0:
        return (
            "`regex` has no group, so nothing says which part is the number",
            "put it in brackets: ([0-9.]+)",
        )
    if found.groups > 1:
        return (
            f"`regex` has {found.groups} groups and takes one",
            "write (?:…) for a group that is not the number",
        )
    return None


def _judged(scenario: Scenario) -> Iterator[Problem]:
    """Names under `judge`. A worker with the protocol may have its own, known only once it is built."""
    spec, document = scenario.spec, scenario.document
    for index, metric in enumerate(spec.judge):
        place = ("judge", index)
        if metric in spec.judge[:index]:
            yield document.value_problem(place, "BC104", f"`judge` names `{metric}` twice")
        elif metric in scenario.lost:
            continue
        elif why := _why_not(scenario, metric):
            advice = did_you_mean(metric, _judgeable(scenario), "metrics") or None
            yield document.value_problem(
                place, "BC206", f"`{metric}` cannot be judged: {why}", help=advice
            )


def _why_not(scenario: Scenario, metric: str) -> str:
    """Why a metric cannot be judged here; empty if it can, or if only its worker knows."""
    part, kind = scenario.spec.metrics.get(metric), METRICS.get(metric)
    if part is not None and kind is None:
        return "" if part.direction != "none" else "it does not say which `direction` is better"
    if kind is None:
        return (
            ""
            if speaks(scenario)
            else "this worker reports no metrics, and `metrics` declares none of this name"
        )
    if metric == "build_time":
        return "a build is made once; its time is in the table of binaries"
    if kind.judged == "shown" and kind.source == DERIVED:
        return "it follows from other metrics"
    if kind.judged == "shown":
        return "it is shown and not judged"
    if kind.kernel_key and not speaks(scenario):
        return "without the protocol it is counted once, in a run outside timing"
    if kind.source == BUILD and scenario.spec.worker.command is not None:
        return "nothing is built: all variants run one program"
    return ""


def _judgeable(scenario: Scenario) -> list[str]:
    own = [name for name, part in scenario.spec.metrics.items() if part.direction != "none"]
    return [*(name for name in METRICS if not _why_not(scenario, name)), *own]


def _limits(scenario: Scenario) -> Iterator[Problem]:
    """Names under `margin` and `epsilon`."""
    spec = scenario.spec
    if speaks(scenario):
        return
    known = [*METRICS, *spec.metrics]
    for key in ("margin", "epsilon"):
        given = getattr(spec, key)
        for metric in given if isinstance(given, dict) else ():
            if metric not in known and metric not in scenario.lost:
                advice = did_you_mean(metric, known, "metrics") or None
                message = f"there is no metric `{metric}`"
                yield scenario.document.key_problem((key, metric), "BC206", message, help=advice)
