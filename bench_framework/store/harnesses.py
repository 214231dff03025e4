"""Readers of the JSON of hyperfine, criterion, Google Benchmark and pyperf."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.imported import Format
from bench_framework.units import PER_SECOND

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


def read_export(document: Any) -> tuple[int, list[Timed]]:
    """Return the schema version and the commands of a parsed document of hyperfine, of any version.

    Raises the errors in `UNREADABLE`: it is not such a document.
    """
    version = document.get("schema_version", 1) if isinstance(document, dict) else 1
    read = _read_runs if version >= PER_RUN else _read_lists
    return version, [read(result) for result in document["results"]]


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


SAMPLE: Final = "new/sample.json"
_CRITERION: Final = "criterion"


@dataclass(frozen=True, slots=True)
class Harness:
    """A benchmark as a harness stored it: seconds of each run or sample, in order."""

    label: str
    wall: tuple[float, ...]
    cpu: tuple[float, ...] = ()
    """CPU time of each run, empty if it is not known."""
    failed: int = 0


def bundle(folder: Path, most: int) -> bytes:
    """Return the samples of criterion below a folder, such as ``target/criterion``, as one document.

    Raises `ValueError`: it has no samples, one is not JSON, or they have more than `most` bytes;
    `OSError`: one cannot be read.
    """
    benchmarks: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.rglob(SAMPLE)):
        name = path.relative_to(folder).parents[1].as_posix()
        benchmarks[name] = {}
        for key in ("sample", "benchmark"):
            part = path.with_name(f"{key}.json")
            if not part.is_file():
                continue
            content = read_regular(part, most)
            most -= len(content)
            try:
                benchmarks[name][key] = parse_json(content)
            except ValueError as error:
                raise ValueError(f"{part}: {error}") from error
    if not benchmarks:
        raise ValueError(f"no {SAMPLE} is in it")
    return json.dumps({_CRITERION: benchmarks}, ensure_ascii=False).encode()


def _criterion(document: Any) -> Iterator[Harness]:
    for folder, files in document[_CRITERION].items():
        sample = files["sample"]
        label = files.get("benchmark", {}).get("full_id") or folder
        pairs = zip(sample["times"], sample["iters"], strict=True)
        times = tuple(number(time) / number(count) / PER_SECOND["ns"] for time, count in pairs)
        yield Harness(text_of(label), times)


def _google(document: Any) -> Iterator[Harness]:
    entries: dict[str, list[Any]] = {}
    for entry in document["benchmarks"]:
        if entry.get("run_type", "iteration") == "iteration":
            entries.setdefault(text_of(entry.get("run_name", entry["name"])), []).append(entry)
    if document["benchmarks"] and not entries:
        raise ValueError("it has only aggregates: leave out --benchmark_report_aggregates_only")
    for label, runs in entries.items():
        good = [run for run in runs if not (run.get("error_occurred") or run.get("skipped"))]
        wall, cpu = (
            tuple(number(run[name]) / PER_SECOND[run["time_unit"]] for run in good)
            for name in ("real_time", "cpu_time")
        )
        yield Harness(label, wall, cpu, len(runs) - len(good))


def _pyperf(document: Any) -> Iterator[Harness]:
    common = document.get("metadata", {})
    for benchmark in document["benchmarks"]:
        about = common | benchmark.get("metadata", {})
        if (unit := about.get("unit", "second")) != "second":
            raise ValueError(f"{about['name']} has the unit {unit}, which is not a time")
        # Runs that only calibrate or warm up have no values.
        values = (value for run in benchmark["runs"] for value in run.get("values", ()))
        yield Harness(text_of(about["name"]), tuple(map(number, values)))


READERS: Final[dict[Format, tuple[str, tuple[str, ...], Callable[[Any], Iterator[Harness]]]]] = {
    "criterion": ("samples of criterion", (_CRITERION,), _criterion),
    "google-benchmark": ("JSON of Google Benchmark", ("context", "benchmarks"), _google),
    "pyperf": ("JSON of pyperf", ("version", "benchmarks"), _pyperf),
}
"""Name in texts, keys of the document, and reader of each format.

A reader raises the errors in `UNREADABLE` for an invalid document.
"""


def format_of(document: Any) -> Format | None:
    """Return the format of a document, `None` for that of hyperfine or an unknown one."""
    if not isinstance(document, dict):
        return None
    return next(
        (name for name, (_, keys, _) in READERS.items() if document.keys() >= {*keys}), None
    )
