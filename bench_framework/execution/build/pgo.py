"""Builds with profile-guided optimisation (PGO): instrument, train, merge the counts, build again.

The training runs for each record, because nothing shows which files a program reads. Equal counts
give the same profile, so cargo builds nothing again.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench_framework.errors import BuildError, MachineError
from bench_framework.execution.build.cargo import Builder, label_of
from bench_framework.execution.counting.single_run import SingleRunner
from bench_framework.execution.process import Captured, Launcher, scratch_folder
from bench_framework.execution.progress import Message
from bench_framework.execution.target import Target, target_of
from bench_framework.foreign import sha256_of, text_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.plan import Input, Plan
from bench_framework.model.record.run import Build, PreparedInput, Training
from bench_framework.store.layout import write_whole
from bench_framework.text.reasons import phrase_of

INSTRUMENT: Final = ("-Cprofile-generate=/dev/null",)
"""Flags of the instrumented build. Processes without ``LLVM_PROFILE_FILE`` write no profile."""
VARIABLE: Final = "LLVM_PROFILE_FILE"
MERGE_TIMEOUT_S: Final = 600.0
_VERSIONED: Final = re.compile(r"llvm-profdata-(\d+)")
MISMATCH: Final = "hash mismatch"
"""Words of the compiler's warning about a function that the profile does not fit."""
_MISSING: Final = re.compile(
    r"^warning: (?!build_script_).*no profile data available for function", re.MULTILINE
)
"""The compiler's warning about a function without a profile, except in build scripts."""
_COUNT: Final = re.compile(r"^(Total functions|Maximum function count): (\d+)$", re.MULTILINE)
_LARGEST: Final = "Maximum function count"


def use_flags(profile: str) -> tuple[str, ...]:
    """Return the flags of a build with a profile, which count the functions without one."""
    return (f"-Cprofile-use={profile}", "-Cllvm-args=-pgo-warn-missing-function")


Source = tuple[str | None, str | None]
"""Toolchain and folder of the crate, which may have a ``rust-toolchain.toml``."""


class Tool(NamedTuple):
    """A program llvm-profdata that fits a compiler."""

    path: str
    version: str


def source_of(spec: BuildSpec) -> Source:
    """Return what selects the compiler of a build: its toolchain and the folder of its crate."""
    return spec.toolchain, spec.crate if Path(spec.crate).is_absolute() else None


def find_tools(
    specs: Iterable[BuildSpec], launcher: Launcher, env: Mapping[str, str]
) -> Mapping[Source, Tool]:
    """Return llvm-profdata for each compiler of the builds with PGO.

    Raises `MachineError` (BX246): none is installed that fits the compiler.
    """
    sources = dict.fromkeys(source_of(spec) for spec in specs if spec.pgo)
    return {source: _find_tool(*source, launcher, env) for source in sources}


def _find_tool(
    toolchain: str | None, crate: str | None, launcher: Launcher, env: Mapping[str, str]
) -> Tool:
    """Find llvm-profdata by a profile of an empty program, which it must read.

    Formats change with LLVM, but not with each version of it.
    """
    if toolchain:
        env = {**env, "RUSTUP_TOOLCHAIN": toolchain}

    def call(*argv: str) -> Captured:
        return launcher.capture(argv, env, cwd=crate)

    with scratch_folder() as scratch:
        source, program = Path(scratch, "probe.rs"), Path(scratch, "probe")
        raw, profile = Path(scratch, "probe.profraw"), Path(scratch, "probe.profdata")
        source.write_text("fn main() {}\n", encoding="utf-8")
        compile_it = ("rustc", str(source), "-o", str(program))
        built = call(*compile_it, *INSTRUMENT)
        if built.ok:
            launcher.capture([str(program)], {**env, VARIABLE: str(raw)})
        version = dict(re.findall(r"^(.+): (.+)$", call("rustc", "-vV").stdout, re.MULTILINE))
        rustc = f"rustc {version.get('release', '')} (LLVM {version.get('LLVM version', '?')})"
        if not raw.is_file():
            details = (("rustc", _first_line(built)),)
            raise MachineError("BX246.no-runtime", details=details, rustc=rustc)
        tried: list[tuple[str, str]] = []
        libraries = call("rustc", "--print=target-libdir").stdout.strip()
        for path in candidates(Path(libraries).parent / "bin", env):
            profile.unlink(missing_ok=True)
            merged = call(path, "merge", "-o", str(profile), str(raw))
            outcome = call(*compile_it, *use_flags(str(profile))) if merged.ok else merged
            if outcome.ok:
                line = re.search(r"LLVM version (\S+)", call(path, "--version").stdout)
                return Tool(path, f"LLVM {line[1]}" if line else Path(path).name)
            tried.append((path, _first_line(outcome)))
    major = version.get("LLVM version", "").partition(".")[0]
    raise MachineError("BX246.no-llvm-profdata", details=tuple(tried), rustc=rustc, major=major)


