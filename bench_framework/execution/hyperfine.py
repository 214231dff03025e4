"""The one module that knows hyperfine: where it is and its flags. Its JSON is read by `store.importers.hyperfine`.

What each version does, and why it is called this way, is in docs/method.md; the shapes of its JSON are in
``tests/fixtures/hyperfine``.
"""

from __future__ import annotations

import re
import shlex
import shutil
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.errors import CellError, MachineError
from bench_framework.execution.host import cache_root, seconds
from bench_framework.execution.process import Command, Launcher
from bench_framework.execution.progress import Observer, ToolInstall
from bench_framework.store.importers.hyperfine import read_export
from bench_framework.store.layout import writing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Version = tuple[int, int, int]
MINIMUM: Final[Version] = (1, 20, 0)
INSTALLED: Final = "1.20.0"
"""Newest version that builds with the rustc that this project asks for."""
UNREADABLE: Final = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What a document that is not hyperfine's JSON raises in its reader."""
INSTALL_TIMEOUT_S: Final = 1800.0
_VERSION: Final = re.compile(r"hyperfine (\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Hyperfine:
    """A hyperfine that was found: its absolute path and version."""

    path: str
    version: Version

    @property
    def name(self) -> str:
        """``hyperfine 1.20.0``."""
        return "hyperfine {}.{}.{}".format(*self.version)

    def call(
        self, argv: Sequence[str], *, runs: int, output: str, stdin: str | None, export: Path
    ) -> list[str]:
        """The argument list that times one command `runs` times in a row.

        Args:
            argv: the command; it reaches hyperfine as one argument, which hyperfine splits itself.
            runs: how often.
            output: ``pipe``, ``null``, or the absolute path of the file that receives stdout.
            stdin: absolute path of the file that the command reads; /dev/null if `None`.
            export: where the JSON goes.
        """
        return [
            self.path,
            "--shell=none",
            "--style",
            "none",
            "--warmup",
            "0",
            "--runs",
            str(runs),
            "--ignore-failure",
            "--export-json",
            str(export),
            "--input",
            stdin or "null",
            "--output",
            output,
            "--",
            shlex.join(argv),
        ]


@dataclass(frozen=True, slots=True)
class HyperfineResult:
    """What hyperfine measured: seconds and bytes.

    Attributes:
        times: wall time of each run.
        user: CPU time in user mode, mean over the runs (1.x exports no other).
        system: CPU time in the kernel, likewise.
        memory_bytes: largest resident set of the runs; `None` where hyperfine did not say. 1.20's figures are
            a running maximum over all its children, so only one figure per call means anything.
        exit_codes: of each run; 128 + n for signal n.
    """

    times: tuple[float, ...]
    user: float
    system: float
    memory_bytes: int | None
    exit_codes: tuple[int | None, ...]


def parse(text: str | bytes) -> HyperfineResult:
    """Read the JSON of one command: version 1, with or without memory, or schema version 2.

    Raises:
        CellError: BX233, it is not JSON or not hyperfine's, or holds no or several commands.
    """
    try:
        results = read_export(text).commands
    except UNREADABLE as error:
        raise _unreadable(f"{type(error).__name__}: {error}") from error
    if len(results) != 1:
        raise _unreadable(f"it holds {len(results)} results; one was asked for")
    only = results[0]
    return HyperfineResult(
        only.times,
        statistics.fmean(only.user),
        statistics.fmean(only.system),
        int(max(only.memory)) if only.memory else None,
        only.exit_codes,
    )


def _unreadable(cause: str) -> CellError:
    return CellError(
        "hyperfine's JSON cannot be read",
        code="BX233",
        details=(("cause", cause),),
        help="run again with -v; if it stays, `benchctl doctor` shows which hyperfine is used",
    )


def find(launcher: Launcher, env: Mapping[str, str], progress: Observer) -> Hyperfine:
    """The hyperfine to measure with: ``BENCHCTL_HYPERFINE``, PATH, our cache, or installed into it by cargo.

    Raises:
        MachineError: BC403, none was found and none could be installed, or the one named is unfit.
    """
    if named := env.get("BENCHCTL_HYPERFINE"):
        return _named(launcher, env, named)
    seen: list[tuple[str, str]] = []
    cached = cached_path(env)
    for path in (shutil.which("hyperfine", path=env.get("PATH")), str(cached)):
        version = path and probe(launcher, env, path)
        if path and version:
            if version >= MINIMUM:
                return Hyperfine(str(Path(path).absolute()), version)
            seen.append(("found", f"{path} {'.'.join(map(str, version))}, too old"))
    log = install(launcher, env, cached.parent.parent, progress)
    version = probe(launcher, env, str(cached))
    if version is None:
        raise _missing((*seen, ("cargo", log)))
    return Hyperfine(str(cached), version)


def cached_path(env: Mapping[str, str]) -> Path:
    """Where `find` installs hyperfine."""
    return cache_root(env) / "tools" / f"hyperfine-{INSTALLED}" / "bin" / "hyperfine"


def probe(launcher: Launcher, env: Mapping[str, str], path: str) -> Version | None:
    """The version that a program calls itself by; `None` if it is no hyperfine."""
    if not Path(path).is_file():
        return None
    try:
        said = launcher.capture([path, "--version"], env, timeout_s=20)
    except MachineError:
        return None
    match = _VERSION.search(said.stdout)
    return (int(match[1]), int(match[2]), int(match[3])) if said.ok and match else None


def install(launcher: Launcher, env: Mapping[str, str], root: Path, progress: Observer) -> str:
    """``cargo install`` into `root`, announced. Returns the last line that cargo said."""
    progress.notify(ToolInstall("hyperfine", INSTALLED, 0.0))
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
    log, start = root / "install.log", seconds()
    argv = ["cargo", "install", "--locked", f"hyperfine@{INSTALLED}", "--root", str(root)]
    try:
        launcher.run(
            Command(argv, env, stdout=str(log), stderr=str(log), timeout_s=INSTALL_TIMEOUT_S),
            lambda: progress.notify(ToolInstall("hyperfine", INSTALLED, seconds() - start)),
        )
    except MachineError as error:
        return next((text for name, text in error.details if name == "cause"), error.message)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return next(
        (line for line in reversed(lines) if line.startswith("error")), lines[-1] if lines else ""
    )


def _named(launcher: Launcher, env: Mapping[str, str], path: str) -> Hyperfine:
    version = probe(launcher, env, path)
    if version is None or version < MINIMUM:
        why = (
            "is no hyperfine that runs"
            if version is None
            else f"is {'.'.join(map(str, version))}, too old"
        )
        raise _missing(
            (),
            f"BENCHCTL_HYPERFINE names {path}, which {why}",
            "unset it, and benchctl finds or installs one, or name hyperfine 1.20 or newer",
        )
    return Hyperfine(str(Path(path).absolute()), version)


def _missing(
    details: tuple[tuple[str, str], ...],
    message: str = "hyperfine ≥ 1.20 not found and cargo could not install it",
    help_text: str | None = None,
) -> MachineError:
    return MachineError(
        message,
        code="BC403",
        details=details,
        effect="nothing was measured",
        help=help_text
        or f"cargo install --locked hyperfine@{INSTALLED}, or set BENCHCTL_HYPERFINE",
    )
