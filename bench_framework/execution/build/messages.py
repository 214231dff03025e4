"""Messages of cargo: the binary and the crates of a build, its progress, and its errors."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench_framework.execution.machine.host import seconds
from bench_framework.execution.progress import BuildStarted, BuildStep, Observer
from bench_framework.foreign import parse_json

_TREE_LINE: Final = re.compile(
    r"(?P<depth>\d+)(?P<name>[A-Za-z_][\w-]*) v(?P<version>\S+)(?P<folder> \(/.*\))?"
)
LEAST_COMPILED: Final = 5
"""Crates that must be compiled before the remaining time is estimated."""
SHOWN_LINES: Final = 60
"""Lines of cargo's output in a message; the log contains all lines."""


@dataclass(frozen=True, slots=True)
class Messages:
    """A build as cargo's JSON messages describe it.

    `executable` is `None` if the binary was not built. `fresh` is true if nothing had to be
    compiled. `dependencies` counts packages without that of the binary.
    """

    executable: str | None = None
    fresh: bool = False
    dependencies: int | None = None
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files of the libraries of each package, by its name."""


def read_messages(file: Path, name: str) -> Messages:
    """Read cargo's messages; other lines, such as the output of a build script, are ignored."""
    lines = file.read_bytes().splitlines() if file.is_file() else []
    artifacts = [message for line in lines if (message := _artifact(line)) is not None]
    binaries = [
        message
        for message in artifacts
        if message.get("executable") and message["target"]["name"] == name
    ]
    if not binaries:
        return Messages()
    packages = {message["package_id"] for message in artifacts}
    files: dict[str, tuple[str, ...]] = {}
    for message in artifacts:
        package = package_of(message["package_id"])
        if built := message.get("filenames"):
            files[package] = (*files.get(package, ()), *built)
    return Messages(
        binaries[-1]["executable"],
        all(message.get("fresh") for message in artifacts),
        len(packages - {binaries[-1]["package_id"]}),
        files,
    )


def package_of(package_id: str) -> str:
    """Return the name of a package from its id."""
    # ``registry+https://…#libc@0.2.1``, or ``path+file:///…/tally#0.1.0`` for a folder ``tally``.
    place, _, name = package_id.rpartition("#")
    return name.partition("@")[0] if "@" in name else place.rpartition("/")[2]


def direct_dependencies(tree: str) -> tuple[tuple[str, str], ...]:
    """Return name and version of the direct dependencies in ``cargo tree --prefix=depth``.

    A crate in a folder, such as one of the same workspace, is replaced by its own dependencies.
    """
    packages: dict[tuple[str, str], None] = {}
    followed = 0
    """Depth down to which the packages above the current line are crates in folders."""
    for line in tree.splitlines():
        match = _TREE_LINE.match(line)
        if match is None or int(match["depth"]) > followed:
            continue
        depth = int(match["depth"])
        if match["folder"]:
            followed = depth + 1
        else:
            followed = depth
            packages[match["name"], match["version"]] = None
    return tuple(sorted(packages))


def failure_text(log: str) -> str:
    """Return the lines of cargo from the first error on, at most 60."""
    lines = log.splitlines()
    first = next((number for number, line in enumerate(lines) if line.startswith("error")), 0)
    return "\n".join(lines[first : first + SHOWN_LINES]).strip()


@dataclass(slots=True)
class Steps:
    """Follower of cargo's messages that reports finished crates to the observer.

    `place` is the number of the build, such as ``1/3``, and `total` the number of its crates, 0 if
    it is not known. `wrapper` is the program that cargo calls in place of rustc.
    """

    messages: Path
    observer: Observer
    place: str = ""
    total: int = 0
    wrapper: str = ""
    _began: float = field(default_factory=seconds)
    _offset: int = 0
    _crates: dict[str, bool] = field(default_factory=dict)
    """True for a crate that was compiled, False for one that existed already."""
    _started: bool = False

    def poll(self) -> None:
        """Read new messages. A fresh build ends before the first call."""
        if not self._started:
            self._started = True
            self.observer.notify(BuildStarted())
        for line in self._lines():
            message = _artifact(line)
            if message is not None and "custom-build" not in message["target"].get("kind", ()):
                self._crates[message["package_id"]] = not message.get("fresh")
        done, taken = len(self._crates), seconds() - self._began
        compiled, left_s = sum(self._crates.values()), None
        if self.total and compiled >= LEAST_COMPILED:
            left_s = max(0, self.total - done) * taken / compiled
        self.observer.notify(BuildStep(done, taken, self.place, self.total, left_s, self.wrapper))

    def _lines(self) -> Sequence[bytes]:
        try:
            with self.messages.open("rb") as file:
                file.seek(self._offset)
                text = file.read()
        except OSError:
            return ()
        whole = text[: text.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.splitlines()


def _artifact(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b'{"reason":"compiler-artifact"'):
        return None
    try:
        message: dict[str, Any] = parse_json(line)
    except ValueError:
        return None
    return message
