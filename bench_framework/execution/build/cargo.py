"""Builds of variants with cargo; each binary is stored under its digest.

Cargo decides if anything must be built. A fresh build takes it 65 ms, so a second run of twelve
variants is checked in under a second.

All source folders of one repository share a build directory (``CARGO_BUILD_BUILD_DIR``, stable
since 1.91), so a dependency is compiled once for all revisions and variants that use it with the
same settings (module `sharing`). Each build has its own target directory for its binary.
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from bench_framework import assets
from bench_framework.errors import BuildError, MachineError, MeasureError
from bench_framework.execution import benches
from bench_framework.execution.build import binaries, commands, revisions, sharing, sources, symbols
from bench_framework.execution.build.configuration import (
    Wrapper,
    extended_flags,
    find_wrapper,
    lockfile_of,
    settings_of,
)
from bench_framework.execution.build.messages import (
    MOST_MESSAGES,
    Messages,
    Steps,
    direct_dependencies,
    failure_text,
    packages_of,
    read_messages,
)
from bench_framework.execution.machine.host import cache_root, seconds, version_of
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.process import Command, Launcher
from bench_framework.execution.progress import BuildFinished, Message, Observer
from bench_framework.foreign import sha256_of, text_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.build_spec import BUILTIN, BuildSpec
from bench_framework.model.record.run import Build
from bench_framework.store.layout import writing
from bench_framework.text.reasons import phrase_of

BUILD_TIMEOUT_S: Final = 7200.0
_BUILD_VARIABLE: Final = re.compile(
    r"RUSTFLAGS|CARGO_ENCODED_RUSTFLAGS|RUSTC|CARGO_BUILD_(RUSTFLAGS|RUSTC|TARGET)"
    r"|CARGO_TARGET_.+_(RUSTFLAGS|LINKER|RUNNER)|CARGO_PROFILE_.+"
)
"""Variables of the user's shell that would change a binary. They are not passed to cargo.

