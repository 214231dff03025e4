"""Programs that the client builds once for all hosts of its target. They are sent with their builds."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple, Self

from bench_framework.errors import BuildError
from bench_framework.execution.build import binaries, cargo
from bench_framework.execution.build.configuration import (
    cargo_home,
    configuration_files,
    lockfile_of,
)
from bench_framework.execution.build.revisions import key_of
from bench_framework.execution.machine import host
from bench_framework.execution.machine.lock import MachineLock
from bench_framework.execution.stop import Driver
from bench_framework.extensions.fleet.bundle import MOST_BYTES, Bundle, Upload, damaged, pack
from bench_framework.foreign import sha256_of
from bench_framework.model.extension_phrases import ExtensionCode
from bench_framework.model.phrases import Phrase, PhraseCode
from bench_framework.model.plan.build_spec import BUILTIN, BuildSpec
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Build
from bench_framework.text.numbers import format_size
from bench_framework.text.reasons import phrase_of

NATIVE: Final = "=native"
"""End of compiler flags that select the CPU of the machine that builds: ``-Ctarget-cpu=native``."""


class BuildTarget(NamedTuple):
    """The programs that a machine can run without building them again: those of an equal target."""

    system: str = ""
    """Architecture, C library and operating system, each with its version."""
    cpu: str = ""
    """Digest of model and features of the CPU, for programs that are built for this CPU only."""

    def __str__(self) -> str:
        return f"{self.system}, CPU {self.cpu[:6]}"

    @classmethod
    def here(cls) -> Self:
        """Return the target of this machine."""
        return cls(host.system_versions(), key_of(f"{host.cpu_model()}\n{host.cpu_features()}"))


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs of a plan, for hosts of one target.

    Attributes:
        native: they run only on hosts with the CPU of the target.
        builds: their builds by `_key`, with the paths of the client.
        bundle: each program at ``SHA256/NAME``.
    """

    target: BuildTarget
    native: bool
    builds: Mapping[str, Build]
    bundle: Bundle

    def fit(self, target: BuildTarget) -> bool:
        """Return whether a host of this target can run the programs."""
        return target == self.target if self.native else target.system == self.target.system

    def receive(self, plan: Plan, root: Path, folder: Path, cache: Path) -> tuple[Build, ...]:
        """Put the programs into the store of this host, and return the builds of a plan.

        `root` is the folder of the sent files, and `folder` contains the unpacked bundle. Without the
        program of a build, none is returned.

        Raises `MachineError`: BX264, a program is damaged; BX235, the store cannot be written.
        """
        builds = []
        for spec in plan.builds:
            if (build := self.builds.get(_key(spec, root))) is None:
                return ()
            program = folder / str(build.sha256) / spec.bin
            if sha256_of(program) != build.sha256:
                cause = Phrase(ExtensionCode.OTHER_DIGEST, spec.bin)
                raise damaged(cause, Phrase(ExtensionCode.PROGRAMS))
            stored = binaries.store(cache / "binaries", program, spec.bin)
            path, control = str(stored.path), str(stored.control)
            builds.append(replace(build, id=spec.id, path=path, control_path=control))
        return tuple(builds)


def build_programs(plan: Plan, sent: Upload, driver: Driver) -> Programs:
    """Build the programs of a plan on this machine, for hosts of its target.

    A comparison needs one compiler for all its programs. Therefore all are sent, or none.

    Raises:
        MachineError, BuildError: the hosts must build, for the reason of the message.
        Interrupted: the user stopped it.
    """
    specs = tuple(dict.fromkeys(spec.program for spec in plan.builds))
    for spec in specs:
        if spec.pgo:
            raise BuildError("BX220.pgo")
        # A benchmark runs in the folder of its package, which each host has in another place.
        if spec.bench:
            raise BuildError("BX220.bench")
        if spec.by_commands is not None:
            raise BuildError("BX220.by-commands")  # nothing shows what binds it to this machine
        remote = spec.git or spec.registry or spec.crate == BUILTIN
        for path in (*(() if remote else (spec.crate,)), *spec.patches):
            if Path(os.path.normpath(path)) not in sent.places:
                raise BuildError("BX220.path-of-host", path=path)
    bound: list[str] = []
    native: list[BuildSpec] = []
    task = phrase_of(PhraseCode.BUILDS_OF, plan.name)
    with MachineLock(task, driver.observer, driver.stop, shared=True):
        builder = _Builder(
            driver.launcher,
            driver.env,
            driver.interruptible,
            contract=False,  # the host calls `describe`
            place=Path(),
            bound=bound,
            native=native,
        )
        builds = builder.build_all(specs)
    by_key: dict[str, Build] = {}
    files: dict[str, Path] = {}
    for spec, build in zip(specs, builds, strict=True):
        if not build.ok:
            raise BuildError("BX220.not-built-here", spec=cargo.label_of(spec))
        # Path, log and duration are those of this machine. The host sets its own paths.
        by_key[_key(spec, sent.root)] = replace(build, log=None, build_s=None, cached=True)
        files[f"{build.sha256}/{spec.bin}"] = Path(str(build.path))
    if bound:
        raise BuildError("BX220.bound-to-host", program=bound[0])
    if (size := sum(path.stat().st_size for path in files.values())) > MOST_BYTES:
        most = format_size(MOST_BYTES)
        raise BuildError("BX220.programs-too-large", size=format_size(size), most=most)
    return Programs(BuildTarget.here(), bool(native), by_key, pack(files))


def _key(spec: BuildSpec, root: Path) -> str:
    """Return an id of a build that is equal on client and host: its paths begin at the sent files."""

    def below(text: str) -> str:
        path = Path(os.path.normpath(text))
        return f"./{path.relative_to(root)}" if path.is_relative_to(root) else text

    patches = tuple(map(below, spec.patches))
    return replace(spec.program, crate=below(spec.crate), patches=patches).id


@dataclass(slots=True)
class _Builder(cargo.Builder):
    """A builder that notes what binds a program to this machine, or to its CPU."""

    bound: list[str] = field(kw_only=True)
    native: list[BuildSpec] = field(kw_only=True)

    def compile(self, spec: BuildSpec, place: str, crate: Path, units: Path) -> Build:
        build = cargo.Builder.compile(self, spec, place, crate, units)
        if build.ok:
            source = (lockfile_of(crate) or crate / "Cargo.toml").parent
            content = Path(str(build.path)).read_bytes()
            # The path can be that of test data: env!("CARGO_MANIFEST_DIR").
            if any(os.fsencode(f(source)) in content for f in (os.path.normpath, os.path.realpath)):
                self.bound.append(cargo.label_of(spec))
            if any(NATIVE in text for text in self._flag_texts(spec, crate, source)):
                self.native.append(spec)
        return build

    def _flag_texts(self, spec: BuildSpec, crate: Path, source: Path) -> Iterator[str]:
        """Yield all texts that can contain flags of a compiler, also of C."""
        yield from spec.rustflags
        yield from (value for _, value in spec.profile_keys)
        yield from (text for name, text in self.env.items() if "FLAGS" in name)
        files = (*configuration_files(crate), cargo_home(self.env) / "config.toml")
        for file in filter(Path.is_file, (*files, crate / "Cargo.toml", source / "Cargo.toml")):
            yield file.read_text(encoding="utf-8", errors="replace")
