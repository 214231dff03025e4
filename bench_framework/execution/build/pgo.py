"""Builds with profile-guided optimisation (PGO): instrument, train, merge the counts, build again.

The profile is kept until the instrumented binary, a training command or an input changes.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from bench_framework.errors import BuildError, MachineError
from bench_framework.execution.build.cargo import Builder, label_of
from bench_framework.execution.counting.single_run import SingleRunner
from bench_framework.execution.inputs.command_output import digests_of
from bench_framework.execution.process import Captured, Launcher, scratch_folder
from bench_framework.execution.progress import Message
from bench_framework.execution.target import Target, target_of
from bench_framework.execution.worker import sha256_of
from bench_framework.model.plan import BuildSpec, Plan, Role, stable_id
from bench_framework.model.run import Build, PreparedInput, Training
from bench_framework.store.layout import writing

INSTRUMENT: Final = ("-Cprofile-generate=/dev/null",)
"""Flags of the instrumented build. Processes without ``LLVM_PROFILE_FILE`` write no profile."""
VARIABLE: Final = "LLVM_PROFILE_FILE"
MERGE_TIMEOUT_S: Final = 600.0
_VERSIONED: Final = re.compile(r"llvm-profdata-(\d+)")
MISMATCH: Final = "hash mismatch"
"""Words of the compiler's warning about a function that the profile does not fit."""
_COUNT: Final = re.compile(r"^(Total functions|Maximum function count): (\d+)$", re.MULTILINE)
_LARGEST: Final = "Maximum function count"
_NO_PROFILE: Final = (
    "let the program return from main or call exit: one that is killed or calls _exit writes no "
    "profile"
)


def use_flags(profile: str) -> tuple[str, ...]:
    """Return the flags of a build that uses a profile."""
    return (f"-Cprofile-use={profile}",)


class Tool(NamedTuple):
    """A program llvm-profdata that fits a compiler."""

    path: str
    version: str


def find_tools(
    specs: Iterable[BuildSpec], launcher: Launcher, env: Mapping[str, str]
) -> Mapping[str | None, Tool]:
    """Return llvm-profdata for each toolchain of the builds with PGO.

    Raises `MachineError` (BX246): none is installed that fits the compiler.
    """
    trained = [spec for spec in specs if spec.pgo]
    crates = {
        spec.toolchain: spec.crate if Path(spec.crate).is_absolute() else None for spec in trained
    }
    return {name: _find_tool(name, crate, launcher, env) for name, crate in crates.items()}


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
            raise MachineError(
                f"{rustc} cannot instrument programs for PGO",
                code="BX246",
                details=(("rustc", _first_line(built)),),
                effect="nothing was built or measured",
                fix="use a toolchain of rustup, whose compiler has the profiler runtime",
            )
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
    raise MachineError(
        f"no llvm-profdata is installed that reads the profiles of {rustc}",
        code="BX246",
        details=tuple(tried),
        effect="nothing was built or measured",
        fix=f"run `rustup component add llvm-tools`, or install LLVM {major} so that "
        f"llvm-profdata-{major} is on PATH",
    )


