"""The released crate of ``benchctl init --registry``: its sources, and the releases before it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench_framework.errors import BuildError
from bench_framework.execution.build import sources
from bench_framework.execution.machine.host import cache_root, environment
from bench_framework.execution.machine.system import require_linux
from bench_framework.execution.process import Launcher
from bench_framework.scenario import scalars
from bench_framework.workflow.scenarios.request import unfit

_CRATE: Final = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
_EARLIER: Final = 2
"""Earlier releases that are compared with a release."""


@dataclass(frozen=True, slots=True)
class Release:
    """A released crate: its folder in the cache, and its place in a registry."""

    name: str
    version: str
    folder: Path
    source: str
    earlier: tuple[str, ...]
    """The releases before it that the registry has, the oldest first."""
    given: bool
    """True if the user gave the version, and did not ask for the last releases."""

    @property
    def compared(self) -> bool:
        """True if the releases are compared."""
        return bool(self.earlier) and not self.given


def fetch_release(text: str) -> Release:
    """Return a crate for ``NAME@VERSION``, or the newest release for ``NAME``.

    Raises:
        UsageError: BX124, it is neither of them.
        BuildError: BX226, cargo cannot fetch it.
        MachineError: cargo cannot be started.
    """
    name, at, version = text.partition("@")
    try:
        version = scalars.version(version) if at else ""
    except scalars.Refused:
        name = f"@{name}"
    if not _CRATE.fullmatch(name):
        raise unfit("BX124.not-a-release", text=text, name=name.removeprefix("@") or "NAME")
    require_linux()
    with Launcher() as launcher:
        env = environment()
        version = version or sources.newest(launcher, env, name)
        released = sources.fetch(launcher, env, cache_root() / "registry", name, version)
        earlier = _earlier(launcher, name, version)
    return Release(name, version, released.folder, released.source, earlier, bool(at))


def _earlier(launcher: Launcher, name: str, version: str) -> tuple[str, ...]:
    """Return the releases before a version, as far as cargo finds some."""
    versions: list[str] = []
    try:
        for _ in range(_EARLIER):
            before = versions[0] if versions else version
            versions.insert(0, sources.newest(launcher, environment(), name, f"<{before}"))
    except BuildError:
        return tuple(versions)
    return tuple(versions)
