"""Types of a check: its result and the part of the machine that it reads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench_framework.execution.process import Launcher

State = Literal["ok", "warn", "bad"]
"""``warn``: results are noisier or less complete; ``bad``: something cannot be measured."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check: `figure` is what was measured, `meaning` its effect on the results."""

    name: str
    state: State
    figure: str
    meaning: str = ""
    fix: str = ""


def ok(figure: str, meaning: str = "") -> Check:
    """Return a passed check. The registry has its name."""
    return Check("", "ok", figure, meaning)


def warn(figure: str, meaning: str, fix: str = "") -> Check:
    """Return a check with an effect on results."""
    return Check("", "warn", figure, meaning, fix)


def bad(figure: str, meaning: str, fix: str) -> Check:
    """Return a check of something that cannot be measured."""
    return Check("", "bad", figure, meaning, fix)


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine as checks read it.

    The folders `results` and `data` need not exist. Tests replace `proc` and `sys`.
    """

    launcher: Launcher
    env: Mapping[str, str]
    results: Path
    data: Path
    proc: Path = Path("/proc")
    sys: Path = Path("/sys")

    def read(self, path: Path) -> str | None:
        """Return the text of a file, stripped; `None` if it cannot be read."""
        try:
            return path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None


Probe = Callable[[Machine], Check]
