"""The checks of a scenario beyond its schema: names must exist, and the matrix must be valid.

A check is a generator of problems in its own module, listed in `CHECKS` or `MATRIX_CHECKS`.
"""

from collections.abc import Callable, Iterator
from typing import Final

from bench_framework.errors import Problem
from bench_framework.scenario.checks import (
    answer,
    benches,
    commands,
    contrasts,
    crate,
    derived,
    gate,
    inputs,
    matrix,
    metrics,
    published,
    rules,
    server,
)
from bench_framework.scenario.checks.matrix import TOO_MANY
from bench_framework.scenario.definition import Scenario
from bench_framework.scenario.document import YamlFile
from bench_framework.scenario.schema import VERSION

CHECKS: Final[tuple[Callable[[Scenario], Iterator[Problem]], ...]] = (
    commands.check,
    inputs.check,
    rules.check,
    metrics.check,
    answer.check,
    gate.check,
    derived.check,
    contrasts.check,
    published.check,
    crate.check,
    benches.check,
    server.check,
)
"""Checks of single keys, which always run."""
MATRIX_CHECKS: Final[tuple[Callable[[Scenario], Iterator[Problem]], ...]] = (
    matrix.check,
    derived.check_cells,
    contrasts.check_cells,
    published.check_cells,
)
"""Checks of the whole matrix, which run if there is no other problem."""
_CONSEQUENCES = frozenset({"BC205"})
"""Codes that may be consequences of parts that were removed because they are invalid."""


def check_version(document: YamlFile) -> Problem | None:
    """Return a problem if the scenario needs a later version of the format (BC110)."""
    version = document.data.get("version")
    if not (isinstance(version, str) and version.isascii() and version.isdigit()) or version.lstrip(
        "0"
    ) == str(VERSION):
        return None
    return document.value_problem(("version",), "BC110", version=version, known=VERSION)


def check(scenario: Scenario, *, damaged: bool = False) -> list[Problem]:
    """Return every problem of a valid file, or of its valid parts if it is `damaged`."""
    problems = [problem for run in CHECKS for problem in run(scenario)]
    if damaged:
        return [problem for problem in problems if problem.code not in _CONSEQUENCES]
    for run in () if problems else MATRIX_CHECKS:
        problems += run(scenario)
        if any(problem.code == TOO_MANY for problem in problems):
            break  # the other checks would expand the whole product
    return problems
