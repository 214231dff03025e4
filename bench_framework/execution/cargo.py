"""Builds: what a variant asks of cargo, asked; the binary stored by its digest.

cargo itself says whether anything must be built: a fresh build costs it 65 ms here, so a second run of twelve
variants is checked in under a second, and a stamp of our own could only be wrong where cargo's is right.

All builds of one source folder share a build directory (``CARGO_BUILD_BUILD_DIR``, stable since 1.91), so a
dependency is compiled once for all variants that use it alike; each has a target directory of its own for its
binary. Two folders never share one: cargo names its units by paths relative to the workspace, so a working
tree would be given the objects of another revision of it wherever its files are older than those.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework import assets
from bench_framework.errors import BuildError, MachineError, MeasureError
from bench_framework.execution import binaries, revisions
from bench_framework.execution.cargo_messages import Messages, Steps, failure_text, read_messages
from bench_framework.execution.host import cache_root, seconds
from bench_framework.execution.process import Command
from bench_framework.execution.progress import BuildFinished
from bench_framework.model.run import Build
from bench_framework.store.layout import writing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.execution.process import Launcher
    from bench_framework.execution.progress import Observer
    from bench_framework.model.plan import BuildSpec, Plan

BUILD_TIMEOUT_S: Final = 7200.0
BUILTIN: Final = "builtin"
SEPARATOR: Final = "\x1f"
"""Between flags in CARGO_ENCODED_RUSTFLAGS: a flag may hold blanks."""
_BUILD_VARIABLE: Final = re.compile(
    r"RUSTFLAGS|CARGO_ENCODED_RUSTFLAGS|RUSTC|CARGO_BUILD_(RUSTFLAGS|RUSTC|TARGET)"
    r"|CARGO_TARGET_.+_(RUSTFLAGS|LINKER|RUNNER)|CARGO_PROFILE_.+"
)
"""Variables by which the user's shell would change a binary behind the scenario's back: not passed to cargo.

A variant that names flags of its own would lose those of the shell and the others would keep them, so the two
would differ in more than the scenario says. What is wanted stands in the scenario. A wrapper such as sccache
changes no binary and stays.
"""


@dataclass(slots=True)
class Builder:
    """Builds the specs of one plan. Holds what is the same for several of them."""

    launcher: Launcher
    env: Mapping[str, str]
    observer: Observer
    contract: bool
    """Whether the binaries are asked to describe themselves."""
    place: Path
    """Where they will work."""
    further: tuple[str, ...] = ()
    """Arguments of cargo beyond those of the spec."""
    _rustc: dict[tuple[str | None, Path], str | None] = field(default_factory=dict)
    _states: dict[Path, tuple[str | None, bool | None]] = field(default_factory=dict)

    @property
    def cache(self) -> Path:
        """Root of the cache."""
        return cache_root(self.env)

    def build(self, spec: BuildSpec, index: int, total: int) -> Build:
        """One build. What fails is in its `message`, not an exception."""
        label = label_of(spec)
        try:
            build = self._build(spec, label, index, total)
        except MeasureError as error:
            causes = "\n".join(f"{name}: {text}" for name, text in error.details if text)
            build = Build(spec.id, ok=False, message=f"{error.message}\n{causes}".strip())
        self.observer.notify(BuildFinished(build, label, index, total))
        return build

    def _build(self, spec: BuildSpec, label: str, index: int, total: int) -> Build:
        crate, commit, dirty = self._source(spec)
        log = self.cache / "builds" / f"{spec.id}.log"
        messages = log.with_suffix(".jsonl")
        with writing(log):
            log.parent.mkdir(parents=True, exist_ok=True)
            for path in (log, messages):
                path.unlink(missing_ok=True)
        steps = Steps(spec.id, label, index, total, messages, self.observer)
        start = seconds()
        finished = self.launcher.run(
            Command(
                [*arguments(spec, crate), *self.further],
                self._environment(spec, crate),
                str(crate),
                stdout=str(messages),
                stderr=str(log),
                timeout_s=BUILD_TIMEOUT_S,
            ),
            steps.poll,
        )
        taken = seconds() - start
        said = read_messages(messages.read_bytes(), spec.bin) if messages.is_file() else Messages()
        if not finished.ok or said.executable is None:
            words = failure_text(log.read_text(encoding="utf-8", errors="replace") if log.is_file() else "")
            return Build(
                spec.id,
                ok=False,
                build_s=taken,
                rustc=self._version(spec, crate),
                revision=commit,
                dirty=dirty,
                message=words or f"cargo: {finished.how}",
                log=str(log),
            )
        build = self._stored(spec, crate, said)
        return replace(
            build,
            build_s=None if said.fresh else taken,
            cached=said.fresh,
            revision=commit,
            dirty=dirty,
            log=str(log),
        )

    def _stored(self, spec: BuildSpec, crate: Path, said: Messages) -> Build:
        assert said.executable is not None
        stored = binaries.keep(self.cache / "binaries", Path(said.executable), spec.bin)
        lock = lockfile_of(crate)
        bare = binaries.without_symbols(stored, self.launcher, self.env)
        return Build(
            spec.id,
            ok=True,
            sha256=stored.sha256,
            path=str(stored.path),
            control_path=str(stored.control),
            size_bytes=stored.size_bytes,
            stripped_bytes=bare.size_bytes if bare else None,
            code_sha256=bare.sha256 if bare else None,
            rustc=self._version(spec, crate),
            lockfile_sha256=hashlib.sha256(lock.read_bytes()).hexdigest() if lock else None,
            describe=binaries.describe([str(stored.path)], self.launcher, self.env, self.place)
            if self.contract
            else None,
            dependencies=said.dependencies,
        )

    def _source(self, spec: BuildSpec) -> tuple[Path, str | None, bool | None]:
        """Folder of the crate, commit id, and whether it has uncommitted changes."""
        git = revisions.Git(self.launcher, self.env)
        crate = None
        if spec.git is None:
            crate = assets.native_dir() if spec.crate == BUILTIN else Path(spec.crate)
            if not (crate / "Cargo.toml").is_file():
                raise BuildError(f"{crate} holds no Cargo.toml", code="BX222")
        if spec.git is not None or spec.revision is not None:
            folder, commit = revisions.checkout(
                git, self.cache, crate=crate, url=spec.git, revision=spec.revision
            )
            return folder, commit, False
        assert crate is not None
        if crate not in self._states:
            self._states[crate] = revisions.state_of(git, crate)
        return crate, *self._states[crate]

    def _environment(self, spec: BuildSpec, crate: Path) -> dict[str, str]:
        lock = lockfile_of(crate)
        folder = hashlib.sha256(str(lock.parent if lock else crate).encode()).hexdigest()[:16]
        env = {
            **{name: value for name, value in self.env.items() if not _BUILD_VARIABLE.fullmatch(name)},
            "CARGO_TARGET_DIR": str(self.cache / "cargo" / "target" / spec.id),
            "CARGO_BUILD_BUILD_DIR": str(self.cache / "cargo" / "build" / folder),
            "CARGO_TERM_COLOR": "never",
            "CARGO_TERM_PROGRESS_WHEN": "never",
            "CARGO_INCREMENTAL": "0",
        }
        if spec.rustflags:
            env["CARGO_ENCODED_RUSTFLAGS"] = SEPARATOR.join(spec.rustflags)
        if spec.toolchain:
            env["RUSTUP_TOOLCHAIN"] = spec.toolchain
        return env

    def _version(self, spec: BuildSpec, crate: Path) -> str | None:
        """The compiler's version line, asked where cargo runs: the crate may name a toolchain of its own."""
        key = (spec.toolchain, crate)
        if key not in self._rustc:
            env = self._environment(spec, crate)
            try:
                said = self.launcher.capture(["rustc", "-vV"], env, cwd=str(crate))
                lines = said.stdout.splitlines() if said.ok else []
            except MachineError:
                lines = []
            self._rustc[key] = lines[0] if lines else None
        return self._rustc[key]


