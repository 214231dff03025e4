"""Reader of hyperfine's JSON: version 1, and schema 2. Only this module uses its keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError)
"""Errors of `read_export` for a document that is not hyperfine's JSON."""
PER_RUN: Final = 2
"""First schema version that exports every metric per run."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One command as hyperfine exported it: seconds and bytes, in the order of its runs.

    Attributes:
        command: command, or its name from `-n`. hyperfine 1.20 exports only one of them.
        times: wall time of each run, at least one.
        user: CPU time in user mode of each run, or the mean as one value (version 1).
        memory: largest resident set of each run, empty if it was not exported. In version 1, each
            value is the largest so far over *all* children of the call, including earlier commands.
        exit_codes: exit code of each run, 128 + n or `None` for signal n.
        per_run: true if `user` and `system` have one value per run.
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
    """The contents of a file: schema version, and commands in order."""

    version: int
    commands: tuple[Timed, ...]


def read_export(document: Any) -> Export:
    """Read one parsed document of any version. Raises the errors in `UNREADABLE`: it is no export."""
    version = document.get("schema_version", 1) if isinstance(document, dict) else 1
    read = _read_runs if version >= PER_RUN else _read_lists
    return Export(version, tuple(read(result) for result in document["results"]))


def _read_lists(result: dict[str, Any]) -> Timed:
    times = tuple(map(number, result["times"]))
    return Timed(
        command=text_of(result.get("command", "")),
        times=times,
        user=(number(result["user"]),),
        system=(number(result["system"]),),
        memory=tuple(map(number, result.get("memory_usage_byte") or ())),
        exit_codes=_same_length(times, result["exit_codes"]),
        per_run=False,
    )


def _read_runs(result: dict[str, Any]) -> Timed:
    runs = result["measurements"]
    times = tuple(_quantity(run["time_wall_clock"], "second") for run in runs)
    peaks = (run.get("memory_peak_resident") for run in runs)
    return Timed(
        command=text_of(result.get("command", "")),
        times=times,
        user=tuple(_quantity(run["time_user"], "second") for run in runs),
        system=tuple(_quantity(run["time_system"], "second") for run in runs),
        memory=tuple([_quantity(peak, "byte") for peak in peaks if peak]),
        exit_codes=_same_length(times, [run["exit_code"] for run in runs]),
        per_run=True,
    )


def _quantity(value: dict[str, Any], unit: str) -> float:
    if value["unit"] != unit:
        raise ValueError(f"unit {value['unit']!r} where {unit} is meant")
    return number(value["value"])


def number(value: object) -> float:
    """Return a JSON number as a float. Strings and booleans are refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def text_of(value: object) -> str:
    """Return a JSON text. Raises `TypeError`: it is another value."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _same_length(times: tuple[float, ...], codes: Sequence[int | None]) -> tuple[int | None, ...]:
    if not times or len(codes) != len(times):
        raise ValueError(f"{len(times)} times and {len(codes)} exit codes")
    if not all(code is None or isinstance(code, int) for code in codes):
        raise TypeError(f"{codes!r} are no exit codes")
    return tuple(codes)
