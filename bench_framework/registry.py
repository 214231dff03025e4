"""The extension points: what another package adds to benchctl.

A package names a function in its entry points, in the group ``benchctl.extensions``. The function gets
the `Registry` and calls its methods (`bench_framework/extensions/README.md`). It should import nothing
heavy: a target is the text ``MODULE:NAME``, and its module is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, Final, Literal

from bench_framework.units import Unit

GROUP: Final = "benchctl.extensions"
BUNDLED: Final = "bench_framework.extensions."
Panel = Literal["Run", "Inspect", "CI", "Machine", "Help"]
"""A panel of the page of ``benchctl --help``."""
Point = Literal[
    "command",
    "document",
    "section",
    "metric",
    "chart",
    "exporter",
    "importer",
    "record kind",
    "notebook function",
    "hosts",
    "cache folder",
]
"""An extension point. The core reads what extensions add to it by `Registry.targets`."""


@dataclass(frozen=True, slots=True)
class Addition:
    """An addition of an extension: an object that is loaded when it is needed, or only a name with options."""

    extension: str
    name: str
    place: str
    """``MODULE:NAME``; empty for a metric and a folder of the cache, which have only a name and options."""
    options: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Any:
        """Import and return the object."""
        return resolve_name(self.place)


@dataclass(frozen=True, slots=True)
class ExtensionFailure:
    """An extension that is left out because it could not be loaded."""

    extension: str
    cause: str


class Registry:
    """Everything that extensions add, by extension point and name.

    Attributes:
        failures: the extensions that could not be loaded.
    """

    def __init__(self) -> None:
        self.failures: list[ExtensionFailure] = []
        self._extension = ""
        self._targets: dict[Point, dict[str, Addition]] = {}
        self._listener: Callable[[ExtensionFailure], object] | None = None

    def command(self, panel: Panel, name: str, place: str) -> None:
        """Add ``benchctl NAME``: a function for typer, or a module with `HELP`, `EXAMPLES` and `PARTS`.

        The module of a function may have `EXAMPLES`, the end of its ``--help``. The function reads the
        shared options from ``context.obj``, a `bench_framework.cli.console.Console`.
        """
        self._add("command", name, place, panel=panel)

    def document(self, name: str, place: str) -> None:
        """Add what ``benchctl NAME --json`` prints: a dataclass, or a union of them.

        ``benchctl schema NAME`` prints its JSON Schema, and `Console.emit_json` prints an object of it.
        """
        self._add("document", name, place)

    def section(self, name: str, place: str, *, after: str = "") -> None:
        """Add a section of the report, a `bench_framework.report.sections.kind.SectionKind`.

        It follows the section with the anchor `after`, such as ``results``, or is the last one.
        """
        self._add("section", name, place, after=after)

    def metric(
        self,
        name: str,
        formula: tuple[str, str],
        *,
        noun: str,
        about: str,
        unit: Unit,
        countable: bool = False,
    ) -> None:
        """Add a metric of a round, the first metric of `formula` divided by the second.

        It is shown and not judged. `noun` is its name in sentences, and `about` its description in one line.
        """
        values = {"formula": formula, "noun": noun, "about": about, "unit": unit}
        self._add("metric", name, "", **values, countable=countable)

    def chart(self, name: str, place: str) -> None:
        """Add a chart, a function of matplotlib's Axes, a `Figure` with ``chart=NAME``, and colours."""
        self._add("chart", name, place)

    def exporter(self, name: str, place: str) -> None:
        """Add a format of ``benchctl export``, a function from an `ExportTable` to text or bytes."""
        self._add("exporter", name, place)

    def importer(self, name: str, place: str) -> None:
        """Add a format of files of another tool, a `bench_framework.store.harnesses.Reader`."""
        self._add("importer", name, place)

    def record_kind(self, name: str, place: str, *, file: str) -> None:
        """Add a kind of record without rounds, which has `file` in place of a journal.

        The target is a function from the bytes of the file to a `bench_framework.store.kinds.Figures`.
        """
        self._add("record kind", name, place, file=file)

    def notebook(self, name: str, place: str) -> None:
        """Add a function of the notebook API, ``bench_framework.NAME``."""
        self._add("notebook function", name, place)

    def hosts(self, name: str, place: str) -> None:
        """Add other machines to measure on, a `bench_framework.cli.measurement.Hosts`.

        ``benchctl run --scheduler`` and ``benchctl gate --scheduler`` use the first one.
        """
        self._add("hosts", name, place)

    def cache_folder(self, name: str) -> None:
        """Add a folder of the cache with results. ``benchctl clean NAME`` removes its entries."""
        self._add("cache folder", name, "")

    def targets(self, point: Point) -> Mapping[str, Addition]:
        """Return the targets of an extension point by name, in the order of their registration."""
        return self._targets.get(point, {})

    def additions(self, point: Point, core: Collection[str]) -> list[Addition]:
        """Return the targets of an extension point, without those whose name the core has."""
        targets = self.targets(point)
        for name in targets.keys() & core:
            taken = ValueError(f"benchctl has the {point} `{name}` already")
            self.leave_out(targets[name].extension, taken)
        return [target for name, target in targets.items() if name not in core]

    def listen(self, listener: Callable[[ExtensionFailure], object]) -> None:
        """Report each failure to a function, first those that were found before."""
        self._listener = listener
        for failure in self.failures:
            listener(failure)

    @contextmanager
    def loading(self, target: Addition) -> Iterator[None]:
        """Leave out a target that cannot be loaded or used, and remember why."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 -- code of another package, which must not end every command
            self.leave_out(target.extension, error)

    def include(self, name: str, register: Callable[[Registry], object]) -> None:
        """Let an extension register. Nothing of it is kept if it fails."""
        targets = {point: dict(names) for point, names in self._targets.items()}
        self._extension = name
        try:
            register(self)
        except Exception as error:  # noqa: BLE001 -- code of another package, which must not end every command
            self._targets = targets
            self.leave_out(name, error)

    def leave_out(self, extension: str, error: Exception) -> None:
        """Remember that an extension, or a part of it, could not be used."""
        failure = ExtensionFailure(extension, f"{type(error).__name__}: {error}".partition("\n")[0])
        self.failures.append(failure)
        if self._listener is not None:
            self._listener(failure)

    def _add(self, point: Point, name: str, place: str, **options: Any) -> None:
        targets = self._targets.setdefault(point, {})
        if name in targets:
            raise ValueError(f"another extension has the {point} `{name}`")
        targets[name] = Addition(self._extension, name, place, options)


@cache
def registry() -> Registry:
    """Return the registry with all extensions that are installed, in the order of their names."""
    extensions = Registry()
    # Two distributions name the same functions while an old one, of another name, is still installed.
    points = set(entry_points(group=GROUP))
    for point in sorted(points, key=lambda point: (not _bundled(point), point.name)):
        if _bundled(point) and find_spec(point.module) is None:
            continue  # a folder of `bench_framework/extensions` was removed
        try:
            register = point.load()
        except Exception as error:  # noqa: BLE001 -- see `include`
            extensions.leave_out(point.name, error)
            continue
        extensions.include(point.name, register)
    return extensions


def _bundled(point: EntryPoint) -> bool:
    return point.module.startswith(BUNDLED)
