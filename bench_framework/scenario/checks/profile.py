"""Checks of `profile`: axes, values, and the regular expressions of buckets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bench_framework.scenario.axes import axes_of
from bench_framework.scenario.checks.rules import check_reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.errors import Problem
    from bench_framework.scenario.definition import Scenario


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of names and patterns."""
    part = scenario.spec.profile
    if part is None:
        return
    axes = {axis.name: axis for axis in axes_of(scenario)}
    for index, given in enumerate(part.variants) if not isinstance(part.variants, str) else ():
        for axis, value in given.items() if isinstance(given, dict) else ():
            path = ("profile", "variants", index, axis)
            yield from check_reference(scenario, axes, path, axis, value, variant_only=True)
    for name, pattern in part.buckets.items():
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            yield scenario.document.value_problem(
                ("profile", "buckets", name),
                "BC114",
                f"bucket `{name}` is not a regular expression: {error}",
                help="write a backslash before literal special characters: `\\.`, `\\(`",
            )