A variant with its own flags would lose those of the shell and the other variants would get them, so
they would differ in more than the scenario states. Flags belong in the scenario. A wrapper such as
sccache does not change a binary and is passed on.
"""


@dataclass(slots=True)
class Builder:
    """Builder of the build specs of one plan, with caches that several specs share."""

    launcher: Launcher
    env: Mapping[str, str]
    observer: Observer
    contract: bool
    """True if the binaries follow the worker protocol and are called with `describe`."""
    place: Path
    """Folder in which the binaries will work."""
    flags: tuple[str, ...] = ()
    """Compiler flags after those of the spec."""
    suffix: str = ""
    """Suffix of the names of target directory and log, for another build of the same spec."""
    _wrappers: dict[Path, Wrapper] = field(default_factory=dict)
    _rustc: dict[tuple[str | None, Path], str | None] = field(default_factory=dict)
    _states: dict[Path, tuple[str | None, bool | None]] = field(default_factory=dict)
    _versions: dict[object, tuple[tuple[str, str], ...]] = field(default_factory=dict)

    @property
    def cache(self) -> Path:
        """Return the root of the cache."""
        return cache_root(self.env)

    def build_all(
        self, specs: Sequence[BuildSpec], after_first: Callable[[Build], None] = lambda _: None
    ) -> tuple[Build, ...]:
        """Run builds in the given order. A failed build affects only its own variants.

        `after_first` is called with the first build; no other is started if it raises.

        Raises `MachineError` (BX231): cargo is not installed.
        """
        if any(spec.by_cargo for spec in specs):
            symbols.require_linkers(specs, self.env)
            require_cargo(self.env)
        programs = tuple(dict.fromkeys(spec.program for spec in specs))
        built: dict[BuildSpec, Build] = {}
        for index, program in enumerate(programs, start=1):
            built[program] = self.build(program, index, len(programs))
            if index == 1:
                after_first(replace(built[program], id=specs[0].id))
        return tuple(replace(built[spec.program], id=spec.id) for spec in specs)

    def build(self, spec: BuildSpec, index: int, total: int) -> Build:
        """Run one build. A failure is in its `message`, not an exception."""
        label = label_of(spec)
        try:
            build = self.build_or_raise(spec, f"{index}/{total}")
        except MeasureError as error:
            notes = [*error.details, ("fix", error.fix), ("code", error.code)]
            causes = "\n".join(f"{name}: {text}" for name, text in notes if text)
            build = Build(spec.id, ok=False, message=f"{error.message}\n{causes}".strip())
        self.observer.notify(BuildFinished(build, label, index, total))
        return build

    def build_or_raise(self, spec: BuildSpec, place: str) -> Build:
        """Run build `place`, such as ``1/3``. Raises `MeasureError`: a step other than cargo failed."""
        if spec.by_commands is not None:
            return self._described(commands.build(spec, place, label_of(spec), self._means))
        released = self._fetch(spec) if spec.registry else None
        crate, commit, dirty = (
            (released.folder, spec.version, None) if released else self._source(spec)
        )
        if spec.patches or spec.dependencies:
            crate = sources.derive(spec, crate, self.cache, self.launcher, self.env)
        folder = sharing.folder_of(revisions.Git(self.launcher, self.env), self.cache, crate)
        with writing(folder.lock):
            folder.lock.parent.mkdir(parents=True, exist_ok=True)
        what = phrase_of(PhraseCode.BUILD_OF, label_of(spec))
        with MachineLock(what, self.observer, path=folder.lock):
            folder.enter()
            build = self.compile(spec, place, crate, folder.units)
        build = replace(build, revision=commit, dirty=dirty)
        if released is not None:
            build = replace(build, source=released.source, source_sha256=released.checksum)
        return build

    def _fetch(self, spec: BuildSpec) -> sources.Released:
        root, name, version = self.cache / "registry", spec.registry, spec.version
        if not sources.note_of(root, name, version).is_file():
            self.observer.notify(Message(phrase_of(PhraseCode.FETCHING, name, version)))
        return sources.fetch(self.launcher, self.env, root, name, version)

    def compile(self, spec: BuildSpec, place: str, crate: Path, units: Path) -> Build:
        """Run cargo for the crate in a folder, with the build directory `units`."""
        log = self.cache / "builds" / f"{spec.id}{self.suffix}.log"
        messages = log.with_suffix(".jsonl")
        wrapper = self._wrapper(crate)
        env = {**self._environment(spec, units), **self._flags(spec, crate), **wrapper.variables}
        total = self._count_crates(spec, crate, env, messages, place)
        with writing(log):
            log.parent.mkdir(parents=True, exist_ok=True)
            for path in (log, messages):
                path.unlink(missing_ok=True)
        steps = Steps(messages, self.observer, place, total, wrapper.name)
        start = seconds()
        command = Command(
            arguments(spec, crate),
            env,
            str(crate),
            stdout=str(messages),
            stderr=str(log),
            timeout_s=BUILD_TIMEOUT_S,
            most_stdout=MOST_MESSAGES,
            most_stderr=MOST_MESSAGES,
        )
        finished = self.launcher.run(command, steps.poll)
        taken = seconds() - start
        artifacts = read_messages(messages, spec.bin, bench=spec.bench)
        if not finished.ok or artifacts.executable is None:
            words = failure_text(text_of(log)) or f"cargo: {finished.how}"
            if spec.bench and benches.UNSTABLE in words:
                raise BuildError("BX270.unstable", details=(("cargo", words),), name=spec.bin)
            rustc = self._version(spec, crate)
            return Build(spec.id, ok=False, build_s=taken, rustc=rustc, message=words, log=str(log))
        build = self._described(self._stored(spec, crate, artifacts, env, log))
        taken_s = None if artifacts.fresh else taken
        return replace(build, wrapper=wrapper.name or None, build_s=taken_s, log=str(log))

    def _count_crates(
        self, spec: BuildSpec, crate: Path, env: Mapping[str, str], messages: Path, place: str
    ) -> int:
        """Return the number of crates of a build; 0 if cargo reports an error.

        It is that of the earlier build whose messages exist. Otherwise cargo downloads the sources.
        """
        earlier = read_messages(messages, spec.bin, bench=spec.bench).dependencies
        if earlier is not None:
            return earlier + 1
        edges = f"--edges=normal,build{',dev' if spec.bench else ''}"
        argv = ["cargo", "tree", *selection(spec, crate), edges, "--prefix=none"]
        poll, limit = Steps(messages, self.observer, place).poll, BUILD_TIMEOUT_S
        output = self.launcher.capture(argv, env, cwd=str(crate), timeout_s=limit, on_poll=poll)
        crates = {line.removesuffix(" (*)") for line in output.stdout.splitlines() if line}
        return len(crates) if output.ok else 0

    def _linked(self, crate: Path, env: Mapping[str, str], spec: BuildSpec) -> frozenset[str]:
        lines = self._tree(crate, env, spec, "none").splitlines()
        return frozenset(line.split()[0] for line in lines if line.strip())

    def _tree(self, crate: Path, env: Mapping[str, str], spec: BuildSpec, prefix: str) -> str:
        argv = ["cargo", "tree", *selection(spec, crate), "--edges=normal", f"--prefix={prefix}"]
        output = self.launcher.capture(argv, env, cwd=str(crate))
        return output.stdout if output.ok else ""

    def _stored(
        self, spec: BuildSpec, crate: Path, artifacts: Messages, env: Mapping[str, str], log: Path
    ) -> Build:
        launcher, executable = self.launcher, Path(str(artifacts.executable))
        stored = binaries.store(self.cache / "binaries", executable, spec.bin)
        lock = lockfile_of(crate)
        linked, note = partial(self._linked, crate, env), log.with_suffix(".features.json")
        unused = [
            phrase_of(PhraseCode.UNUSED_DEPENDENCY, name, version)
            for name, version in spec.dependencies
            if name not in artifacts.files
        ]
        unused += symbols.unused_features(
            spec, linked, stored.path, artifacts.files, launcher, env, note
        )
        bench, tree = None, self._tree(crate, env, spec, "depth")
        if spec.bench:
            bench = benches.describe(stored.path, Path(artifacts.folder), launcher, self.env)
        build = Build(
            spec.id,
            ok=True,
            sha256=stored.sha256,
            path=str(stored.path),
            control_path=str(stored.control),
            size_bytes=stored.size_bytes,
            rustc=self._version(spec, crate),
            lockfile_sha256=sha256_of(lock) if lock else None,
            dependencies=artifacts.dependencies,
            versions=sources.versions_in(lock, (name for name, _ in spec.dependencies)),
            patches_sha256=tuple(sha256_of(Path(path)) for path in spec.patches),
            linker=symbols.linker_of(stored.path, spec.rustflags, launcher, self.env),
            remarks=tuple(unused),
            direct_dependencies=direct_dependencies(tree),
            packages=packages_of(tree),
            settings=settings_of(crate, spec.profile),
            cached=artifacts.fresh,
            bench=bench,
        )
        return binaries.examined(build, launcher, self.env)

    def _described(self, build: Build) -> Build:
        """Return a build with the answer of its program to `describe`, if it follows the protocol."""
        if not self.contract:
            return build
        answer = binaries.describe([str(build.path)], self.launcher, self.env, self.place)
        return replace(build, describe=answer)

    @property
    def _means(self) -> commands.Means:
        given = (self.launcher, self.env, self.observer, self.cache)
        return commands.Means(*given, BUILD_TIMEOUT_S, self._versions)

    def _source(self, spec: BuildSpec) -> tuple[Path, str | None, bool | None]:
        """Return the folder of the crate, the commit id, and True if it has uncommitted changes."""
        git = revisions.Git(self.launcher, self.env)
        crate = None
        if spec.git is None:
            crate = assets.native_dir() if spec.crate == BUILTIN else Path(spec.crate)
            if not (crate / "Cargo.toml").is_file():
                raise BuildError("BX222", crate=crate)
        if spec.git is not None or spec.revision is not None:
            folder, commit = revisions.checkout(
                git, self.cache, crate=crate, url=spec.git, revision=spec.revision
            )
            return folder, commit, False
        assert crate is not None
        if crate not in self._states:
            self._states[crate] = revisions.state_of(git, crate)
        return crate, *self._states[crate]

    def _environment(self, spec: BuildSpec, units: Path) -> dict[str, str]:
        target = self.cache / "cargo" / "target" / f"{spec.id}{self.suffix}"
        env = build_environment(self.env, target, units)
        if spec.toolchain:
            env["RUSTUP_TOOLCHAIN"] = spec.toolchain
        return env

    def _flags(self, spec: BuildSpec, crate: Path) -> dict[str, str]:
        added = (*spec.rustflags, *self.flags)
        if not added:
            return {}
        root = self.cache / "cargo" / "flags"
        env = {**self._environment(spec, root), "CARGO_TARGET_DIR": str(root / "target")}
        return extended_flags(added, crate, root, self.launcher, env)

    def _wrapper(self, crate: Path) -> Wrapper:
        if crate not in self._wrappers:
            self._wrappers[crate] = find_wrapper(self.launcher, self.env, self.cache, crate)
        return self._wrappers[crate]

    def _version(self, spec: BuildSpec, crate: Path) -> str | None:
        """Return the compiler's version line for the crate, which may select a toolchain."""
        key = (spec.toolchain, crate)
        if key not in self._rustc:
            env = self._environment(spec, crate)
            self._rustc[key] = version_of(self.launcher, "rustc", env, str(crate))
        return self._rustc[key]


