"""The specification of a build, and the ids of the parts of a plan."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass, fields, replace
from functools import cached_property
from typing import Final

from bench_framework.model.plan.arguments import Word
from bench_framework.model.plan.command_build import CommandBuild
from bench_framework.model.reasons import Reason, ReasonCode

BUILTIN: Final = "builtin"
"""In place of the path of a crate: the crates that come with benchctl."""
PROGRAM: Final = "program"
"""Id of the build of a program that benchctl does not build."""
UNBUILT: Final = Reason(ReasonCode.NOT_BUILT)
"""A program that is not built has no revision."""


def stable_id(*parts: object) -> str:
    """Return twelve hex digits that depend only on `parts` (JSON values), in every record."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def without_revisions(crate: str | None, registry: str | None) -> Reason | None:
    """Return the reason why a crate has no revisions; `None` if it has."""
    if registry:
        return Reason(ReasonCode.RELEASED_CRATE)
    return Reason(ReasonCode.BUNDLED_WORKER) if crate == BUILTIN else None


_LATER: Final = ("by_commands", "bench")
"""Fields that are not part of the id of a build without them, so that stored binaries keep theirs."""


@dataclass(frozen=True)
class BuildSpec:
    """The specification of a build. Variants with equal specifications share a build."""

    crate: str
    """``"builtin"``, the absolute path of a crate or of the sources of `by_commands`, or ``""`` for
    another source or no build."""
    bin: str
    """Binary target of the crate; path below `crate` of the program that commands build; path or name
    of a program that is not built."""
    git: str | None = None
    package: str | None = None
    features: tuple[str, ...] = ()
    """Names of cargo features, sorted."""
    default_features: bool = True
    profile: str = "release"
    profile_keys: tuple[tuple[str, str], ...] = ()
    """Keys and values of the profile, such as ``("lto", "fat")``, set on cargo's command line."""
    rustflags: tuple[str, ...] = ()
    toolchain: str | None = None
    revision: str | None = None
    preload: str = ""
    """Allocator that is preloaded: its name, or the absolute path of its library."""
    dependencies: tuple[tuple[str, str], ...] = ()
    """Exact version of each dependency that is set in a private copy of the lock file."""
    patches: tuple[str, ...] = ()
    """Absolute paths of patches that are applied to a private copy of the sources, in order."""
    registry: str = ""
    """Name of a released crate; empty for any other source."""
    version: str = ""
    """Version of the released crate."""
    pgo: bool = False
    """True for profile-guided optimisation."""
    train: tuple[Word, ...] = ()
    """Training command of `pgo`; empty for the commands of the cells."""
    by_commands: CommandBuild | None = None
    """The commands that build the program; `None` if cargo builds it."""
    bench: bool = False
    """True if `bin` is a bench target of the crate."""

    @property
    def program(self) -> BuildSpec:
        """The specification without what is added to the built program when it is started."""
        return replace(self, preload="")

    @cached_property
    def id(self) -> str:
        """Twelve hex digits over every field; those of a cargo binary do not depend on the last two."""
        names = (field.name for field in fields(self))
        values = zip(names, astuple(self), strict=True)
        return stable_id("build", *(v for name, v in values if v or name not in _LATER))

    @property
    def installed(self) -> bool:
        """True for a program that benchctl does not build."""
        return not (self.crate or self.git or self.registry)

    @property
    def by_cargo(self) -> bool:
        """True if cargo builds the program."""
        return not (self.installed or self.by_commands)
