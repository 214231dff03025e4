"""Measurement and printing of the self-test of a gate, for `gate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bench_framework.cli.console import Console
from bench_framework.errors import UsageError
from bench_framework.units import parse_percent

if TYPE_CHECKING:
    from bench_framework.workflow.run_options import RunOptions


def refuse(given: Mapping[str, object]) -> None:
    """Refuse options of a gate that have no effect on its self-test. Raises `UsageError`, BX140."""
    for option, value in given.items():
        if value:
            raise UsageError("BX140.option", option=option)


def run_self_test(
    console: Console,
    names: Sequence[str],
    options: RunOptions,
    repetitions: int,
    slowdown: str | None,
    *,
    several: bool,
    budget: str | None = None,
) -> int:
    """Test a gate, or that of `several` scenarios, print the result, and return its exit code.

    `budget` is that of several scenarios.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.features.gate.self_test import EXIT_CODES
    from bench_framework.report.render import self_test as page
    from bench_framework.workflow.scenarios.suite_files import is_record_name
    from bench_framework.workflow.self_test import self_test, self_test_suite

    if not several and not options.text and is_record_name(options.results, names):
        raise UsageError("BX140.record", name=names[0])
    share = None if slowdown is None else _share(slowdown)
    if several and options.expect is not None:
        raise UsageError("BX138.option", option="--expect-scenario")
    test = (
        partial(self_test_suite, names, budget=budget) if several else partial(self_test, names[0])
    )
    with display_for(console) as display:
        result = test(options, display, repetitions=repetitions, slowdown=share)
    text = page.terminal(result.test, console.width, unicode=console.unicode)
    console.emit_result(result.file, text)
    if not console.json:
        console.say(f"wrote {result.file}")
    return EXIT_CODES[result.test.outcome]


def _share(text: str) -> float:
    try:
        share = parse_percent(text)
    except ValueError as error:
        raise UsageError("BX100.slowdown-not-a-share", slowdown=text) from error
    if not share:
        raise UsageError("BX100.slowdown-not-a-share", slowdown=text)
    return share
