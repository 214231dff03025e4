"""The answer of a worker to `describe`: a JSON object, of which only the protocol was checked."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench_framework.model.record.run import Build

Description = Mapping[str, Any]


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
