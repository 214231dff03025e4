"""Checks of axis values and inputs: sizes, seeds, datasets and files."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Final

from bench_framework.errors import Position, Problem
from bench_framework.foreign import fault_of, matching_files
from bench_framework.scenario import template
from bench_framework.scenario.checks import commands
from bench_framework.scenario.definition import BUILD_KEYS, PROGRAM_KEYS, AxisView, Scenario
from bench_framework.scenario.document import Path
from bench_framework.scenario.scalars import did_you_mean
from bench_framework.scenario.schema.parts import DATASETS, InputPart
from bench_framework.units import counted, grouped, is_size, parse_size

_MAX_FILLINGS = 2_000
"""Largest number of combinations that are checked. `checks.matrix` refuses larger matrices."""
_MAX_SEED = 2**64
_RELATIVE = "paths are relative to the scenario's file"


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of axis values and of `input`."""
    for axis in scenario.axes.values():
        yield from _twice(scenario, axis)
        yield from _misplaced(scenario, axis)
    part = scenario.spec.input
    if part is None:
        yield from _nothing_to_drop(scenario)
        return
    for path, text in part.texts():
        if (reader := _READERS.get(str(path[0]))) is not None:
            for filled, file, at in _fillings(scenario, path, text):
                yield from reader(scenario, filled, file, at)
    yield from _not_one_file(scenario, part)


def _not_one_file(scenario: Scenario, part: InputPart) -> Iterator[Problem]:
    """Yield a problem for each use of an input of several files that needs one file."""
    folder = part.folder is not None or (part.dataset or "").startswith("sessions")
    if not folder and part.files is None:
        return
    if scenario.spec.stdin is not None and "input" in template.names(scenario.spec.stdin):
        message = f"stdin is one file, and the input is {'a folder' if folder else 'several files'}"
        advice = "pass `{input}` as an argument, or use input: {file: …}"
        yield scenario.value_problem(("stdin",), "BC108", message, advice)
    for path, text, _ in commands.templated(scenario):
        whole = folder or scenario.spec.shell or text == "{input}" or path[0] == "stdin"
        if not whole and "input" in template.names(text):
            message = "`{input}` is several files, so it must be an argument of its own"
            advice = 'write "{input}" as a separate argument; it becomes one argument per file'
            yield scenario.value_problem(path, "BC109", message, advice)


