"""Readers of the JSON of hyperfine, criterion, Google Benchmark and pyperf."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Final

from bench_framework.foreign import parse_json, read_regular
from bench_framework.model.faults import FaultCode
from bench_framework.model.phrases import AnyCode, Phrase, PhraseCode
from bench_framework.registry import registry
from bench_framework.text.reasons import phrase_of
from bench_framework.units import PER_SECOND

PER_RUN: Final = 2
"""First schema version that exports every metric per run."""
_QUOTED: Final = 40
"""Most characters of a value in a message."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One command as hyperfine exported it: seconds and bytes, in the order of its runs.

    Attributes:
        command: command, or its name from `-n`. hyperfine 1.x exports only one of them.
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


class DocumentError(ValueError):
    """A field of a document that is missing, or whose value cannot be used. The message names it."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON document with its path. Each method raises `DocumentError` for another type."""

    value: Any
    path: str = ""

    def __getitem__(self, name: str) -> Node:
        fields = self._typed(dict, FaultCode.AN_OBJECT)
        if name not in fields:
            place = self.path or Phrase(FaultCode.THE_DOCUMENT)
            raise DocumentError(phrase_of(FaultCode.NO_FIELD, place, name))
        return Node(fields[name], f"{self.path}.{name}" if self.path else name)

    def get(self, name: str) -> Node | None:
        """Return a field of an object; `None` if it is missing or null."""
        missing = self._typed(dict, FaultCode.AN_OBJECT).get(name) is None
        return None if missing else self[name]

    def members(self) -> dict[str, Node]:
        """Return the fields of an object."""
        return {name: self[name] for name in self._typed(dict, FaultCode.AN_OBJECT)}

    def items(self) -> list[Node]:
        """Return the elements of a list."""
        values = self._typed(list, FaultCode.A_LIST)
        return [Node(v, f"{self.path}[{n}]") for n, v in enumerate(values)]

    def text(self) -> str:
        """Return a text."""
        text: str = self._typed(str, FaultCode.A_TEXT)
        return text

    def number(self) -> float:
        """Return a number as a float."""
        try:
            return float(self._typed(int | float, PhraseCode.A_NUMBER))
        except OverflowError as error:
            raise self.wrong(Phrase(FaultCode.FLOAT_NUMBER)) from error

    def whole(self) -> int:
        """Return a whole number."""
        number: int = self._typed(int, FaultCode.WHOLE_NUMBER)
        return number

    def wrong(self, expected: Phrase | str) -> DocumentError:
        """Return the error for a value that is not `expected`."""
        where = f"`{self.path}`" if self.path else Phrase(FaultCode.THE_DOCUMENT)
        text = json.dumps(self.value)
        text = text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"
        return DocumentError(phrase_of(FaultCode.IS_NOT, where, text, expected))

    def _typed(self, kind: type | UnionType, expected: AnyCode) -> Any:
        if not isinstance(self.value, kind) or isinstance(self.value, bool):
            raise self.wrong(Phrase(expected))
        return self.value


def read_export(document: Any) -> tuple[int, list[Timed]]:
    """Return the schema version and the commands of a parsed document of hyperfine, of any version.

    Raises `DocumentError`: it is not such a document.
    """
    root = Node(document)
    results = root["results"].items()
    version = node.whole() if (node := root.get("schema_version")) else 1
    read = _read_runs if version >= PER_RUN else _read_lists
    return version, [read(result) for result in results]


def _read_lists(result: Node) -> Timed:
    memory = result.get("memory_usage_byte")
    return Timed(
        command=_command(result),
        times=(times := tuple(node.number() for node in result["times"].items())),
        user=(result["user"].number(),),
        system=(result["system"].number(),),
        memory=tuple(node.number() for node in memory.items()) if memory else (),
        exit_codes=_same_length(result, times, [*map(_code, result["exit_codes"].items())]),
        per_run=False,
    )


def _read_runs(result: Node) -> Timed:
    runs = result["measurements"].items()
    peaks = (run.get("memory_peak_resident") for run in runs)
    return Timed(
        command=_command(result),
        times=(times := tuple(_quantity(run["time_wall_clock"], "second") for run in runs)),
        user=tuple(_quantity(run["time_user"], "second") for run in runs),
        system=tuple(_quantity(run["time_system"], "second") for run in runs),
        memory=tuple(_quantity(peak, "byte") for peak in peaks if peak and peak.value),
        exit_codes=_same_length(result, times, [_code(run["exit_code"]) for run in runs]),
        per_run=True,
    )


def _command(result: Node) -> str:
    node = result.get("name") or result.get("command")
    return node.text() if node else ""


def _quantity(node: Node, unit: str) -> float:
    if node["unit"].text() != unit:
        raise node["unit"].wrong(unit)
    return node["value"].number()


def _code(node: Node) -> int | None:
    return None if node.value is None else node.whole()


def _same_length(
    result: Node, times: tuple[float, ...], codes: Sequence[int | None]
) -> tuple[int | None, ...]:
    if not times or len(codes) != len(times):
        counts = (len(times), len(codes))
        raise DocumentError(phrase_of(FaultCode.EXIT_CODES_DIFFER, result.path, *counts))
    return tuple(codes)


SAMPLE: Final = "new/sample.json"
MOST_LEVELS: Final = 32
"""Most levels of folders below ``target/criterion``. criterion itself uses up to five."""
_CRITERION: Final = "criterion"


@dataclass(frozen=True, slots=True)
class HarnessResult:
    """A benchmark as a harness stored it: seconds of each run or sample, in order."""

    label: str
    wall: tuple[float, ...]
    cpu: tuple[float, ...] = ()
    """CPU time of each run, empty if it is not known."""
    failed: int = 0


