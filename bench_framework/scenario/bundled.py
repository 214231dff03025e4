"""Descriptions of the bundled workers, generated from their `describe` into ``bundled.json``.

A worker maps to ``axes`` (axis to its values) and ``flags`` (flag to the axis that it sets).
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from bench_framework.model.plan.build_spec import BUILTIN
from bench_framework.scenario import template
from bench_framework.scenario.definition import Scenario

NEEDS_COMMAND: Final = {
    "dgen": '["{bin}", run, write, --size, 64MiB, "{args}", out.dat]',
    "search": '["{bin}", run, --query, word, "{args}", "{input}"]',
}
"""Workers without a default command, each with an example."""


@cache
def workers() -> dict[str, Any]:
    """Return the descriptions of the bundled workers by name."""
    text = (Path(__file__).parent / "bundled.json").read_text(encoding="utf-8")
    described: dict[str, Any] = json.loads(text)
    return described


def description(scenario: Scenario) -> dict[str, Any]:
    """Return the description of the scenario's worker, empty if it is not bundled."""
    worker = scenario.spec.worker
    described: dict[str, Any] = workers().get(worker.bin or "", {})
    return described if worker.crate == BUILTIN else {}


def flag_uses(scenario: Scenario, command: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield index, worker's axis and value of each flag: ``--io X`` or ``--io=X``."""
    flags = description(scenario).get("flags", {})
    for index, word in enumerate(command):
        flag, equals, given = word.partition("=")
        if flag in flags and equals:
            yield index, flags[flag], given
        elif flag in flags and index + 1 < len(command):
            yield index + 1, flags[flag], command[index + 1]


def axis_links(scenario: Scenario, command: list[str]) -> dict[str, str]:
    """Return the worker's axis for each scenario axis that is the whole value of a flag."""
    uses = ((template.sole_name(given), axis) for _, axis, given in flag_uses(scenario, command))
    return {name: axis for name, axis in uses if name in scenario.spec.axes}


def command_of(scenario: Scenario) -> list[str]:
    """Return the command with placeholders. A shell command is a single item.

    The default of a bundled worker is ``{bin} run``, a flag for each axis and fixed key that it has,
    and the input. It is sufficient for `tally` only; `checks.commands` requires one for the others.
    """
    spec, described = scenario.spec, description(scenario)
    if isinstance(spec.command, str):
        return [spec.command]
    if spec.command is not None or spec.server is not None:
        return spec.command or []
    if spec.worker.command is not None:
        return ["{bin}", *spec.worker.command[1:]]
    given = ["{input}"] if spec.input is not None else []
    if described:
        words = ["{bin}", "run"]
        for flag, axis in described["flags"].items():
            if axis in spec.axes or axis in spec.fixed:
                words += [flag, f"{{{axis}}}"]
        return [*words, *given]
    return ["{bin}", *(given if spec.stdin is None else [])]
