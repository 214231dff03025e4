"""A loaded scenario: the models, the places in the file, and the folder of relative paths."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from bench_framework.errors import Position, Problem
from bench_framework.scenario.document import Document, Path
from bench_framework.scenario.schema import ScenarioFile
from bench_framework.scenario.schema.types import Part


def _without_defaults(value: Any) -> Any:
    """Return a part without default values, as JSON values."""
    if isinstance(value, Part):
        fields = type(value).model_fields.items()
        pairs = [(field, getattr(value, name), field.alias or name) for name, field in fields]
        return {
            key: _without_defaults(content)
            for field, content, key in pairs
            if content != field.get_default(call_default_factory=True)
        }
    if isinstance(value, dict):
        return {key: _without_defaults(content) for key, content in value.items()}
    return [_without_defaults(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Scenario:
    """A valid scenario. `expand` turns it into a plan."""

    spec: ScenarioFile
    document: Document
    path: str
    """Path as given by the user, for messages."""
    folder: FilePath
    """Absolute folder of the file. Relative paths in it start here."""
    text: str
    """Text of the file."""
    lost: frozenset[str] = frozenset()
    """Names of keys and values that were removed as invalid while the rest is checked. References
    to them are not reported. Empty in a scenario that `load` returns."""

    @property
    def sha256(self) -> str:
        """Digest of the content, independent of comments, layout, order of keys and defaults."""
        text = json.dumps(
            _without_defaults(self.spec), sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def resolve(self, path: str) -> str:
        """Return the absolute path of a path that is relative to the scenario's file."""
        return str((self.folder / FilePath(path).expanduser()).absolute())

    def resolve_program(self, name: str) -> str:
        """Return a name without a slash, which is searched on PATH, or the absolute path."""
        return self.resolve(name) if "/" in name else name

    def key_problem(
        self, path: Path, code: str, message: str, fix: str | None = None, **more: Any
    ) -> Problem:
        """Return a problem that points at the key at `path`, or at its value in a list."""
        return self.document.key_problem(path, code, message, fix, **more)

    def value_problem(
        self, path: Path, code: str, message: str, fix: str | None = None, **more: Any
    ) -> Problem:
        """Return a problem that points at the value at `path`."""
        return self.document.value_problem(path, code, message, fix, **more)

    def row(self, key: str, index: int, *rest: str | int) -> tuple[str | int, ...]:
        """Return the path of a row of `key`, which may be written without the outer list."""
        data = self.document.data.get(key)
        single = isinstance(data, list) and not any(isinstance(item, list) for item in data)
        return (key, *rest) if single else (key, index, *rest)

    def rule(self, *path: str | int) -> str:
        """Return ``file:line`` of the value at `path`."""
        place = self.document.place.at(path)
        return f"{place.file}:{place.value.line}"

    def value_at(self, axis: str, value: str) -> tuple[str, Position]:
        """Return file and position of an axis value, for each form of an axis."""
        place = self.document.place.at(("axes", axis))
        data = self.document.data.get("axes", {}).get(axis)
        if isinstance(data, dict) and "values" in data:
            place, data = place.at(("values",)), data["values"]
        if isinstance(data, list):
            place = place.at((next((i for i, item in enumerate(data) if item == value), 0),))
            return place.file, place.value
        place = place.at((value,))
        return place.file, place.key or place.value