def _nothing_to_drop(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem for a cold cache without an input, whose pages would be dropped."""
    if "input" in scenario.lost:
        return
    message = "`cache: cold` needs an `input`, whose pages are dropped from memory"
    advice = "add `input`, or write `cache: unknown` and drop the cache in `prepare`"
    caches: list[tuple[Path, str | None]] = [(("measure",), scenario.spec.measure.cache)]
    caches += [(path, setting.cache) for path, setting in scenario.settings]
    for path, cache in caches:
        if cache == "cold":
            yield scenario.value_problem((*path, "cache"), "BC108", message, advice)


def _twice(scenario: Scenario, axis: AxisView) -> Iterator[Problem]:
    """Yield a problem for each value that is listed twice, or size that equals another one."""
    place = scenario.document.place.at(("axes", axis.name))
    data = scenario.document.data.get("axes", {}).get(axis.name)
    if isinstance(data, dict) and "values" in data:
        place, data = place.at(("values",)), data["values"]
    first_keys: dict[object, str | int] = {}
    for index, value in enumerate(data if isinstance(data, (list, dict)) else ()):
        key: str | int = index if isinstance(data, list) else value
        first = first_keys.setdefault(parse_size(value) if axis.is_size else str(value), key)
        if first == key:
            continue
        here, there = place.children[key], place.children[first]
        yield Problem(
            "BC104",
            f"value `{value}` is given twice in axis `{axis.name}`",
            file=here.file,
            at=here.key or here.value,
            label="second value",
            also=((there.key or there.value, "first value"),) if there.file == here.file else (),
            fix="remove one of the two",
        )


def _misplaced(scenario: Scenario, axis: AxisView) -> Iterator[Problem]:
    """Yield a problem for each setting that has no effect on its axis."""
    worker = scenario.spec.worker
    for value, setting in axis.settings.items():
        for key in sorted(setting.model_fields_set):
            name = key.replace("_", "-")
            reason, advice = "", f"remove `{name}`"
            if key in PROGRAM_KEYS and axis.kind == "input":
                reason = "an axis used in `input` cannot change the build"
                advice = "move it to a separate axis"
            elif key in BUILD_KEYS and worker.command is not None:
                reason = "the worker is a program that is not built"
            elif key == "revision" and worker.without_revisions:
                reason = worker.without_revisions
            elif key == "version" and worker.registry is None:
                reason, advice = "the worker is not a released crate", "write revision: TAG"
            elif key == "args" and scenario.spec.shell:
                reason = "`shell: true` takes no argument list"
                advice = f"use `{{{axis.name}}}` in `command`"
            if reason:
                path = ("axes", axis.name, "values", value, name)
                message = f"`{name}` has no effect here: {reason}"
                yield scenario.key_problem(path, "BC108", message, advice)


def _fillings(scenario: Scenario, path: Path, text: str) -> Iterator[tuple[str, str, Position]]:
    """Yield the text for each combination of its axes, with file and position to report."""
    used = template.names(text)
    axes = {name: axis.values for name, axis in scenario.axes.items() if name in used}
    place = scenario.document.place.at(("input", *path))
    for picked in itertools.islice(itertools.product(*axes.values()), _MAX_FILLINGS):
        chosen = dict(zip(axes, picked, strict=True))
        filled = template.fill_text(text, {**scenario.spec.fixed, **chosen})
        if len(axes) == 1:
            yield filled, *scenario.value_at(*chosen.popitem())
        else:
            yield filled, place.file, place.value


def _size(_scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    if is_size(text):
        return
    if text.isascii() and text.isdigit() and 0 < len(text) < 13:  # noqa: PLR2004 -- up to 1 TB
        iec, si = parse_size(f"{text}MiB"), parse_size(f"{text}MB")
        advice = f"write {text}MiB ({grouped(iec)} bytes) or {text}MB ({grouped(si)} bytes)"
        message = f"size `{text}` has no unit"
        yield Problem("BC105", message, file, at, "expected a unit", fix=advice)
        return
    advice = "write a number with a unit, such as 10MiB or 200MB"
    yield Problem("BC105", f"`{text}` is not a size", file, at, "expected a size", fix=advice)


def _dataset(_scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    if text not in DATASETS:
        label = f"not one of: {', '.join(DATASETS)}"
        advice = did_you_mean(text, DATASETS) or "for your own file, write input: {file: …}"
        yield Problem("BC103", f"there is no dataset `{text}`", file, at, label, fix=advice)


def _seed(_scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    if not (text.isascii() and text.isdigit() and int(text[:21]) < _MAX_SEED):
        message = f"a seed must be a whole number from 0 to 2^64 - 1, got `{text[:40]}`"
        yield Problem("BC102", message, file=file, at=at, label="expected an integer")


def _file(scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    path = FilePath(scenario.resolve(text))
    what = "" if scenario.spec.prepare else fault_of(path)
    if not what:
        return  # `prepare` may create it
    advice = _RELATIVE
    if what == "is a folder":
        advice = f"for all of its files, write input: {{folder: {text}}}"
    yield Problem("BC404", f"input file `{text}` {what}", file=file, at=at, fix=advice)


def _folder(scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    what = fault_of(FilePath(scenario.resolve(text))) or "is a file"
    if what == "is a folder" or scenario.spec.prepare:
        return
    advice = f"write input: {{file: {text}}}" if what == "is a file" else _RELATIVE
    yield Problem("BC404", f"input folder `{text}` {what}", file=file, at=at, fix=advice)


def _files(scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    if scenario.spec.prepare or matching_files(scenario.folder, text):
        return
    yield Problem("BC404", f"no file matches `{text}`", file=file, at=at, fix=_RELATIVE)


def _sha256(_scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    if not re.fullmatch("[0-9a-fA-F]{64}", text):
        message = f"a SHA-256 has 64 hex digits, got {counted(len(text), 'character')}"
        advice = "copy the first word that `sha256sum FILE` prints"
        yield Problem("BC102", message, file=file, at=at, fix=advice)


_READERS: Final = {
    "size": _size,
    "dataset": _dataset,
    "seed": _seed,
    "file": _file,
    "folder": _folder,
    "files": _files,
    "max-size": _size,
    "sha256": _sha256,
}
