"""The program under test, and the settings of axis values."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Self, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from bench_framework.model.faults import FaultCode
from bench_framework.model.plan.build_spec import BUILTIN, UNBUILT, without_revisions
from bench_framework.model.reasons import Reason
from bench_framework.scenario import scalars
from bench_framework.scenario.document import Path, Scalar, is_null
from bench_framework.scenario.schema.build_profile import Profile
from bench_framework.scenario.schema.parts import Commands
from bench_framework.scenario.schema.types import (
    Arguments,
    ByShape,
    CacheName,
    CpuList,
    Flag,
    Linker,
    NotList,
    Part,
    Several,
    SystemCall,
    Text,
    ValueName,
    Variable,
    Version,
    Words,
    also_as,
    need,
    read_by,
    refuse,
    refuse_unused,
)
from bench_framework.text.names import listed

SOURCES: Final = ("registry", "crate", "git", "build", "command")
"""Keys of `worker` of which exactly one is given."""
OF_BUILD: Final = ("program", "sources", "build_env", "runtime")
"""Keys of `worker` that only `build` uses."""
ALLOCATORS: Final = ("system", "jemalloc", "mimalloc", "snmalloc")


class BenchPart(Part):
    """Benchmarks of the crate, whose time per iteration is measured.

    One name is the value of `target`.
    """

    model_config = also_as(type="string")

    target: Several = ["all"]
    """Names of bench targets, or `all`."""
    only: Several = []
    """Ids of the benchmarks to measure, or patterns such as `parse/*`; `!parse/*` leaves them out. Default: all."""

    @model_validator(mode="before")
    @classmethod
    def _target_alone(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {"target": value}


class Worker(Part):
    """The program under test: a crate (local, in git, released), what commands build, or a program."""

    crate: Text | None = None
    """`builtin` for the bundled workers, or the folder of a crate, relative to this file."""
    git: Text | None = None
    """URL of the crate's git repository."""
    rev: Text | None = None
    """Tag, branch or commit of `git`."""
    registry: Text | None = None
    """Name of a released crate, which cargo fetches from its registry (crates.io)."""
    version: Version | None = None
    """Exact version of `registry`."""
    command: Arguments | None = None
    """Existing program that is not built. Its first word is `{bin}`, and the whole list is the
    default `command`."""
    build: Commands | None = None
    """Commands that build the program in a copy of `sources`: one, or a list of them."""
    program: Text | None = None
    """Program that `build` writes: a path below `sources`."""
    sources: Text | None = None
    """Folder of the sources of `build`, in a git repository, relative to this file. Default: `.`."""
    build_env: dict[Variable, Text] = Field(default={}, alias="build-env")
    """Environment variables of `build`."""
    runtime: list[Text] = []
    """Files and folders below `sources` that the program uses when it runs, such as `.venv`."""
    bin: Text | None = None
    """Binary target of the crate. Default: the only one, or the name of the `registry` crate."""
    bench: BenchPart | None = None
    """Benchmarks of the crate in place of a binary: the name of a bench target, `all`, or a mapping.
    Harnesses: criterion, divan, and the `#[bench]` of libtest."""
    package: Text | None = None
    """Package within a workspace."""
    features: list[Text] = []
    """Cargo features of every variant."""
    default_features: Flag = Field(default=True, alias="default-features")
    """`false` builds without the default features."""
    profile: Profile = "release"
    """Cargo profile, or a mapping of profile keys set on top of `release`. Default with `bench`: the
    profile `bench`."""
    toolchain: Text | None = None
    """Rust toolchain, such as `1.88.0` or `nightly`."""
    rustflags: Words = []
    """Compiler flags: a list, or one string that is split at spaces."""
    contract: Flag | None = None
    """`true`: the worker follows the worker protocol. Default: `true` for bundled workers only."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [key for key in SOURCES if getattr(self, key) is not None]
        kinds = "`crate`, `git`, `registry`, `build` or `command`"
        need(given, "BC107.worker-without-program", kinds=kinds)
        all_given = listed(given)
        refuse(len(given) > 1, "BC108.several-programs", *given[1:2], kinds=kinds, given=all_given)
        name = self.registry or "crate"
        wrong = not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", name)
        refuse(wrong, "BC102.not-a-crate-name", "registry", name=name)
        alone = self.version is not None and self.registry is None
        refuse_unused(alone, "version", FaultCode.NEEDS_KEY, "registry")
        one = self.package is not None and self.registry is not None
        refuse_unused(one, "package", FaultCode.NO_EFFECT_OF_REGISTRY)
        refuse(self.rev is not None and not self.git, "BC108.rev-without-git", "rev")
        need(self.crate != BUILTIN or self.bin, "BC107.builtin-without-bin")
        self._require_benches()
        for key in sorted(self.model_fields_set - {"command", "contract"}):
            unbuilt = FaultCode.NO_EFFECT_UNBUILT
            refuse_unused(self.command is not None, key.replace("_", "-"), unbuilt)
        self._check_build()
        return self

    def _check_build(self) -> None:
        """Refuse keys without effect on `build`, or without it, and paths that leave the sources."""
        for key in sorted(self.model_fields_set - {"build", "contract"}):
            alone = self.build is None and key in OF_BUILD
            refuse_unused(alone, key.replace("_", "-"), FaultCode.NEEDS_KEY, "build")
            other = self.build is not None and key not in OF_BUILD
            refuse_unused(other, key.replace("_", "-"), FaultCode.NO_EFFECT_OF_BUILD)
        if self.build is None:
            return
        refuse(not self.build, "BC107.build-without-command", "build")
        need(self.program, "BC107.build-without-program")
        for key, path in (("program", self.program), *(("runtime", p) for p in self.runtime)):
            given = PurePosixPath(str(path))
            leaves = given.is_absolute() or ".." in given.parts or not given.parts
            refuse(leaves, "BC102.not-below-sources", key, key=key, path=path)

    def build_texts(self) -> Iterator[tuple[Path, str]]:
        """Yield each text that the build uses, with its path in the file."""
        for row, words in enumerate(self.build or ()):
            yield from ((("build", row, index), word) for index, word in enumerate(words))
        yield from ((("build-env", name), text) for name, text in self.build_env.items())
        yield from ((("runtime", index), text) for index, text in enumerate(self.runtime))
        yield from ((("program",), text) for text in (self.program,) if self.build and text)

    def _require_benches(self) -> None:
        """Refuse `bench` together with what does not apply to benchmarks."""
        if self.bench is None:
            return
        refuse_unused(self.bin is not None, "bin", FaultCode.NO_EFFECT_WITH, "bench")
        refuse_unused(bool(self.contract), "contract", FaultCode.NO_EFFECT_WITH, "bench")
        without = self.crate in {None, BUILTIN} and self.git is None
        refuse_unused(without, "bench", FaultCode.NEEDS_SOURCES)
        unknown = self.git is not None and "all" in self.bench.target
        refuse(unknown, "BC108.all-benches-of-git", "bench")

    @property
    def follows_protocol(self) -> bool:
        """True if the worker follows the worker protocol, so that it may report its own metrics."""
        return self.crate == BUILTIN if self.contract is None else self.contract

    @property
    def without_revisions(self) -> Reason | None:
        """The reason why the program has no revisions; `None` if it has."""
        unbuilt = self.command is not None
        return UNBUILT if unbuilt else without_revisions(self.crate, self.registry)


class Pgo(Part):
    """Profile-guided optimisation: `true`, or a mapping with the training command."""

    model_config = also_as(type="boolean")

    train: Arguments | None = None
    """Command whose run is the training, in the folder of this file; `{bin}` is the instrumented
    program. Default: the command of the scenario."""

    @model_validator(mode="after")
    def _runs_the_program(self) -> Self:
        wrong = self.train is not None and not any("{bin}" in word for word in self.train)
        refuse(wrong, "BC109.training-without-bin", "train")
        return self


def _pgo_form(value: Any) -> Any:
    """Read `true` as the training by the scenario's command, and `false` as no training."""
    return ({} if scalars.flag(value) else None) if isinstance(value, Scalar) else value


