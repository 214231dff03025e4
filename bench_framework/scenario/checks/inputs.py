"""Checks of axis values and inputs: sizes, seeds, data sets and files of the user."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from bench_framework.errors import Problem
from bench_framework.scenario import template
from bench_framework.scenario.axes import BUILD_KEYS, AxisView, axes_of
from bench_framework.scenario.scalars import did_you_mean
from bench_framework.scenario.schema.parts import DATASETS
from bench_framework.scenario.schema.worker import BUILTIN
from bench_framework.units import is_size, parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.errors import Position
    from bench_framework.scenario.definition import Scenario

_MAX_FILLINGS = 2_000
"""Texts with several axes are tried up to here; `checks.matrix` refuses larger matrices anyway."""
_MAX_SEED = 2**64


def check(scenario: Scenario) -> Iterator[Problem]:
    """Problems of axis values and of ``input:``."""
    for axis in axes_of(scenario):
        yield from _twice(scenario, axis)
        yield from _misplaced(scenario, axis)
    part = scenario.spec.input
    if part is None:
        yield from _nothing_to_drop(scenario)
        return
    readers = (("size", _size), ("dataset", _dataset), ("seed", _seed), ("file", _file))
    for key, reader in readers:
        text = getattr(part, key)
        if text is not None:
            for filled, file, at in _fillings(scenario, key, text):
                yield from reader(scenario, filled, file, at)


def _nothing_to_drop(scenario: Scenario) -> Iterator[Problem]:
    """A cold cache without an input: there is nothing whose pages could be dropped and looked for."""
    if "input" in scenario.lost:
        return
    message = "`cache: cold` needs an `input`: the pages of nothing else are dropped from memory"
    advice = "declare `input:`, or say `cache: unknown` and drop what you need in `prepare`"
    if scenario.spec.measure.cache == "cold":
        yield scenario.document.value_problem(("measure", "cache"), "BC108", message, help=advice)
    for axis in axes_of(scenario):
        for value, setting in axis.settings.items():
            if setting.cache == "cold":
                path = ("axes", axis.name, "values", value, "cache")
                yield scenario.document.value_problem(path, "BC108", message, help=advice)


def _twice(scenario: Scenario, axis: AxisView) -> Iterator[Problem]:
    """A value that is listed twice, or two sizes that are one."""
    place = scenario.document.place.at(("axes", axis.name))
    data = scenario.document.data.get("axes", {}).get(axis.name)
    if isinstance(data, dict) and "values" in data:
        place, data = place.at(("values",)), data["values"]
    seen: dict[object, str | int] = {}
    for index, value in enumerate(data if isinstance(data, (list, dict)) else ()):
        key: str | int = index if isinstance(data, list) else value
        first = seen.setdefault(parse_size(value) if axis.is_size else str(value), key)
        if first == key:
            continue
        here, there = place.children[key], place.children[first]
        yield Problem(
            "BC104",
            f"value `{value}` is given twice in axis `{axis.name}`",
            file=here.file,
            at=here.key or here.value,
            label="the same again",
            also=((there.key or there.value, "first given here"),)
            if there.file == here.file
            else (),
        )


def _misplaced(scenario: Scenario, axis: AxisView) -> Iterator[Problem]:
    """Settings that cannot take effect where they are written."""
    worker = scenario.spec.worker
    for value, setting in axis.settings.items():
        for key in sorted(setting.model_fields_set):
            name = key.replace("_", "-")
            why = None
            if key in BUILD_KEYS and axis.kind == "input":
                why = "an axis of `input` changes no build: put it into an axis of its own"
            elif key in BUILD_KEYS and worker.command is not None:
                why = "this worker is a program that is not built"
            elif key == "revision" and worker.crate == BUILTIN:
                why = "the bundled workers have one revision: the one of this benchctl"
            elif key == "args" and scenario.spec.shell:
                why = "a shell's command line takes no argument list: use the value's name in it"
            if why is not None:
                path = ("axes", axis.name, "values", value, name)
                yield scenario.document.key_problem(
                    path, "BC108", f"`{name}` has no effect here: {why}"
                )


def _fillings(scenario: Scenario, key: str, text: str) -> Iterator[tuple[str, str, Position]]:
    """The text with every choice of its axes, and where to point: at the value, if one axis makes it."""
    axes = [axis for axis in axes_of(scenario) if axis.name in template.names(text)]
    place = scenario.document.place.at(("input", key))
    for picked in itertools.islice(
        itertools.product(*(axis.values for axis in axes)), _MAX_FILLINGS
    ):
        chosen = dict(zip((axis.name for axis in axes), picked, strict=True))
        filled = template.fill_text(text, {**scenario.spec.fixed, **chosen})
        if len(axes) == 1:
            yield filled, *scenario.value_at(axes[0].name, picked[0])
        else:
            yield filled, place.file, place.value


def _size(_scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    if is_size(text):
        return
    if text.isascii() and text.isdigit() and 0 < len(text) < 13:  # noqa: PLR2004 -- a terabyte is enough for an example
        iec, si = parse_size(f"{text}MiB"), parse_size(f"{text}MB")
        advice = f"write {text}MiB ({_grouped(iec)} bytes) or {text}MB ({_grouped(si)} bytes)"
        yield Problem(
            "BC105", "a size needs a unit", file=file, at=at, label=f"{text} what?", help=advice
        )
        return
    advice = "write a number with a unit, such as 10MiB or 200MB"
    yield Problem(
        "BC105", f"`{text}` is not a size", file=file, at=at, label="expected a size", help=advice
    )


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def _dataset(_scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    if text not in DATASETS:
        label = f"not one of: {', '.join(DATASETS)}"
        advice = did_you_mean(text, DATASETS) or "a file of yours is `input: {file: …}`"
        yield Problem(
            "BC103", f"there is no data set `{text}`", file=file, at=at, label=label, help=advice
        )


def _seed(_scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    if not (text.isascii() and text.isdigit() and int(text[:21]) < _MAX_SEED):
        message = f"a seed must be a whole number from 0 to 2^64 - 1, got `{text[:40]}`"
        yield Problem("BC102", message, file=file, at=at, label="expected an integer")


def _file(scenario: Scenario, text: str, file: str, at: Position) -> Iterator[Problem]:
    path = Path(scenario.resolve(text))
    if scenario.spec.prepare or path.is_file():
        return  # `prepare` may be what makes it
    what = "is a folder" if path.is_dir() else "is not there"
    advice = "paths are relative to the scenario's file"
    yield Problem("BC404", f"input file `{text}` {what}", file=file, at=at, help=advice)
