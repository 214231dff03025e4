"""Conditions of dependencies: the platforms for which Cargo.toml has them.

A condition is a target such as ``x86_64-unknown-linux-gnu``, or an expression such as
``cfg(all(unix, not(target_env = "musl")))``. As cargo does, it is compared with ``rustc --print cfg``.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench_framework.errors import MachineError
from bench_framework.execution.machine.host import environment
from bench_framework.execution.process import Launcher

_TOKEN: Final = re.compile(r'\s*(?:(\w+)\s*=\s*"([^"]*)"|(all|any|not|cfg)\s*\(|(\w+)|([),]))')
_HOST: Final = re.compile(r"^host: (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Platform:
    """The target that rustc builds for, and its configuration, such as ``target_os="linux"``."""

    target: str
    settings: frozenset[str]

    def meets(self, condition: str) -> bool:
        """Return whether the platform meets a condition; false if it cannot be read."""
        if not condition.startswith("cfg("):
            return condition == self.target
        groups: list[tuple[str, list[bool]]] = [("all", [])]
        for match in _TOKEN.finditer(condition):
            name, value, operator, word, close = match.groups()
            if operator:
                groups.append((operator, []))
            elif close == ")" and len(groups) > 1:
                outcome = _joined(*groups.pop())
                groups[-1][1].append(outcome)
            elif name or word:
                setting = f'{name}="{value}"' if name else word
                groups[-1][1].append(setting in self.settings or setting == "true")
        return len(groups) == 1 and _joined(*groups[0])


def _joined(operator: str, parts: list[bool]) -> bool:
    if operator == "any":
        return any(parts)
    return all(parts) != (operator == "not")


def platform_of(crate: Path) -> Platform | None:
    """Return the platform that rustc builds for in the folder of a crate; `None` if rustc cannot be run."""
    options = "-vV", "--print=cfg"
    try:
        with Launcher() as launcher:
            version, cfg = (
                launcher.capture(["rustc", option], environment(), cwd=str(crate)).stdout
                for option in options
            )
    except MachineError:
        return None
    target = _HOST.search(version)
    return Platform(target[1], frozenset(cfg.splitlines())) if target and cfg else None
