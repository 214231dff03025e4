"""Messages of cargo: the binary and the crates of a build, its progress, and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench_framework.execution.machine.host import seconds
from bench_framework.execution.progress import BuildStarted, BuildStep, Observer
from bench_framework.foreign import parse_json

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


def read_messages(text: bytes, name: str) -> Messages:
    """Read cargo's messages; other lines, such as the output of a build script, are ignored."""
    artifacts = [message for line in text.splitlines() if (message := _artifact(line)) is not None]
    binaries = [
        message
        for message in artifacts
        if message.get("executable") and message["target"]["name"] == name
    ]
    if not binaries:
        return Messages()
    packages = {message["package_id"] for message in artifacts}
    return Messages(
        binaries[-1]["executable"],
        all(message.get("fresh") for message in artifacts),
        len(packages - {binaries[-1]["package_id"]}),
    )


def failure_text(log: str) -> str:
    """Return the lines of cargo from the first error on, at most 60."""
    lines = log.splitlines()
    first = next((number for number, line in enumerate(lines) if line.startswith("error")), 0)
    return "\n".join(lines[first : first + SHOWN_LINES]).strip()


@dataclass(slots=True)
class Steps:
    """Follower of cargo's messages that reports compiled crates to the observer.

    `place` is the number of the build, such as ``1/3``, and `most` the number of locked crates.
    """

    messages: Path
    observer: Observer
    place: str = ""
    most: int = 0
    _began: float = field(default_factory=seconds)
    _offset: int = 0
    _crates: set[str] = field(default_factory=set)
    _last: str = ""
    _started: bool = False

    def poll(self) -> None:
        """Read new messages. A fresh build ends before the first call."""
        if not self._started:
            self._started = True
            self.observer.notify(BuildStarted())
        for line in self._lines():
            message = _artifact(line)
            if message is not None and not message.get("fresh"):
                self._crates.add(str(message["package_id"]))
                self._last = _package(message)
        taken = seconds() - self._began
        self.observer.notify(BuildStep(len(self._crates), self._last, taken, self.place, self.most))

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


def _package(message: dict[str, Any]) -> str:
    """Return the name of the package: the target of a build script is ``build-script-build``."""
    # ``registry+https://…#libc@0.2.1``, or ``path+file:///…/tally#0.1.0`` for a folder ``tally``.
    place, _, name = str(message["package_id"]).rpartition("#")
    return name.partition("@")[0] if "@" in name else place.rpartition("/")[2]


def _artifact(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(b'{"reason":"compiler-artifact"'):
        return None
    try:
        message: dict[str, Any] = parse_json(line)
    except ValueError:
        return None
    return message
