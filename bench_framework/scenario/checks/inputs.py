"""Checks of axis values and inputs: sizes, seeds, datasets and files."""

import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path as FilePath

from bench_framework.errors import Position, Problem
from bench_framework.foreign import fault_of, matching_files
from bench_framework.model.faults import FaultCode
from bench_framework.scenario import template
from bench_framework.scenario.checks import commands
from bench_framework.scenario.definition import (
    BUILD_KEYS,
    KEYS_OF_ANY_BUILD,
    PROGRAM_KEYS,
    AxisView,
    Scenario,
)
from bench_framework.scenario.document import Path, suggest
from bench_framework.scenario.schema.parts import DATASETS, InputPart
from bench_framework.text.numbers import grouped
from bench_framework.text.reasons import phrase_of
from bench_framework.units import counted, is_size, parse_size

_MAX_FILLINGS = 2_000
"""Largest number of combinations that are checked. `checks.matrix` refuses larger matrices."""
_MAX_SEED = 2**64
_SEED = re.compile("[0-9]{1,20}")


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of axis values and of `input`."""
    for axis in scenario.axes.values():
        yield from _twice(scenario, axis)
        yield from _misplaced(scenario, axis)
    part = scenario.spec.input
    if part is None or part.value is not None:
        yield from _nothing_to_drop(scenario)
    if part is None:
        return
    for path, text in part.texts():
        for filled, file, at in _fillings(scenario, path, text):
            if (fault := _fault(scenario, str(path[0]), filled)) is not None:
                yield replace(fault, file=file, at=at)
    yield from _not_one_file(scenario, part)


def _not_one_file(scenario: Scenario, part: InputPart) -> Iterator[Problem]:
    """Yield a problem for each use of an input of several files that needs one file."""
    folder = part.folder is not None or (part.dataset or "").startswith("sessions")
    if not folder and part.files is None and part.value is None:
        return
    if scenario.spec.stdin is not None and "input" in template.names(scenario.spec.stdin):
        kind = "BC108.stdin-of-value" if part.value is not None else "BC108.stdin-of-several-files"
        yield scenario.value_problem(("stdin",), kind, folder=folder)
    if part.value is not None:
        return
    for path, text, _ in commands.templated(scenario):
        whole = folder or scenario.spec.shell or text == "{input}" or path[0] == "stdin"
        if not whole and "input" in template.names(text):
            yield scenario.value_problem(path, "BC109.several-files")


def _nothing_to_drop(scenario: Scenario) -> Iterator[Problem]:
    """Yield a problem for a cold cache without an input, whose pages would be dropped."""
    if "input" in scenario.lost:
        return
    caches: list[tuple[Path, str | None]] = [(("measure",), scenario.spec.measure.cache)]
    caches += [(path, setting.cache) for path, setting in scenario.settings]
    for path, cache in caches:
        if cache == "cold":
            yield scenario.value_problem((*path, "cache"), "BC108.nothing-to-drop")


def _twice(scenario: Scenario, axis: AxisView) -> Iterator[Problem]:
    """Yield a problem for each value that is listed twice, or size that equals another one."""
    data, place = scenario.written_axis(axis.name)
    first_keys: dict[object, str | int] = {}
    for index, value in enumerate(data):
        key: str | int = index if isinstance(data, list) else value
        first = first_keys.setdefault(parse_size(value) if axis.is_size else str(value), key)
        if first == key:
            continue
        here, there = place.children[key], place.children[first]
        first = phrase_of(FaultCode.FIRST_VALUE)
        yield Problem.create(
            "BC104.value-twice",
            here.file,
            here.key or here.value,
            also=((there.key or there.value, first),) if there.file == here.file else (),
            value=value,
            name=axis.name,
        )


def _misplaced(scenario: Scenario, axis: AxisView) -> Iterator[Problem]:
    """Yield a problem for each setting that has no effect on its axis."""
    worker = scenario.spec.worker
    for value, setting in axis.settings.items():
        for key in sorted(setting.model_fields_set):
            name = key.replace("_", "-")
            path = ("axes", axis.name, "values", value, name)
            if key in PROGRAM_KEYS and axis.kind == "input":
                yield scenario.key_problem(path, "BC108.build-by-input-axis", name=name)
            elif key in BUILD_KEYS and worker.command is not None:
                yield scenario.key_problem(path, "BC108.build-of-program", name=name)
            elif key in BUILD_KEYS and worker.build and key not in KEYS_OF_ANY_BUILD:
                yield scenario.key_problem(path, "BC108.key-of-cargo", name=name)
            elif key == "revision" and worker.without_revisions:
                reason = worker.without_revisions
                yield scenario.key_problem(
                    path, "BC108.revision-without-effect", name=name, reason=reason
                )
            elif key == "version" and worker.registry is None:
                yield scenario.key_problem(path, "BC108.version-without-registry", name=name)
            elif key == "args" and scenario.spec.shell:
                yield scenario.key_problem(path, "BC108.args-with-shell", name=name, axis=axis.name)


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


def _fault(scenario: Scenario, key: str, text: str) -> Problem | None:
    """Return the problem of a key of `input` whose placeholders are replaced, without its place."""
    match key:
        case "size" | "max-size" if not is_size(text):
            return _size_fault(text)
        case "dataset" if text not in DATASETS:
            near, datasets = suggest(text, DATASETS), ", ".join(DATASETS)
            return Problem.create("BC103.no-dataset", text=text, near=near, datasets=datasets)
        case "seed" if not (_SEED.fullmatch(text) and int(text) < _MAX_SEED):
            return Problem.create("BC102.not-a-seed", text=text[:40])
        case "sha256" if not re.fullmatch("[0-9a-fA-F]{64}", text):
            return Problem.create("BC102.not-a-digest", text=counted(len(text), "character"))
        case "file" | "folder" | "files" if not scenario.spec.prepare:  # which may create it
            return _missing(scenario, key, text)
    return None


def _size_fault(text: str) -> Problem:
    if text.isascii() and text.isdigit() and len(text) < 13:  # noqa: PLR2004 -- up to 1 TB
        iec, si = parse_size(f"{text}MiB"), parse_size(f"{text}MB")
        return Problem.create(
            "BC105.no-unit", text=text, iec=grouped(iec, " "), si=grouped(si, " ")
        )
    return Problem.create("BC105.not-a-size", text=text)


def _missing(scenario: Scenario, key: str, text: str) -> Problem | None:
    """Return the problem of files of the user that cannot be the input."""
    if key == "files":
        files = matching_files(scenario.folder, text)
        return None if files else Problem.create("BC404.no-match", text=text)
    path = FilePath(scenario.resolve(text))
    if os.path.isdir(path):  # noqa: PTH112 -- Path.is_dir raises in a folder that cannot be read
        return Problem.create("BC404.folder-as-file", text=text) if key == "file" else None
    if fault := fault_of(path):
        return Problem.create("BC404.no-input", key=key, text=text, fault=fault)
    return Problem.create("BC404.file-as-folder", text=text) if key == "folder" else None
