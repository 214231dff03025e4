"""Output of cargo: messages, progress and errors of a build, and the packages of a workspace."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench_framework.errors import MachineError, UsageError
from bench_framework.execution.machine.host import environment, seconds
from bench_framework.execution.machine.system import require_linux
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import BuildStep, Observer
from bench_framework.foreign import parse_json
from bench_framework.model.faults import FaultCode
from bench_framework.text.reasons import phrase_of

_TREE_LINE: Final = re.compile(
    r"(?P<depth>\d+)(?P<name>[A-Za-z_][\w-]*) v(?P<version>\S+)(?: \(proc-macro\))?"
    r"(?P<folder> \(/.*\))?(?: \(\S+#(?P<commit>[0-9a-f]+)\))?"
)
MOST_MESSAGES: Final = 64 << 20
"""Bytes that are kept of each output of cargo: its messages are about 2 KB per crate."""
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
    folder: str = ""
    """Folder of the package of the binary."""


def read_messages(file: Path, binary: str, *, bench: bool = False) -> Messages:
    """Read cargo's messages; other lines, such as the output of a build script, are ignored.

    `binary` is a binary target, or a `bench` target.
    """
    lines = file.read_bytes().splitlines() if file.is_file() else []
    artifacts = [message for line in lines if (message := _artifact(line)) is not None]
    equal = [m for m in artifacts if m.get("executable") and m["target"]["name"] == binary]
    binaries = [m for m in equal if not bench or "bench" in m["target"].get("kind", ())]
    if not binaries:
        return Messages()
    packages = {message["package_id"] for message in artifacts} - {binaries[-1]["package_id"]}
    fresh = all(message.get("fresh") for message in artifacts)
    files: dict[str, tuple[str, ...]] = {}
    for message in artifacts:
        # ``registry+https://…#libc@0.2.1``, or ``path+file:///…/tally#0.1.0`` for a folder ``tally``.
        place, _, name = message["package_id"].rpartition("#")
        package = name.partition("@")[0] if "@" in name else place.rpartition("/")[2]
        if built := message.get("filenames"):
            files[package] = (*files.get(package, ()), *built)
    folder = str(Path(binaries[-1].get("manifest_path", "")).parent) if bench else ""
    return Messages(binaries[-1]["executable"], fresh, len(packages), files, folder)


def direct_dependencies(tree: str) -> tuple[tuple[str, str], ...]:
    """Return name and version of the direct dependencies in ``cargo tree --prefix=depth``.

    A crate in a folder, such as one of the same workspace, is replaced by its own dependencies.
    """
    packages: set[tuple[str, str]] = set()
    followed = 0
    """Depth down to which the packages above the current line are crates in folders."""
    for match in filter(None, map(_TREE_LINE.match, tree.splitlines())):
        depth = int(match["depth"])
        if depth > followed:
            continue
        followed = depth + 1 if match["folder"] else depth
        if not match["folder"]:
            packages.add((match["name"], match["version"]))
    return tuple(sorted(packages))


def packages_of(tree: str) -> tuple[tuple[str, str], ...]:
    """Return the name and the versions of each package in ``cargo tree``, without those in folders.

    A package from a repository has its commit: ``1.0.0 (1a2b3c4d)``.
    """
    versions: dict[str, set[str]] = {}
    for match in filter(None, map(_TREE_LINE.match, tree.splitlines())):
        if not match["folder"]:
            commit = f" ({match['commit']})" if match["commit"] else ""
            versions.setdefault(match["name"], set()).add(f"{match['version']}{commit}")
    return tuple((name, ", ".join(sorted(listed))) for name, listed in sorted(versions.items()))


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

    def poll(self) -> None:
        """Read new messages. A fresh build ends before the first call."""
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


@dataclass(frozen=True, slots=True)
class Dependency:
    """A direct dependency of a package, for its program itself."""

    name: str
    optional: bool = False
    condition: str = ""
    """The platforms that have it, such as ``cfg(unix)``; empty if all have it."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package of a workspace, or a crate that is in none."""

    name: str
    version: str
    folder: Path
    root: Path
    """Folder of the workspace."""
    default: bool
    """True for a default member of the workspace."""
    bins: Mapping[str, tuple[str, ...]]
    """Names of the binary targets, each with its required features."""
    default_run: str | None
    features: Mapping[str, tuple[str, ...]]
    """Each feature with what it enables: features, ``dep:NAME`` and ``NAME/FEATURE``."""
    dependencies: tuple[Dependency, ...]
    """The direct dependencies, without those of build scripts, tests and benchmarks."""
    rust_version: str | None
    local: tuple[Path, ...] = ()
    """Folders of all dependencies that are given by a path."""


def read_packages(folder: Path) -> tuple[Package, ...]:
    """Run ``cargo metadata --no-deps`` in a crate's folder. It needs no network.

    Raises:
        UsageError: BX124, cargo cannot read the crate.
        MachineError: BX231, cargo cannot be started; BC410, this is not Linux.
    """
    require_linux()
    argv = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    with Launcher() as launcher:
        try:
            output = launcher.capture(argv, environment(), cwd=str(folder), most=MOST_MESSAGES)
        except MachineError as error:
            error.amend("BX231.cargo-for-metadata")
            raise
    try:
        if output.ok:
            data = parse_json(output.stdout)
            return tuple(_package(item, data) for item in data["packages"])
        text = failure_text(output.stderr) or output.finished.how
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        text = phrase_of(FaultCode.NOT_CARGO_METADATA, repr(error))
    raise UsageError("BX124", details=(("cargo", text),), folder=folder)


def _package(item: dict[str, Any], data: dict[str, Any]) -> Package:
    targets = [target for target in item["targets"] if "bin" in target["kind"]]
    direct = [part for part in item["dependencies"] if part["kind"] is None]
    return Package(
        item["name"],
        item["version"],
        Path(item["manifest_path"]).parent,
        Path(data["workspace_root"]),
        item["id"] in data.get("workspace_default_members", ()),
        {target["name"]: tuple(target.get("required-features", ())) for target in targets},
        item.get("default_run"),
        {name: tuple(enabled) for name, enabled in item["features"].items()},
        tuple(Dependency(p["name"], p["optional"], p.get("target") or "") for p in direct),
        item.get("rust_version"),
        tuple(Path(part["path"]) for part in item["dependencies"] if part.get("path")),
    )