def build_all(
    plan: Plan, launcher: Launcher, env: Mapping[str, str], observer: Observer, place: Path
) -> tuple[Build, ...]:
    """Every build of a plan, in its order; a failed one costs its own variants only.

    Args:
        plan: with the builds.
        launcher: starts cargo and the binaries.
        env: of cargo and the binaries.
        observer: told of the progress.
        place: where the binaries will work; what they can do there is asked of them.

    Raises:
        MachineError: BX231, cargo is not installed.
    """
    if plan.builds:
        try:
            launcher.capture(["cargo", "--version"], env)
        except MachineError as error:
            raise MachineError(
                "cargo cannot be started, and this scenario builds a crate",
                code="BX231",
                details=error.details,
                effect="nothing was built or measured",
                help="install Rust, or put cargo on PATH; `benchctl doctor` shows what is found",
            ) from error
    builder = Builder(launcher, env, observer, plan.answer.contract, place)
    total = len(plan.builds)
    return tuple(builder.build(spec, index, total) for index, spec in enumerate(plan.builds, start=1))


def arguments(spec: BuildSpec, crate: Path) -> list[str]:
    """The call of cargo for a spec whose crate lies in a folder."""
    argv = [
        "cargo", "build", "--message-format=json-render-diagnostics",
        "--manifest-path", str(crate / "Cargo.toml"), "--profile", spec.profile, "--bin", spec.bin,
    ]  # fmt: skip
    package = spec.package or (spec.bin if spec.crate == BUILTIN else None)
    if package:
        argv += ["--package", package]
    if spec.features:
        argv += ["--features", ",".join(spec.features)]
    if not spec.default_features:
        argv.append("--no-default-features")
    for key, value in spec.profile_keys:
        argv += ["--config", f"profile.{spec.profile}.{key}={toml_value(value)}"]
    if lockfile_of(crate):
        argv.append("--locked")
    return argv


def toml_value(text: str) -> str:
    """A profile key's value as TOML: numbers and booleans bare, all else quoted (``lto = "fat"``)."""
    if text in {"true", "false"} or text.lstrip("-").isdigit():
        return text
    return json.dumps(text)


def lockfile_of(crate: Path) -> Path | None:
    """The Cargo.lock that governs a crate: its own, or that of the workspace above it."""
    for folder in (crate, *crate.parents):
        if (folder / "Cargo.lock").is_file():
            return folder / "Cargo.lock"
        if (folder / ".git").exists():
            return None
    return None


def label_of(spec: BuildSpec) -> str:
    """Short words for a build: ``tally +jemalloc lto=fat``."""
    words = [spec.bin, *(f"+{feature}" for feature in spec.features)]
    words += [f"{key}={value}" for key, value in spec.profile_keys]
    words += spec.rustflags
    if spec.profile != "release":
        words.append(spec.profile)
    words += [text for text in (spec.toolchain, spec.revision) if text]
    return " ".join(words)
