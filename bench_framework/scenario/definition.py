"""A loaded scenario: the models, the places in the file, and its axes in one form."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from bench_framework.errors import Position, Problem
from bench_framework.foreign import expanded_home
from bench_framework.model.plan.declarations import Axis, AxisValue
from bench_framework.model.plan.plan import Values
from bench_framework.model.plan.written import AxisKind
from bench_framework.scenario import template
from bench_framework.scenario.document import Path, Place, YamlFile
from bench_framework.scenario.scalars import similar
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.schema.worker import Setting, settings_of
from bench_framework.units import is_size, parse_size

BUILD_KEYS = (
    *("features", "no_default_features", "profile", "rustflags", "target_cpu", "linker", "pgo"),
    *("toolchain", "revision", "version", "dependencies", "patch"),
)
KEYS_OF_ANY_BUILD = ("revision", "patch")
"""Keys that change the sources, and not what only cargo knows."""
PROGRAM_KEYS = (*BUILD_KEYS, "preload_allocator")
"""Keys that change the program, also those for programs that are not built."""
RUN_KEYS = ("command", "args", "env", "cpus", "cache", "calls")


@dataclass(frozen=True, slots=True)
class AxisView:
    """An axis, normalized from each of its forms in YAML."""

    name: str
    kind: AxisKind
    settings: Mapping[str, Setting]
    label: str
    note: str

    @property
    def values(self) -> tuple[str, ...]:
        """Names of the values, in the order of the scenario."""
        return tuple(self.settings)

    @property
    def is_size(self) -> bool:
        """True if every value is a size."""
        return all(map(is_size, self.settings))

    @property
    def is_page_cache(self) -> bool:
        """True if the values differ in the page cache only."""
        given = self.settings.values()
        only = all(s.model_fields_set <= {"cache", "label", "about"} for s in given)
        return only and len({s.cache for s in given}) > 1

    def changes(self, keys: tuple[str, ...]) -> bool:
        """Return whether any value sets one of these keys."""
        return any(not s.model_fields_set.isdisjoint(keys) for s in self.settings.values())

    def plan_axis(self) -> Axis:
        """Return the axis in the form of a plan."""
        sized = self.is_size
        values = tuple(
            AxisValue(name, given.label or name, given.about, parse_size(name) if sized else None)
            for name, given in self.settings.items()
        )
        return Axis(self.name, self.kind, values, self.label or self.name, self.note)


@dataclass(frozen=True)
class Scenario:
    """A valid scenario. `expand` turns it into a plan."""

    spec: ScenarioFile
    document: YamlFile
    path: str
    """Path as given by the user, for messages."""
    folder: FilePath
    """Absolute folder of the file. Relative paths in it start here."""
    text: str
    """Text of the file."""
    lost: frozenset[str] = frozenset()
    """Names of keys and values that were removed as invalid while the rest is checked. References
    to them are not reported. Empty in a scenario that `load` returns."""

    @cached_property
    def sha256(self) -> str:
        """Digest of the content, independent of comments, layout, order of keys and defaults."""
        content = self.spec.model_dump(by_alias=True, exclude_defaults=True)
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def axes(self) -> dict[str, AxisView]:
        """The axes by name, in the order of the scenario. Their settings decide their kind."""
        part = self.spec.input
        texts = [text for _, text in part.texts()] if part is not None else []
        of_input = template.names(*texts)
        of_build = template.names(*(text for _, text in self.spec.worker.build_texts()))
        axes = {}
        for name, form in self.spec.axes.items():
            axis = AxisView(name, "input" if name in of_input else "run", *settings_of(form))
            load = self.spec.server is not None and self._only_of_client(axis)
            # A baseline that names a page cache is compared with runs of the other ones.
            state = axis.is_page_cache and not any(name in given for given in self.spec.baseline)
            if load or state:
                axis = replace(axis, kind="input")
            builds = axis.kind == "run" and (axis.changes(PROGRAM_KEYS) or name in of_build)
            axes[name] = replace(axis, kind="build") if builds else axis
        return axes

    def _only_of_client(self, axis: AxisView) -> bool:
        """Return whether only the client of the server uses an axis, which is then the load."""
        client = self.spec.command or ()
        server = self.spec.server
        assert server is not None
        stop = [server.stop] if isinstance(server.stop, str) else server.stop
        ready = [] if server.ready.kind == "line" else [server.ready.awaited]
        texts = [*self.server_command, *ready, *stop, *self.spec.env.values(), self.spec.cwd or ""]
        used = template.names(*([client] if isinstance(client, str) else client))
        alone = used - template.names(*texts)
        return axis.name in alone and not axis.changes(PROGRAM_KEYS + RUN_KEYS)

    @property
    def server_command(self) -> list[str]:
        """The command of the server with placeholders, by default that of the worker; empty without one."""
        server, worker = self.spec.server, self.spec.worker
        if server is None:
            return []
        return server.command or ["{bin}", *(worker.command or [""])[1:]]

    @property
    def variant_axes(self) -> list[AxisView]:
        """The build and run axes."""
        return [axis for axis in self.axes.values() if axis.kind != "input"]

    @property
    def settings(self) -> Iterator[tuple[Path, Setting]]:
        """The settings of each axis value, with their path."""
        for axis in self.axes.values():
            for value, setting in axis.settings.items():
                yield ("axes", axis.name, "values", value), setting

    def variant_values(self, given: Mapping[str, str]) -> Values:
        """Return the values of a variant; empty if one is missing or unknown.

        An omitted axis has the value of the first baseline, or its only value.
        """
        chosen = {**(self.spec.baseline[0] if self.spec.baseline else {}), **given}
        values = {
            axis.name: chosen.get(axis.name, axis.values[0] if len(axis.settings) == 1 else "")
            for axis in self.variant_axes
        }
        known = all(value in self.axes[name].settings for name, value in values.items())
        return tuple(values.items()) if known else ()

    @cached_property
    def baseline(self) -> dict[str, str]:
        """The values of the first baseline; empty if one is missing or unknown."""
        return dict(self.variant_values({}))

    def key_problem(self, path: Path, key: str, /, **values: Any) -> Problem:
        """Return a problem that points at the key at `path`, or at its value in a list."""
        return self.document.key_problem(path, key, **values)

    def value_problem(self, path: Path, key: str, /, **values: Any) -> Problem:
        """Return a problem that points at the value at `path`."""
        return self.document.value_problem(path, key, **values)

    def unknown(
        self, path: Path, key: str, name: str, known: Collection[str], /, **values: object
    ) -> Iterator[Problem]:
        """Yield a problem if a name is not known."""
        if name not in known and name not in self.lost:
            yield self.value_problem(path, key, **similar(name, known), **values)

    def resolve(self, path: str) -> str:
        """Return the absolute path of a path that is relative to the scenario's file."""
        return str((self.folder / expanded_home(path)).absolute())

    def resolve_program(self, name: str) -> str:
        """Return a name without a slash, which is searched on PATH, or the absolute path."""
        return self.resolve(name) if "/" in name else name

    def row(self, key: str, index: int) -> Path:
        """Return the path of a row of `key`, which may be written without the outer list."""
        return _row(self.document.data, key, index)

    def build_texts(self) -> Iterator[tuple[Path, str]]:
        """Yield each text that the build uses, with its path."""
        for (key, *rest), text in self.spec.worker.build_texts():
            if key == "build":
                row, index = rest
                data = self.document.data["worker"]
                yield ("worker", *_row(data, key, int(row), index)), text
            else:
                yield ("worker", key, *rest), text

    def written_axis(self, axis: str) -> tuple[Any, Place]:
        """Return the values of an axis as written, a list or a mapping, with their places."""
        data, place = self.document.data["axes"][axis], self.document.place.at(("axes", axis))
        if isinstance(data, dict) and "values" in data:
            return data["values"], place.at(("values",))
        return data, place

    def value_at(self, axis: str, value: str) -> tuple[str, Position]:
        """Return file and position of an axis value."""
        data, place = self.written_axis(axis)
        place = place.at((data.index(value) if isinstance(data, list) else value,))
        return place.file, place.key or place.value


def _row(data: Mapping[str, Any], key: str, index: int, *rest: str | int) -> Path:
    """Return the path of a row of `key`, which may be written without the outer list."""
    rows = data.get(key)
    single = isinstance(rows, list) and not any(isinstance(item, list) for item in rows)
    return (key, *rest) if single else (key, index, *rest)
