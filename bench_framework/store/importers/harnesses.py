"""Readers of JSON of benchmark harnesses: criterion, Google Benchmark and pyperf."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.imported import Format
from bench_framework.store.importers.hyperfine import number, text_of
from bench_framework.units import PER_SECOND

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

A reader raises the errors in `hyperfine.UNREADABLE` for an invalid document.
"""


def format_of(document: Any) -> Format | None:
    """Return the format of a document, `None` for that of hyperfine or an unknown one."""
    if not isinstance(document, dict):
        return None
    return next(
        (name for name, (_, keys, _) in READERS.items() if document.keys() >= {*keys}), None
    )