def candidates(sysroot: Path, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the program of the toolchain, then those on PATH: the plain name, the newest version."""
    folders = [Path(folder) for folder in env.get("PATH", "").split(os.pathsep) if folder]
    names = {path.name for folder in folders for path in folder.glob("llvm-profdata-*")}
    versions = {int(match[1]): name for name in names if (match := _VERSIONED.fullmatch(name))}
    ordered = [versions[number] for number in sorted(versions, reverse=True)]
    programs = [shutil.which("llvm-profdata", path=str(sysroot))]
    programs += [shutil.which(n, path=env.get("PATH")) for n in ("llvm-profdata", *ordered)]
    yield from filter(None, programs)


def _first_line(output: Captured) -> str:
    lines = (line for line in output.stderr.splitlines() if line.strip())
    return next(lines, output.finished.how)


@dataclass(frozen=True, slots=True)
class Trainer:
    """The training runs of a plan. `inputs` prepares their inputs, and `tools` is of `find_tools`.

    `earlier` has the training by build id of a record that is continued or confirmed. These programs are
    measured again, so they are built with the same profile.
    """

    plan: Plan
    inputs: Callable[[Sequence[Input]], Sequence[PreparedInput]]
    tools: Mapping[Source, Tool]
    earlier: Mapping[str, Training] = field(default_factory=dict)

    def train(self, spec: BuildSpec, instrumented: Build, builder: Builder) -> Training:
        """Run the training commands, each once, and return their profile.

        A run that fails is skipped. Its counts are not part of the profile.

        Raises `BuildError` (BX247): every command failed or timed out, or none wrote a profile.
        """
        earlier = self.earlier.get(spec.id)
        profile = Path(earlier.path if earlier is not None else "")
        if earlier is not None and profile.is_file() and sha256_of(profile) == earlier.sha256:
            builder.observer.notify(Message(phrase_of(PhraseCode.SAME_PROFILE, label_of(spec))))
            return earlier
        tool, commands, skipped = self.tools[source_of(spec)], list[str](), list[BuildError]()
        with scratch_folder() as scratch:
            folder, merged = Path(scratch, "counts"), Path(scratch, "merged.profdata")
            folder.mkdir()
            for number, target in enumerate(self._targets(spec, instrumented, builder.env)):
                words = (Path(w).name if w == target.binary else w for w in target.argv)
                command = shlex.join(words)
                text = phrase_of(PhraseCode.TRAINING, label_of(spec), command)
                builder.observer.notify(Message(text))
                try:
                    self._run(target, folder / f"{number}-%m-%p.profraw", command, builder.launcher)
                    commands.append(command)
                except BuildError as error:
                    skipped.append(error)
                    text = phrase_of(PhraseCode.TRAINING_LEFT_OUT, error.message, command)
                    builder.observer.notify(Message(text))
                    for path in folder.glob(f"{number}-*"):
                        path.unlink()
            if not commands:
                raise skipped[0] if skipped else BuildError("BX247.no-run")
            self._merge(tool, folder, merged, commands, builder)
            # The name has the digest, as cargo does not see that a file of the same name changed.
            digest = sha256_of(merged)
            profile = builder.cache / "builds" / f"{spec.id}-{digest[:12]}.profdata"
            if not profile.is_file() or sha256_of(profile) != digest:
                write_whole(profile, merged.read_bytes())
        summary = builder.launcher.capture([tool.path, "show", str(profile)], builder.env).stdout
        counts = {name: int(number) for name, number in _COUNT.findall(summary)}
        functions, largest = counts.get("Total functions", 0), counts.get(_LARGEST, 0)
        if not (functions and largest):
            raise _failed("BX247.nothing-counted", commands)
        left_out = tuple((error.details[0][1], error.message) for error in skipped)
        return Training(
            tuple(commands),
            str(profile),
            digest,
            functions,
            largest,
            tool.version,
            skipped=left_out,
        )

    def _targets(self, spec: BuildSpec, build: Build, env: Mapping[str, str]) -> list[Target]:
        """Return the training runs of a build, without equal ones."""
        runs = [run for run in self.plan.training if run.build == spec]
        given = tuple(dict.fromkeys(run.input for run in runs))
        inputs = {item.input_id: item for item in self.inputs(given)}
        folder = str(Path(self.plan.scenario_path).absolute().parent)
        targets = dict[object, Target]()
        for run in runs:
            cell = run.cell
            if spec.train:
                cell = replace(cell, command=spec.train, shell=False, cwd=folder, server=None)
            target = target_of(cell, build, inputs.get(run.input.id), env)
            setup = (target.prepare, target.cleanup)
            same = (target.argv, run.cell.env, target.cwd, target.stdin, setup, target.cpus)
            targets.setdefault(same, target)
        return list(targets.values())

    def _run(self, target: Target, counts: Path, command: str, launcher: Launcher) -> None:
        limit = self.plan.measure.timeout_s
        # The answer is that of a training command, and of no cell.
        policy = replace(self.plan.answer, contract=False, stdout="null", compare="none", file=None)
        env = {**target.env, VARIABLE: str(counts)}
        run = SingleRunner(launcher, policy, limit).run(replace(target, env=env), None, limit)
        if run.status == "timeout":
            raise _failed("BX247.timeout", [command], reason=run.message)
        if run.status != "ok":
            raise _failed("BX247.run-failed", [command], reason=run.message)

    def _merge(
        self, tool: Tool, folder: Path, merged: Path, commands: Sequence[str], builder: Builder
    ) -> None:
        if not any(path.stat().st_size for path in folder.glob("*.profraw")):
            raise _failed("BX247.no-profile", commands)
        argv = [tool.path, "merge", "-o", str(merged), str(folder)]
        output = builder.launcher.capture(argv, builder.env, timeout_s=MERGE_TIMEOUT_S)
        if not output.ok:
            line = _first_line(output)
            key = "BX247.other-version" if "version" in line else "BX247.not-merged"
            raise _failed(key, commands, tool=tool.path, line=line)


def _failed(key: str, commands: Sequence[str], /, **values: Any) -> BuildError:
    return BuildError(key, details=tuple(("command", c) for c in commands), **values)


@dataclass(slots=True)
class TrainingBuilder(Builder):
    """A builder that also builds with PGO."""

    trainer: Trainer = field(kw_only=True)

    def build_or_raise(self, spec: BuildSpec, place: str) -> Build:
        """Run one build, with its training if it has PGO, see `Builder.build_or_raise`."""
        if not spec.pgo:
            return Builder.build_or_raise(self, spec, place)
        # Build scripts and macros are instrumented too. Their profiles are not wanted.
        env = {**self.env, VARIABLE: os.devnull}
        first = replace(self, env=env, contract=False, flags=INSTRUMENT, suffix="-instrumented")
        instrumented = Builder.build_or_raise(first, spec, place)
        if not instrumented.ok:
            return instrumented
        training = self.trainer.train(spec, instrumented, self)
        build = Builder.build_or_raise(replace(self, flags=use_flags(training.path)), spec, place)
        log = text_of(Path(str(build.log)))
        # The time of one half is not that of the build.
        first_s, second_s = instrumented.build_s, build.build_s
        missing = len(_MISSING.findall(log))
        return replace(
            build,
            training=replace(training, mismatches=log.count(MISMATCH), missing=missing),
            build_s=None if first_s is None or second_s is None else first_s + second_s,
            cached=instrumented.cached and build.cached,
        )
