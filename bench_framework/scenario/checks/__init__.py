"""The checks of a scenario that go beyond its schema: names that must exist, and a valid matrix.

A check is a generator of problems: one file and one line in `CHECKS` or `MATRIX_CHECKS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.scenario.checks import (
    commands,
    crate,
    derived,
    gate,
    inputs,
    matrix,
    metrics,
    profile,
    rules,
)
from bench_framework.scenario.schema import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench_framework.errors import Problem
    from bench_framework.scenario.definition import Scenario
    from bench_framework.scenario.document import Document

CHECKS: Final[tuple[Callable[[Scenario], Iterator[Problem]], ...]] = (
    commands.check,
    inputs.check,
    rules.check,
    metrics.check,
    gate.check,
    derived.check,
    crate.check,
    profile.check,
)
"""Checks of one place each; they always run."""
MATRIX_CHECKS: Final[tuple[Callable[[Scenario], Iterator[Problem]], ...]] = (
    matrix.check,
    derived.check_cells,
)
"""Checks of the whole matrix; they run if no other problem was found."""
_CONSEQUENCES = frozenset({"BC205"})
"""Found about a scenario of which parts were left out as wrong, these may only follow from that."""


def check_version(document: Document) -> Problem | None:
    """A scenario of a later language is not judged any further (BC110)."""
    version = document.data.get("version")
    if not (isinstance(version, str) and version.isascii() and version.isdigit()) or version.lstrip(
        "0"
    ) == str(VERSION):
        return None
    return document.value_problem(
        ("version",),
        "BC110",
        f"version {version} scenarios cannot be read by this benchctl",
        label=f"this benchctl reads version {VERSION}",
        help="install a later benchctl, or write version: 1",
    )


def check(scenario: Scenario, *, damaged: bool = False) -> list[Problem]:
    """Every problem of a scenario that its models found well-formed.

    Args:
        scenario: what the models took.
        damaged: whether parts of the file were left out because they are wrong.
    """
    problems = [problem for run in CHECKS for problem in run(scenario)]
    if damaged:
        return [problem for problem in problems if problem.code not in _CONSEQUENCES]
    return problems or [problem for run in MATRIX_CHECKS for problem in run(scenario)]
