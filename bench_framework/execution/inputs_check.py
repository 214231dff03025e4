"""Whether inputs and programs stay as they were: by their stamps before each round, inputs by digest at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench_framework.execution import folders
from bench_framework.model.run import Event

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bench_framework.model.run import Build, PreparedInput

_HELP = "a program that writes to its input needs a fresh copy each time: prepare: [[cp, ORIGINAL, COPY]]"


class Guard:
    """Remembers size, mtime and inode of every input and program at the start of a session."""

    def __init__(self, inputs: Mapping[str, PreparedInput], builds: Iterable[Build] = ()) -> None:
        self._inputs = inputs
        self._stamps = {key: _stamp(item.path) for key, item in inputs.items()}
        paths = {
            path
            for build in builds
            for path in (build.path, build.control_path)
            if path is not None
        }
        self._programs = {path: _stamp(path) for path in sorted(paths)}
        self._told: set[str] = set()

    def changed(self, input_id: str) -> Event | None:
        """An event, BX420, if an input is not what it was; one ``stat`` per file."""
        item = self._inputs.get(input_id)
        if item is None or item.path is None or _stamp(item.path) == self._stamps[input_id]:
            return None
        self._told.add(item.path)
        return _event(item.path, "size or time of change")

    def replaced(self) -> Event | None:
        """An event, BX420, if a program is not the file that it was: changed by itself, or built again."""
        for path, stamp in self._programs.items():
            if _stamp(path) != stamp:
                return Event(
                    "BX420",
                    f"the program {path} changed while it was measured",
                    "error",
                    effect="the rounds do not all measure one program; nothing is measured any further",
                    help="measure a copy that nobody builds anew, and begin again with --fresh",
                )
        return None

    def digests(self) -> Iterator[Event]:
        """Digest every file once more, at the end: a file may change and keep size and mtime."""
        seen: dict[str, str] = {}
        for item in self._inputs.values():
            if item.path is None or item.sha256 is None or item.path in self._told:
                continue
            if item.path not in seen:
                path = Path(item.path)
                seen[item.path] = folders.digest(path) if path.exists() else "missing"
            if seen[item.path] != item.sha256:
                yield _event(item.path, "digest")


def _stamp(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return folders.stamp(Path(path))
    except OSError:
        return None


def _event(path: str, what: str) -> Event:
    return Event(
        "BX420",
        f"the input {path} changed while it was measured ({what})",
        "error",
        effect="the rounds of this input do not all measure the same work; it is measured no further",
        help=_HELP,
    )
