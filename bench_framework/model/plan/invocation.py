"""The command line from which a plan was made. Immutable, no I/O."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bench_framework.model.plan.revisions import Revisions


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The options of a command line that changed a plan, or the whole command without a scenario."""

    words: tuple[str, ...] = ()
    """The whole command after ``benchctl``, of a plan without a scenario file."""
    only: str = ""
    """The selection of ``-k``."""
    overrides: tuple[str, ...] = ()
    """The values of ``-S`` with masked secrets, without those of ``--quick``."""
    quick: bool = False
    """True if few rounds without verdicts were requested (``--quick``)."""
    gate: bool = False
    """True if the gate is applied (``--gate``, `benchctl gate`)."""
    results: str = ""
    """Folder of the records as an option gave it, empty for the default."""
    scheduler: str = ""
    """Address of the scheduler of a fleet."""
    host: str = ""
    """Name of the host of a fleet that measures this plan."""

    @property
    def public(self) -> Invocation:
        """The options that another machine has too: without the folder of the records."""
        return replace(self, words=tuple(without_folder(self.words)), results="")

    def command(self, scenario: str, revisions: Revisions | None) -> str:
        """Return the command that measures the plan of a scenario, quoted for a shell."""
        if not scenario:
            return shlex.join(("benchctl", *self.words))
        # `gate` takes other names than those of files for records.
        gate = self.gate and scenario.endswith((".yaml", ".yml"))
        words = ["benchctl", "gate" if gate else "run", scenario]
        words += ["-k", self.only] if self.only else []
        words += [word for override in self.overrides for word in ("-S", override)]
        words += ["--quick"] if self.quick else []
        words += revisions.words if revisions is not None else ()
        words += ["--gate"] if self.gate and not gate else []
        words += ["--dir", self.results] if self.results else []
        words += ["--scheduler", self.scheduler] if self.scheduler else []
        words += ["--host", self.host] if self.host else []
        return shlex.join(words)


def without_folder(words: Iterable[str]) -> Iterator[str]:
    """Yield the words of a command line without `--dir`, which is a word of the program after ``--``."""
    left = iter(words)
    for word in left:
        if word == "--":
            yield from (word, *left)
        elif word == "--dir":
            next(left, None)
        elif not word.startswith("--dir="):
            yield word


CiService = Literal["github", "gitlab"]
"""The CI services for which `init` writes a workflow."""


@dataclass(frozen=True, kw_only=True)
class CrateSelection:
    """The options that select a binary of a crate."""

    crate: Path | None = None
    package: str | None = None
    binary: str | None = None


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """The options of a command without a scenario file, as they are written."""

    prepare: str | None = None
    budget: str = "30s"
    sessions: str | None = None
    every: str | None = None
    margin: str | None = None
    input: Path | None = None
    answer: str | None = None
    ignore_output: bool = False
    exit_codes: str | None = None
    ignore_failure: bool = False
    name: str | None = None
    save: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ProgramOptions(RequestOptions, CrateSelection):
    """The options of `sweep` and `ablate`, which build programs."""

    budget: str = "2m"
