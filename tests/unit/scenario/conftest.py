"""A small valid scenario, and fixtures that load changes of it."""

from pathlib import Path
from textwrap import dedent
from typing import Protocol

import pytest

from bench_framework.errors import ScenarioError
from bench_framework.model.plan.plan import Plan
from bench_framework.scenario.load import Scenario, load
from bench_framework.scenario.plan import expand

HEAD = 'version: 1\nname: n\nquestion: "Is b slower?"\nworker: {command: [/usr/bin/prog]}\n'


class Loads(Protocol):
    def __call__(self, text: str, *overrides: str, head: str = HEAD) -> Scenario: ...


class Plans(Protocol):
    def __call__(
        self, text: str, *overrides: str, head: str = HEAD, only: str | None = None
    ) -> Plan: ...


class Refuses(Protocol):
    def __call__(self, text: str, *overrides: str, head: str = HEAD) -> ScenarioError: ...


@pytest.fixture
def loads(tmp_path: Path) -> Loads:
    """Load a scenario that consists of the head (version, name, question, worker) and the given text."""

    def run(text: str, *overrides: str, head: str = HEAD) -> Scenario:
        return load(tmp_path / "s.yaml", overrides=overrides, text=head + dedent(text))

    return run


@pytest.fixture
def plans(loads: Loads) -> Plans:
    """Load and expand a scenario."""

    def run(text: str, *overrides: str, head: str = HEAD, only: str | None = None) -> Plan:
        return expand(loads(text, *overrides, head=head), only=only)

    return run


@pytest.fixture
def refuses(loads: Loads) -> Refuses:
    """Load a scenario, and return the error."""

    def run(text: str, *overrides: str, head: str = HEAD) -> ScenarioError:
        with pytest.raises(ScenarioError) as caught:
            loads(text, *overrides, head=head)
        return caught.value

    return run
