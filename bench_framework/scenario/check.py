"""What the models cannot see: names that must exist, and a matrix that can be measured.

Every check is a generator of problems. Those of the first kind look at one place and always run; those of
the second kind need the whole matrix and run once the first kind has found nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.scenario import (
    check_crate,
    check_derived,
    check_gate,
    check_inputs,
    check_matrix,
    check_metrics,
    check_profile,
    check_rules,
    check_words,
)
from bench_framework.scenario.schema import VERSION

if TYPE_CHECKING:
    from bench_framework.errors import Problem
    from bench_framework.scenario.document import Document
    from bench_framework.scenario.loaded import Scenario

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
    problems = [
        *check_words.check(scenario),
        *check_inputs.check(scenario),
        *check_rules.check(scenario),
        *check_metrics.check(scenario),
        *check_gate.check(scenario),
        *check_derived.check(scenario),
        *check_crate.check(scenario),
        *check_profile.check(scenario),
    ]
    if damaged:
        return [problem for problem in problems if problem.code not in _CONSEQUENCES]
    return problems or [*check_matrix.check(scenario), *check_derived.check_cells(scenario)]
