"""Checks of `server`: keys that are missing, or that do not apply to the client of a server."""

from collections.abc import Callable, Iterator
from typing import Final

from bench_framework.errors import Problem
from bench_framework.model.metrics import COUNTED, INSTRUCTIONS
from bench_framework.scenario import template
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import Path

PORT = "port"
IN_TICKS: Final = ("user", "sys")
"""Metrics of a server that are inexact."""


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of a scenario with `server`."""
    spec, place = scenario.spec, ("server",)
    server = spec.server
    if server is None:
        return
    if spec.command is None:
        yield scenario.key_problem(place, "BC107.server-without-client")
    if spec.worker.bench is not None or spec.worker.follows_protocol:
        benches = spec.worker.bench is not None
        yield scenario.key_problem(place, "BC108.server-of-worker", bench=benches)
    for keys, names in (("axes", spec.axes), ("fixed", spec.fixed)):
        if PORT in names:
            yield scenario.key_problem((keys, PORT), "BC108.name-of-port")
    yield from _port(scenario)
    for key, setting in scenario.settings:
        if setting.preload_allocator is not None:
            at = (*key, "preload-allocator")
            yield scenario.key_problem(at, "BC108.preload-of-server")
        if setting.calls:
            yield scenario.key_problem((*key, "calls"), "BC108.key-of-server", key="calls")
        if setting.pgo is not None and setting.pgo.train is None:
            yield scenario.key_problem((*key, "pgo"), "BC108.training-of-server")
    if spec.profile is not None:
        yield scenario.key_problem(("profile",), "BC108.key-of-server", key="profile")
    if INSTRUCTIONS in spec.metrics:
        at = ("metrics", INSTRUCTIONS)
        yield scenario.key_problem(at, "BC108.key-of-server", key="metrics.instructions")
    yield from _metrics(scenario)


def _metrics(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem for each metric that is judged and is not one of a server."""
    gate, value, key = scenario.spec.gate, scenario.value_problem, scenario.key_problem
    judged: list[tuple[Callable[..., Problem], Path, str]] = [
        *((value, ("judge", n), metric) for n, metric in enumerate(scenario.spec.judge)),
        *((key, ("gate", metric), metric) for metric, _ in gate.margins),
        *((value, ("gate", "budgets", n, "metric"), b.metric) for n, b in enumerate(gate.budgets)),
    ]
    for problem, place, metric in judged:
        if metric in COUNTED:
            yield problem(place, "BC108.key-of-server", key=metric)
        elif metric in IN_TICKS:
            yield problem(place, "BC108.ticks-of-server", key=metric)


def _port(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem if a port is needed that the server does not get."""
    server = scenario.spec.server
    assert server is not None
    if PORT in template.names(*scenario.server_command):
        return
    ready, place = server.ready, ("server",)
    if server.restart == "session":
        yield scenario.key_problem((*place, "restart"), "BC108.session-without-port")
    elif ready.kind != "line" and PORT in template.names(ready.awaited):
        yield scenario.key_problem(place, "BC107.server-without-port")
