"""The answer of a worker to `describe`: a JSON object, of which only the protocol was checked."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from bench_framework.model.plan.arguments import Word
from bench_framework.model.plan.plan import Cell, Plan, Variant
from bench_framework.model.record.run import Build

Description = Mapping[str, Any]
Setting = tuple[str, str, str]
"""An axis, a value of it, and why a machine cannot run this value or runs it below what it offers."""


def _entries(values: object) -> list[Description] | None:
    if not isinstance(values, Sequence) or isinstance(values, str):
        return None
    return [entry for entry in values if isinstance(entry, Mapping) and "name" in entry]


def announced_metrics(build: Build | None) -> list[Description]:
    """Return the metrics that the worker of a build announces, each with its name."""
    return _entries(((build and build.describe) or {}).get("metrics")) or []


def axis_values(described: Description, axis: str) -> list[Description] | None:
    """Return the values that a worker lists for an axis, each with its name; `None` if it lists none."""
    axes = described.get("axes")
    entry = axes.get(axis) if isinstance(axes, Mapping) else None
    return _entries(entry.get("values")) if isinstance(entry, Mapping) else None


def settings_with(
    key: Literal["unavailable", "limited"], plan: Plan, descriptions: Mapping[str, Description]
) -> Iterator[tuple[Variant, Setting]]:
    """Yield the variants with the settings that a worker cannot run (`unavailable`), or runs `limited`.

    The descriptions are by build id, or "program" for a program that is not built.
    """
    for variant in plan.variants:
        described = descriptions.get(variant.build_id, {})
        for axis, value in _settings(variant, plan.cells):
            values = axis_values(described, axis) or ()
            reasons = (entry.get(key) for entry in values if entry["name"] == value)
            if reason := next(reasons, None):
                yield variant, (axis, value, str(reason))


def _settings(variant: Variant, cells: Iterable[Cell]) -> Iterable[tuple[str, str]]:
    commands = (cell.command for cell in cells if cell.variant_id == variant.id)
    return dict.fromkeys((*variant.values, *(pair for words in commands for pair in _flags(words))))


def _flags(words: Iterable[Word]) -> Iterator[tuple[str, str]]:
    """Return the options ``--name value`` and ``--name=value`` of a command."""
    texts = ["".join(part for part in word if isinstance(part, str)) for word in words]
    for word, after in itertools.pairwise((*texts, "")):
        name, sign, value = word.partition("=")
        if name.startswith("--"):
            yield name.removeprefix("--"), value if sign else after
