"""Find, install and call hyperfine. `store.harnesses` reads its JSON.

The reasons for the options are in docs/method.md#schedule. ``tests/fixtures/hyperfine`` has
examples of its JSON.
"""

import math
import re
import shlex
import shutil
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import CellError, MachineError
from bench_framework.execution.machine.host import cache_root, seconds, version_of
from bench_framework.execution.process import Command, Finished, Launcher, with_secrets
from bench_framework.execution.progress import Observer, ToolInstall
from bench_framework.foreign import parse_json, text_of
from bench_framework.store.harnesses import read_export
from bench_framework.store.layout import writing

Version = tuple[int, int, int]
MINIMUM: Final[Version] = (1, 20, 0)
INSTALLED: Final = "1.20.0"
"""Newest version that builds with the minimum rustc of this project."""
OPTIONS: Final = ("--shell=none", "--style", "none", "--warmup", "0", "--ignore-failure")
INSTALL_TIMEOUT_S: Final = 1800.0
_VERSION: Final = re.compile(r"hyperfine (\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Hyperfine:
    """Absolute path and version of a hyperfine."""

    path: str
    version: Version

    @property
    def name(self) -> str:
        """Return name and version, such as ``hyperfine 1.20.0``."""
        return "hyperfine {}.{}.{}".format(*self.version)

    def call(
        self, argv: Sequence[str], *, runs: int, output: str, stdin: str | None, export: Path
    ) -> list[str]:
        """Return the arguments that time a command. `output` is ``null`` or a path."""
        words = [self.path, *OPTIONS, "--runs", str(runs), "--export-json", str(export)]
        words += ["--input", stdin or "null", "--output", output]
        return [*words, "--", shlex.join(with_secrets(argv))]


def parse(text: str | bytes) -> dict[str, Any]:
    """Read the JSON of one command as fields of a `Block`, of any version of hyperfine.

    CPU times are means over the runs: 1.x exports only those. 1.20 reports memory as a running
    maximum over all its children, so only one value per call is valid.

    Raises:
        CellError: BX233, it is not JSON of hyperfine, or does not contain exactly one command.
    """
    try:
        _, results = read_export(parse_json(text))
    except ValueError as error:
        raise _unreadable(str(error)) from error
    if len(results) != 1:
        raise _unreadable(f"it contains {len(results)} results instead of one")
    only = results[0]
    if not all(map(math.isfinite, only.memory)):
        raise _unreadable("the memory of a run is not a finite number")
    peak = int(max(only.memory)) if only.memory else None
    return {
        "wall_s": only.times,
        "user_s": statistics.fmean(only.user),
        "sys_s": statistics.fmean(only.system),
        "peak_rss_bytes": peak,
        "peak_rss_source": None if peak is None else "hyperfine",
        "exit_codes": only.exit_codes,
    }


def _unreadable(cause: str) -> CellError:
    return CellError("BX233", details=(("cause", cause),))


def installed(launcher: Launcher, env: Mapping[str, str]) -> Iterator[Hyperfine]:
    """Yield ``BENCHCTL_HYPERFINE``, or those on PATH and in the cache, of any version."""
    paths = [shutil.which("hyperfine", path=env.get("PATH")), str(cached_path(env))]
    if configured := env.get("BENCHCTL_HYPERFINE"):
        paths = [configured]
    for path in paths:
        if path and (version := probe(launcher, env, path)) is not None:
            yield Hyperfine(str(Path(path).absolute()), version)


def find(launcher: Launcher, env: Mapping[str, str], progress: Observer) -> Hyperfine:
    """Find hyperfine: ``BENCHCTL_HYPERFINE``, PATH, the cache, or installed there with cargo.

    Raises `MachineError` (BC403): none was found and none could be installed, or
    ``BENCHCTL_HYPERFINE`` is not hyperfine or too old.
    """
    too_old = []
    for tool in installed(launcher, env):
        if tool.version >= MINIMUM:
            return tool
        too_old.append(tool)
    if configured := env.get("BENCHCTL_HYPERFINE"):
        old = too_old[0].name if too_old else ""
        raise MachineError("BC403.configured", path=configured, old=old)
    path = cached_path(env)
    log = install(launcher, env, path.parent.parent, progress)
    version = probe(launcher, env, str(path))
    if version is None:
        rejected = (("found", f"{tool.path}, which is {tool.name}, too old") for tool in too_old)
        details = (*rejected, ("cargo", log))
        raise MachineError("BC403.not-installed", details=details, version=INSTALLED)
    return Hyperfine(str(path), version)


def cached_path(env: Mapping[str, str]) -> Path:
    """Return the path at which `find` installs hyperfine."""
    return cache_root(env) / "tools" / f"hyperfine-{INSTALLED}" / "bin" / "hyperfine"


def probe(launcher: Launcher, env: Mapping[str, str], path: str) -> Version | None:
    """Return the version of a hyperfine; `None` if the program is not hyperfine."""
    text = version_of(launcher, path, env) if Path(path).is_file() else None
    match = _VERSION.search(text or "")
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def run_install(
    launcher: Launcher, command: Command, name: str, version: str, progress: Observer
) -> Finished:
    """Run cargo, which builds a tool, and report the progress. Raises as `Launcher.run`."""
    start = seconds()

    def report() -> None:
        progress.notify(ToolInstall(name, version, seconds() - start))

    report()
    return launcher.run(command, report)


def install(launcher: Launcher, env: Mapping[str, str], root: Path, progress: Observer) -> str:
    """Install hyperfine with cargo into `root`. Return the last line of cargo's output."""
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
    log = root / "install.log"
    argv = ["cargo", "install", "--locked", f"hyperfine@{INSTALLED}", "--root", str(root)]
    command = Command(argv, env, stdout=str(log), stderr=str(log), timeout_s=INSTALL_TIMEOUT_S)
    try:
        run_install(launcher, command, "hyperfine", INSTALLED, progress)
    except MachineError as error:
        return next((text for name, text in error.details if name == "cause"), error.message)
    lines = text_of(log).strip().splitlines() or [""]
    return next((line for line in reversed(lines) if line.startswith("error")), lines[-1])