def require_cargo(env: Mapping[str, str]) -> None:
    """Check that cargo is on PATH. Raises `MachineError` (BX231): it is not."""
    if shutil.which("cargo", path=env.get("PATH")) is None:
        raise MachineError("BX231.cargo")


def build_environment(env: Mapping[str, str], target: Path, build: Path) -> dict[str, str]:
    """Return the environment of cargo, with its target directory and its build directory."""
    return {
        **{name: value for name, value in env.items() if not _BUILD_VARIABLE.fullmatch(name)},
        "CARGO_TARGET_DIR": str(target),
        "CARGO_BUILD_BUILD_DIR": str(build),
        "CARGO_TERM_COLOR": "never",
        "CARGO_TERM_PROGRESS_WHEN": "never",
        "CARGO_INCREMENTAL": "0",
    }


def arguments(spec: BuildSpec, crate: Path) -> list[str]:
    """Return the command line of cargo for a spec whose crate is in a folder."""
    argv = ["cargo", *(("bench", "--no-run") if spec.bench else ("build",))]
    argv += ["--message-format=json-render-diagnostics", *selection(spec, crate)]
    argv += ["--profile", spec.profile, "--bench" if spec.bench else "--bin", spec.bin]
    for key, value in spec.profile_keys:
        argv += ["--config", f"profile.{spec.profile}.{key}={toml_value(value)}"]
    return argv