def _samples(folder: Path) -> Iterator[Path]:
    """Yield the samples below a folder. Raises `ValueError`: its folders are nested too deep."""
    level = [folder]
    for _ in range(MOST_LEVELS):
        for parent in level:
            sample = parent / SAMPLE
            if sample.is_file():
                yield sample
        entries = (Path(entry) for parent in level for entry in os.scandir(parent))
        level = [path for path in entries if path.is_dir() and not path.is_symlink()]
        if not level:
            return
    raise ValueError(phrase_of(FaultCode.TOO_DEEP, MOST_LEVELS))


def bundle(folder: Path, most: int) -> bytes:
    """Return the samples of criterion below a folder, such as ``target/criterion``, as one document.

    Raises `ValueError`: it has no samples, one is not JSON, or they have more than `most` bytes;
    `OSError`: one cannot be read.
    """
    benchmarks: dict[str, dict[str, Any]] = {}
    for path in sorted(_samples(folder)):
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
        raise ValueError(phrase_of(FaultCode.NO_SAMPLE, SAMPLE))
    return json.dumps({_CRITERION: benchmarks}, ensure_ascii=False).encode()


def _criterion(document: Node) -> Iterator[HarnessResult]:
    for folder, files in document[_CRITERION].members().items():
        times, counts = (files["sample"][name].items() for name in ("times", "iters"))
        if len(times) != len(counts):
            numbers = (len(times), len(counts))
            raise DocumentError(phrase_of(FaultCode.ITERATIONS_DIFFER, files.path, *numbers))
        if zeros := [count for count in counts if count.number() == 0]:
            raise zeros[0].wrong(Phrase(FaultCode.ITERATIONS))
        about = files.get("benchmark")
        label = about.get("full_id") if about else None
        pairs = zip(times, counts, strict=True)
        wall = tuple(time.number() / count.number() / PER_SECOND["ns"] for time, count in pairs)
        yield HarnessResult(label.text() if label else folder, wall)


def _google(document: Node) -> Iterator[HarnessResult]:
    entries: dict[str, list[Node]] = {}
    benchmarks = document["benchmarks"].items()
    for entry in benchmarks:
        kind = entry.get("run_type")
        if kind is None or kind.value == "iteration":
            label = entry.get("run_name") or entry["name"]
            entries.setdefault(label.text(), []).append(entry)
    if benchmarks and not entries:
        raise DocumentError(phrase_of(FaultCode.ONLY_AGGREGATES))
    for name, runs in entries.items():
        failed = ("error_occurred", "skipped")
        good = [run for run in runs if not any(run.value.get(field) for field in failed)]
        wall, cpu = (
            tuple(run[field].number() / _per_second(run["time_unit"]) for run in good)
            for field in ("real_time", "cpu_time")
        )
        yield HarnessResult(name, wall, cpu, len(runs) - len(good))


def _per_second(unit: Node) -> int:
    if unit.text() not in PER_SECOND:
        raise unit.wrong(Phrase(FaultCode.UNIT_OF_TIME))
    return PER_SECOND[unit.text()]


def _pyperf(document: Node) -> Iterator[HarnessResult]:
    common = node.members() if (node := document.get("metadata")) else {}
    for benchmark in document["benchmarks"].items():
        about = common | (node.members() if (node := benchmark.get("metadata")) else {})
        if "name" not in about:
            raise DocumentError(phrase_of(FaultCode.NO_FIELD, benchmark.path, "metadata.name"))
        if "unit" in about and about["unit"].value != "second":
            raise about["unit"].wrong("second")
        # Runs that only calibrate or warm up have no values.
        lists = (run.get("values") for run in benchmark["runs"].items())
        values = (value for values in lists if values for value in values.items())
        yield HarnessResult(about["name"].text(), tuple(value.number() for value in values))


@dataclass(frozen=True, slots=True)
class Reader:
    """A format of files of another tool.

    Attributes:
        title: its name in texts, such as ``JSON of pyperf``.
        keys: keys that all of its documents have.
        read: yields the benchmarks of a document. It raises `DocumentError` for an invalid one.
        without: keys that none of its documents has, but those of another tool with the same `keys`.
    """

    title: str
    keys: tuple[str, ...]
    read: Callable[[Node], Iterator[HarnessResult]]
    without: tuple[str, ...] = ()

    def fits(self, document: Mapping[str, Any]) -> bool:
        """Return whether a document has the keys of this format."""
        return document.keys() >= {*self.keys} and document.keys().isdisjoint(self.without)


READERS: Final[Mapping[str, Reader]] = {
    "criterion": Reader("samples of criterion", (_CRITERION,), _criterion),
    "google-benchmark": Reader("JSON of Google Benchmark", ("context", "benchmarks"), _google),
    # JSON of pytest-benchmark also describes the machine.
    "pyperf": Reader("JSON of pyperf", ("version", "benchmarks"), _pyperf, ("machine_info",)),
}
"""The formats of the core by name."""


@cache
def readers() -> Mapping[str, Reader]:
    """Return the formats of the core, then those of extensions."""
    known = dict(READERS)
    for target in registry().additions("importer", READERS):
        with registry().loading(target):
            known[target.name] = target.load()
    return known


def format_of(document: Any) -> str | None:
    """Return the format of a document, `None` for that of hyperfine or an unknown one."""
    if not isinstance(document, dict):
        return None
    return next((name for name, one in readers().items() if one.fits(document)), None)
