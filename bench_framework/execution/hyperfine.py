"""Find, install and call hyperfine. `store.harnesses` reads its JSON.

The reasons for the options are in docs/method.md#schedule, those for the versions and the wheel in
docs/decisions/0008-hyperfine-from-a-wheel.md. ``tests/fixtures/hyperfine`` has
examples of its JSON.
"""

import contextlib
import importlib.util
import math
import os
import re
import shlex
import shutil
import statistics
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import CellError, MachineError
from bench_framework.execution.machine.host import cache_root, seconds, version_of
from bench_framework.execution.process import Command, Finished, Launcher, with_secrets
from bench_framework.execution.progress import Observer, ToolInstall
from bench_framework.foreign import parse_json, text_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.store.harnesses import read_export
from bench_framework.store.layout import writing
from bench_framework.text.reasons import phrase_of

Version = tuple[int, int, int]
MINIMUM: Final[Version] = (1, 18, 0)
NUMBERS_RUNS: Final[Version] = (1, 19, 0)
"""First version that sets HYPERFINE_ITERATION."""
WHEEL: Final = "astral-dev-toolchain-hyperfine"
WHEEL_VERSION: Final = "2.0.0"
WHEEL_HASHES: Final = (
    "ca06019e2064799b1c69f756ec2666d63a3e3a5f6c1277c29097f508a74d2eed",  # x86_64
    "bd976277bb45cf9395e54fdf2b5569ded300188324bc898679514cc5b4f7a988",  # aarch64
)
"""SHA-256 of the wheel for each architecture. pip and uv select the one that fits."""
BUILT: Final = "1.20.0"
"""Newest version that builds with the minimum rustc of this project."""
OPTIONS: Final = ("--shell=none", "--style", "none", "--warmup", "0", "--ignore-failure")
INSTALL_TIMEOUT_S: Final = 1800.0
DOWNLOAD_TIMEOUT_S: Final = 120.0
FROM_WHEEL: Final = "PyPI wheel"
FROM_CARGO: Final = "built with cargo"
_VERSION: Final = re.compile(r"hyperfine (\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Hyperfine:
    """Absolute path and version of a hyperfine, and where it was found or came from."""

    path: str
    version: Version
    origin: str = ""

    @property
    def name(self) -> str:
        """Return name and version, such as ``hyperfine 1.20.0``."""
        return "hyperfine {}.{}.{}".format(*self.version)

    @property
    def description(self) -> str:
        """Return name, version and origin, such as ``hyperfine 2.0.0 (PyPI wheel)``."""
        return f"{self.name} ({self.origin})" if self.origin else self.name

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
        raise _unreadable(phrase_of(PhraseCode.SEVERAL_RESULTS, len(results)))
    only = results[0]
    if not all(map(math.isfinite, only.memory)):
        raise _unreadable(phrase_of(PhraseCode.MEMORY_NOT_FINITE))
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
    """Yield ``BENCHCTL_HYPERFINE``, or those on PATH, of this Python and in the cache, of any version."""
    scripts = Path(sysconfig.get_path("scripts"), "hyperfine")
    places = [
        (shutil.which("hyperfine", path=env.get("PATH")), "PATH"),
        (scripts, "Python environment"),
        (cached_path(env, WHEEL_VERSION), FROM_WHEEL),
        (cached_path(env, BUILT), FROM_CARGO),
    ]
    if configured := env.get("BENCHCTL_HYPERFINE"):
        places = [(configured, "BENCHCTL_HYPERFINE")]
    for path, origin in places:
        if path and (version := probe(launcher, env, str(path))) is not None:
            yield Hyperfine(str(Path(path).absolute()), version, origin)


def find(launcher: Launcher, env: Mapping[str, str], progress: Observer) -> Hyperfine:
    """Find hyperfine, see `installed`; without one, install the wheel or build it into the cache.

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
    tried = [("found", phrase_of(PhraseCode.TOO_OLD, tool.path, tool.name)) for tool in too_old]
    for name, version, origin, install in (
        ("wheel", WHEEL_VERSION, FROM_WHEEL, install_wheel),
        ("cargo", BUILT, FROM_CARGO, install_with_cargo),
    ):
        path = cached_path(env, version)
        failure = install(launcher, env, path.parent.parent, progress)
        if (given := probe(launcher, env, str(path))) is not None:
            return Hyperfine(str(path), given, origin)
        tried.append((name, failure))
    raise MachineError("BC403.not-installed", details=tuple(tried), wheel=WHEEL, version=BUILT)


def cached_path(env: Mapping[str, str], version: str) -> Path:
    """Return the path at which `find` installs a version of hyperfine."""
    return cache_root(env) / "tools" / f"hyperfine-{version}" / "bin" / "hyperfine"


def probe(launcher: Launcher, env: Mapping[str, str], path: str) -> Version | None:
    """Return the version of a hyperfine; `None` if the program is not hyperfine."""
    text = version_of(launcher, path, env) if Path(path).is_file() else None
    match = _VERSION.search(text or "")
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def run_install(
    launcher: Launcher, command: Command, name: str, version: str, progress: Observer
) -> Finished:
    """Run cargo, pip or uv, which install a tool, and report the progress. Raises as `Launcher.run`."""
    start, built = seconds(), command.argv[0] == "cargo"

    def report() -> None:
        progress.notify(ToolInstall(name, version, seconds() - start, built=built))

    progress.notify(ToolInstall(name, version, 0.0, built=built))
    return launcher.run(command, report)


def installer(env: Mapping[str, str]) -> list[str] | None:
    """Return the command that installs a wheel: pip of this Python, else uv, else pip on PATH.

    They use the index, certificates, proxy and credentials that the user has configured. uv makes
    environments without pip, and sets ``UV`` for its children.
    """
    if importlib.util.find_spec("pip"):
        # With -P, a file pip.py in the current folder is not run.
        return [sys.executable, "-P", "-m", "pip", "install"]
    if uv := env.get("UV") or shutil.which("uv", path=env.get("PATH")):
        return [uv, "pip", "install", "--python", sys.executable]
    pip = shutil.which("pip3", path=env.get("PATH"))
    return [pip, "install"] if pip else None


def install_wheel(
    launcher: Launcher, env: Mapping[str, str], root: Path, progress: Observer
) -> str:
    """Install the wheel of hyperfine as `root`, and check its hash. Return why it failed, in one line."""
    words = installer(env)
    if words is None:
        return phrase_of(PhraseCode.NO_INSTALLER)
    part = root.with_name(f"{root.name}-{os.getpid()}.part")
    log, list_of_hashes = part / "install.log", part / "wheel.txt"
    with writing(part):
        part.mkdir(parents=True, exist_ok=True)
        hashes = " ".join(f"--hash=sha256:{digest}" for digest in WHEEL_HASHES)
        list_of_hashes.write_text(f"{WHEEL}=={WHEEL_VERSION} {hashes}\n", encoding="utf-8")
    # With `user` in its configuration, pip refuses --target.
    settings = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
    settings |= {"PIP_RETRIES": env.get("PIP_RETRIES", "1")}
    argv = [*words, "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    argv += ["--target", str(part), "--requirement", str(list_of_hashes)]
    command = Command(
        argv, {**env, **settings}, stdout=str(log), stderr=str(log), timeout_s=DOWNLOAD_TIMEOUT_S
    )
    name = "uv" if "--python" in words else "pip"
    failure = f"{name}: {_install(launcher, command, WHEEL_VERSION, progress)}"
    with writing(root):
        if (part / "bin" / "hyperfine").is_file():
            shutil.rmtree(root, ignore_errors=True)
            with contextlib.suppress(OSError):  # another process installed it meanwhile
                part.rename(root)
        shutil.rmtree(part, ignore_errors=True)
    return failure


def install_with_cargo(
    launcher: Launcher, env: Mapping[str, str], root: Path, progress: Observer
) -> str:
    """Build hyperfine with cargo into `root`. Return why it failed, in one line."""
    if shutil.which("cargo", path=env.get("PATH")) is None:
        return phrase_of(PhraseCode.NOT_ON_PATH)
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
    log = str(root / "install.log")
    argv = ["cargo", "install", "--locked", f"hyperfine@{BUILT}", "--root", str(root)]
    command = Command(argv, env, stdout=log, stderr=log, timeout_s=INSTALL_TIMEOUT_S)
    return _install(launcher, command, BUILT, progress)


def _install(launcher: Launcher, command: Command, version: str, progress: Observer) -> str:
    """Run the command of an installer. Return the last error in its output, else its last line.

    pip writes ``ERROR:``, uv and cargo ``error:``.
    """
    try:
        finished = run_install(launcher, command, "hyperfine", version, progress)
    except MachineError as error:
        return next((text for name, text in error.details if name == "cause"), error.message)
    lines = text_of(Path(command.stdout or "")).strip().splitlines() or [""]
    errors = (line for line in reversed(lines) if line.lower().startswith("error"))
    return finished.how if finished.timed_out else next(errors, lines[-1])