def selection(spec: BuildSpec, crate: Path) -> list[str]:
    """Return the options of cargo that select the package, the features and the lock file."""
    argv = ["--manifest-path", str(crate / "Cargo.toml")]
    package = spec.package or (spec.bin if spec.crate == BUILTIN else None)
    if package:
        argv += ["--package", package]
    if spec.features:
        argv += ["--features", ",".join(spec.features)]
    if not spec.default_features:
        argv.append("--no-default-features")
    if lockfile_of(crate):
        argv.append("--locked")
    return argv


def toml_value(text: str) -> str:
    """Return a profile key's value as TOML: numbers and booleans bare, other values quoted."""
    if text in {"true", "false"} or text.lstrip("-").isdigit():
        return text
    return json.dumps(text)


def label_of(spec: BuildSpec) -> str:
    """Return a short label of a build: ``tally +jemalloc lto=fat``."""
    words = [spec.bin, *(f"+{feature}" for feature in spec.features)]
    words += [f"{key}={value}" for key, value in spec.profile_keys]
    words += spec.rustflags
    if spec.profile != "release":
        words.append(spec.profile)
    words += [f"{name}={version}" for name, version in spec.dependencies]
    words += [Path(path).name for path in spec.patches]
    words += ["pgo"] if spec.pgo else []
    revision = re.sub(r"^([0-9a-f]{12})[0-9a-f]{28}$", r"\1", spec.revision or "")
    words += [text for text in (spec.toolchain, revision, spec.version) if text]
    return " ".join(words)