def candidates(sysroot: Path, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the program of the toolchain, then those on PATH: the plain name, the newest version."""
    folders = [Path(folder) for folder in env.get("PATH", "").split(os.pathsep) if folder]
    names = {path.name for folder in folders for path in folder.glob("llvm-profdata-*")}
    versions = {int(match[1]): name for name in names if (match := _VERSIONED.fullmatch(name))}
    ordered = [versions[number] for number in sorted(versions, reverse=True)]
    for name, path in (
        ("llvm-profdata", str(sysroot)),
        *((name, env.get("PATH")) for name in ("llvm-profdata", *ordered)),
    ):
        if (program := shutil.which(name, path=path)) is not None:
            yield program


def _first_line(output: Captured) -> str:
    lines = (line for line in output.stderr.splitlines() if line.strip())
    return next(lines, output.finished.how)


@dataclass(frozen=True, slots=True)
class Trainer:
    """The training runs of a plan. `inputs` prepares its inputs, and `tools` is of `find_tools`."""

    plan: Plan
    inputs: Callable[[], Sequence[PreparedInput]]
    tools: Mapping[str | None, Tool]

    def train(self, spec: BuildSpec, instrumented: Build, builder: Builder) -> Training:
        """Run the training commands, each once, and return their profile, which is kept.

        Raises `BuildError` (BX247): a command failed or timed out, or wrote no profile.
        """
        inputs = {item.input_id: item for item in self.inputs()}
        targets = self._targets(spec, instrumented, inputs, builder.env)
        tool = self.tools[spec.toolchain]
        key: list[str | None] = [tool.version, instrumented.sha256]
        for target in targets:
            hashed = {target.binary, target.input_path, *target.input_files}
            words = [word for word in target.argv if word not in hashed]
            given = inputs[target.cell.input_id].sha256
            start = Path(target.cwd or ".")
            key += [*target.argv, *digests_of(words, start), given, repr(target.cell.env)]
        profile = builder.cache / "builds" / f"{spec.id}-{stable_id(*key)}.profdata"
        commands = tuple(
            shlex.join(Path(word).name if word == target.binary else word for word in target.argv)
            for target in targets
        )
        if not profile.is_file():
            with scratch_folder() as scratch:
                for target, command in zip(targets, commands, strict=True):
                    builder.observer.notify(Message(f"training for {label_of(spec)}: {command}"))
                    self._run(target, Path(scratch), command, builder.launcher)
                self._merge(tool, Path(scratch), profile, commands, builder)
        summary = builder.launcher.capture([tool.path, "show", str(profile)], builder.env).stdout
        counts = {name: int(number) for name, number in _COUNT.findall(summary)}
        functions, largest = counts.get("Total functions", 0), counts.get(_LARGEST, 0)
        if not (functions and largest):
            profile.unlink(missing_ok=True)
            raise _failed(commands, "counted no function of the program", _NO_PROFILE)
        return Training(
            commands, str(profile), sha256_of(profile), functions, largest, tool.version
        )

    def _targets(
        self,
        spec: BuildSpec,
        build: Build,
        inputs: Mapping[str, PreparedInput],
        env: Mapping[str, str],
    ) -> list[Target]:
        """Return the training runs: of each cell that uses the build, without equal ones."""
        plan, targets = self.plan, dict[object, Target]()
        users = {v.id for v in plan.variants if v.build is not None and v.build.program == spec}
        folder = str(Path(plan.scenario_path).absolute().parent)
        for cell in plan.cells:
            if cell.variant_id not in users or cell.role is Role.CONTROL:
                continue
            trained = replace(cell, command=spec.train, shell=False, cwd=folder)
            target = target_of(
                trained if spec.train else cell, build, inputs.get(cell.input_id), env
            )
            same = (target.argv, cell.env, target.cwd, target.stdin, target.prepare)
            targets.setdefault(same, target)
        return list(targets.values())

    def _run(self, target: Target, folder: Path, command: str, launcher: Launcher) -> None:
        limit = self.plan.measure.timeout_s
        # The answer is that of a training command, and of no cell.
        policy = replace(self.plan.answer, contract=False, stdout="null")
        env = {**target.env, VARIABLE: str(folder / "%m-%p.profraw")}
        run = SingleRunner(launcher, policy, limit).run(replace(target, env=env), None, limit)
        if run.status == "timeout":
            fix = "train with less work: pgo: {train: [...]}; or raise measure.timeout"
            raise _failed([command], f"{run.message}; instrumented programs are slower", fix)
        if run.status != "ok":
            raise _failed([command], f"failed: {run.message}", "correct the training command")

    def _merge(
        self, tool: Tool, folder: Path, profile: Path, commands: Sequence[str], builder: Builder
    ) -> None:
        if not any(path.stat().st_size for path in folder.glob("*.profraw")):
            raise _failed(commands, "wrote no profile", _NO_PROFILE)
        part = profile.with_suffix(f".{os.getpid()}.part")
        with writing(profile):
            profile.parent.mkdir(parents=True, exist_ok=True)
        argv = [tool.path, "merge", "-o", str(part), str(folder)]
        merged = builder.launcher.capture(argv, builder.env, timeout_s=MERGE_TIMEOUT_S)
        if not merged.ok:
            raise _failed(
                commands,
                f"wrote a profile that {tool.path} cannot merge: {_first_line(merged)}",
                _NO_PROFILE,
            )
        with writing(profile):
            part.replace(profile)


def _failed(commands: Sequence[str], what: str, fix: str) -> BuildError:
    return BuildError(
        f"the training {what}",
        code="BX247",
        details=tuple(("command", c) for c in commands),
        fix=fix,
    )


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
        log = Path(str(build.log)).read_text(encoding="utf-8", errors="replace")
        taken = [b.build_s for b in (instrumented, build) if b.build_s is not None]
        return replace(
            build,
            training=replace(training, mismatches=log.count(MISMATCH)),
            build_s=sum(taken) if taken else None,
            cached=build.ok and not taken,
        )
