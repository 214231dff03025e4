"""A scenario as it was loaded: the models, the places in the file, and where relative paths start."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_framework.scenario.schema.types import Part

if TYPE_CHECKING:
    from bench_framework.errors import Position
    from bench_framework.scenario.document import Document
    from bench_framework.scenario.schema import ScenarioFile


def _said(value: Any) -> Any:
    """What a part says beyond its defaults, as JSON values."""
    if isinstance(value, Part):
        fields = type(value).model_fields.items()
        pairs = [(field, getattr(value, name), field.alias or name) for name, field in fields]
        return {
            key: _said(held)
            for field, held, key in pairs
            if held != field.get_default(call_default_factory=True)
        }
    if isinstance(value, dict):
        return {key: _said(held) for key, held in value.items()}
    return [_said(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Scenario:
    """A valid scenario. `expand` turns it into a plan."""

    spec: ScenarioFile
    document: Document
    path: str
    """As given; for messages."""
    folder: Path
    """Absolute folder of the file: relative paths in it start here."""
    text: str
    """The file as read."""
    lost: frozenset[str] = frozenset()
    """Keys and values that were left out as wrong, while the rest is checked: what names them is not at fault.
    Always empty in what `load` returns."""

    @property
    def name(self) -> str:
        """Short name; its records are kept under it."""
        return self.spec.name

    @property
    def question(self) -> str:
        """The sentence that the report must answer."""
        return self.spec.question

    @property
    def sha256(self) -> str:
        """Of what the scenario says: comments, layout, order of keys and written defaults do not count."""
        text = json.dumps(
            _said(self.spec), sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )
        return hashlib.sha256(text.encode()).hexdigest()

    def resolve(self, path: str) -> str:
        """An absolute path, from one that is relative to the scenario's file."""
        return str((self.folder / Path(path).expanduser()).absolute())

    def row(self, key: str, index: int, *rest: str | int) -> tuple[str | int, ...]:
        """The path of a row of `key`, which may be written as one row without its outer list."""
        data = self.document.data.get(key)
        single = isinstance(data, list) and not any(isinstance(item, list) for item in data)
        return (key, *rest) if single else (key, index, *rest)

    def rule(self, *path: str | int) -> str:
        """``file:line`` of what stands at `path`."""
        place = self.document.place.at(path)
        return f"{place.file}:{place.value.line}"

    def value_at(self, axis: str, value: str) -> tuple[str, Position]:
        """File and position of an axis value, whichever form the axis has."""
        place = self.document.place.at(("axes", axis))
        data = self.document.data.get("axes", {}).get(axis)
        if isinstance(data, dict) and "values" in data:
            place, data = place.at(("values",)), data["values"]
        if isinstance(data, list):
            index = next((i for i, item in enumerate(data) if item == value), 0)
            place = place.at((index,))
            return place.file, place.value
        place = place.at((value,))
        return place.file, place.key or place.value
