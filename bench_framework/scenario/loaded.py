"""A scenario as it was loaded: the models, the places in the file, and where relative paths start."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench_framework.errors import Position
    from bench_framework.scenario.document import Document
    from bench_framework.scenario.schema import ScenarioFile


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
        content = self.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def resolve(self, path: str) -> str:
        """An absolute path, from one that is relative to the scenario's file."""
        return str((self.folder / Path(path).expanduser()).absolute())

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
