"""What a check is, and what it may look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bench_framework.execution.process import Launcher

State = Literal["ok", "warn", "bad"]
"""``warn``: results get noisier or poorer; ``bad``: something cannot be measured at all."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found.

    Attributes:
        name: of the check, as in the registry.
        state: fit or not.
        figure: what was found, in a few words.
        meaning: what it does to results.
        mend: what to do; empty where nothing is to be done.
    """

    name: str
    state: State
    figure: str
    meaning: str = ""
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """What checks look at.

    Attributes:
        launcher: for tools.
        env: benchctl's environment.
        results: folder of the records; it need not exist.
        data: folder of generated inputs; likewise.
        proc: /proc, or a stand-in for tests.
        sys: /sys, likewise.
    """

    launcher: Launcher
    env: Mapping[str, str]
    results: Path
    data: Path
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")

    def read(self, path: Path) -> str | None:
        """Text of a file without its last newline; `None` if it cannot be read."""
        try:
            return path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None


Probe = Callable[[Place], Check]


def existing(path: Path) -> Path:
    """The path itself, or the nearest folder above it that exists."""
    path = path.absolute()
    return next(folder for folder in (path, *path.parents) if folder.exists())