class Setting(Part):
    """Settings of one axis value, in addition to replacing `{axis}` in the command."""

    model_config = also_as(const=None)

    features: list[Text] = []
    """Cargo features added to the worker's."""
    no_default_features: Flag | None = Field(default=None, alias="no-default-features")
    """`true` builds without the default features."""
    profile: Profile | None = None
    """Cargo profile instead of the worker's, or profile keys set on top of it."""
    rustflags: Words = []
    """Compiler flags added to the worker's."""
    target_cpu: ValueName | None = Field(default=None, alias="target-cpu")
    """Processor to compile for, such as `native` or `x86-64-v3`."""
    linker: Linker | None = None
    """Linker: `mold`, `lld`, `gold` or `bfd`."""
    pgo: Annotated[Pgo | None, read_by(_pgo_form)] = None
    """Profile-guided optimisation: `true`, or the training command."""
    toolchain: Text | None = None
    """Rust toolchain instead of the worker's."""
    revision: Text | None = None
    """Revision of the crate: tag, branch or commit."""
    version: Version | None = None
    """Version of the `registry` crate instead of the worker's."""
    dependencies: dict[Text, Version] = {}
    """Exact version of dependencies, set in a private copy of the lock file."""
    patch: Text | None = None
    """Patch file, relative to this file, that is applied to a private copy of the sources."""
    preload_allocator: Text | None = Field(default=None, alias="preload-allocator")
    """Allocator that replaces `malloc` in the unchanged program by LD_PRELOAD: `jemalloc`,
    `mimalloc`, `snmalloc`, the path of a shared library, or `system` for none."""
    command: Arguments | None = None
    """Program and arguments instead of `command` and `worker.command`, for a program that is not
    built. The first word is the program."""
    args: list[Text] = []
    """Arguments inserted at `{args}` in the command, or at its end."""
    env: dict[Variable, Text] = {}
    """Environment variables added to the scenario's."""
    cpus: CpuList | None = None
    """CPUs that the program may run on, such as `0-3`."""
    cache: CacheName | None = None
    """State of the page cache before a run: `warm`, `cold` or `unknown`."""
    calls: list[SystemCall] = []
    """System calls of which each must succeed at least once in a run of the value, such as
    `io_uring_enter`. It is checked with strace in one run outside timing."""
    label: Text | None = None
    """Label of the value in reports, instead of its name."""
    about: Text = ""
    """One-line description of the value, shown as a note."""

    @model_validator(mode="after")
    def _known_allocator(self) -> Self:
        name = self.preload_allocator
        unknown = name is not None and "/" not in name and name not in ALLOCATORS
        key, known = "preload-allocator", ", ".join(ALLOCATORS)
        refuse(unknown, "BC103.no-allocator", key, name=name, allocators=known)
        return self


