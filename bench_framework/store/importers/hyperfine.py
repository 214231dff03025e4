"""hyperfine's JSON: version 1, with and without memory, and schema version 2. The only module that knows its keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

PER_RUN: Final = 2
"""Schema version from which every metric is exported per run."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One command as hyperfine exported it: seconds and bytes, in the order of its runs.

    Attributes:
        command: the command, or the name that `-n` gave it: 1.20 keeps only one of them.
        times: wall time of each run; at least one.
        user: CPU time in user mode of each run, or one figure: the mean (version 1 exports no
            other).
        system: CPU time in the kernel, likewise.
        memory: largest resident set of each run; empty where hyperfine did not say. In version 1
            each figure is the largest so far over *all* children of that call, earlier commands
            too.
        exit_codes: of each run; 128 + n or `None` for signal n.
        per_run: whether `user` and `system` are per run.
    """

    command: str
    times: tuple[float, ...]
    user: tuple[float, ...]
    system: tuple[float, ...]
    memory: tuple[float, ...]
    exit_codes: tuple[int | None, ...]
    per_run: bool


@dataclass(frozen=True, slots=True)
class Export:
    """A whole file: its schema version and its commands in order."""

    version: int
    commands: tuple[Timed, ...]


def read_export(text: str | bytes) -> Export:
    """Read one JSON document of any version.

    Raises:
        ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError: it is not
        hyperfine's.
    """
    document = json.loads(text)
    version = document.get("schema_version", 1) if isinstance(document, dict) else 1
    read = _read_runs if version >= PER_RUN else _read_lists
    return Export(version, tuple(read(result) for result in document["results"]))


def _read_lists(result: dict[str, Any]) -> Timed:
    times = tuple(map(_number, result["times"]))
    return Timed(
        command=_text(result.get("command", "")),
        times=times,
        user=(_number(result["user"]),),
        system=(_number(result["system"]),),
        memory=tuple(map(_number, result.get("memory_usage_byte") or ())),
        exit_codes=_same_length(times, result["exit_codes"]),
        per_run=False,
    )


def _read_runs(result: dict[str, Any]) -> Timed:
    runs = result["measurements"]
    times = tuple(_quantity(run["time_wall_clock"], "second") for run in runs)
    memory = [
        _quantity(run["memory_peak_resident"], "byte")
        for run in runs
        if run.get("memory_peak_resident")
    ]
    return Timed(
        command=_text(result.get("command", "")),
        times=times,
        user=tuple(_quantity(run["time_user"], "second") for run in runs),
        system=tuple(_quantity(run["time_system"], "second") for run in runs),
        memory=tuple(memory),
        exit_codes=_same_length(times, [run["exit_code"] for run in runs]),
        per_run=True,
    )


def _quantity(value: dict[str, Any], unit: str) -> float:
    if value["unit"] != unit:
        raise ValueError(f"unit {value['unit']!r} where {unit} is meant")
    return _number(value["value"])


def _number(value: object) -> float:
    """A JSON number; a text that looks like one, or a truth, is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _same_length(times: tuple[float, ...], codes: Sequence[int | None]) -> tuple[int | None, ...]:
    if not times or len(codes) != len(times):
        raise ValueError(f"{len(times)} times and {len(codes)} exit codes")
    if not all(code is None or isinstance(code, int) for code in codes):
        raise TypeError(f"{codes!r} are no exit codes")
    return tuple(codes)