def _nothing_is_empty(value: Any) -> Any:
    """Read a value without settings, such as ``jemalloc:``, as empty settings."""
    return {} if is_null(value) else value


Settings: TypeAlias = dict[ValueName, Annotated[Setting, BeforeValidator(_nothing_is_empty)]]


class AxisTable(Part):
    """An axis with a label or a note."""

    values: Annotated[
        Annotated[list[ValueName], Field(min_length=1)] | Annotated[Settings, Field(min_length=1)],
        ByShape(NotList),
    ]
    """Values: a list of names, or a mapping from each name to its settings."""
    label: Text = ""
    """Label of the axis in reports, instead of its name."""
    note: Text = ""
    """One-line description of the axis, shown under its tables."""


def _axis_form(value: Any) -> str:
    if isinstance(value, AxisTable) or (isinstance(value, dict) and "values" in value):
        return "<AxisTable>"
    return "<mapping>" if isinstance(value, dict) else "<list>"


AxisForm: TypeAlias = Annotated[
    Annotated[list[ValueName], Tag("<list>"), Field(min_length=1)]
    | Annotated[Settings, Tag("<mapping>"), Field(min_length=1)]
    | Annotated[AxisTable, Tag("<AxisTable>")],
    Discriminator(_axis_form),
]


def settings_of(axis: Any) -> tuple[dict[str, Setting], str, str]:
    """Return the settings by value name, the label and the note of an axis in any form."""
    label, note = (axis.label, axis.note) if isinstance(axis, AxisTable) else ("", "")
    values = axis.values if isinstance(axis, AxisTable) else axis
    plain = Setting()
    return (values if isinstance(values, dict) else dict.fromkeys(values, plain)), label, note
