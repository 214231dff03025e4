"""The profiled binary: a second build of the measured sources with symbols and frame pointers.

Measured binaries have no additional symbols and frame pointers, which would make them larger and
slower. The profile states that it is of another binary of the same sources.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.execution import worker
from bench_framework.execution.build import cargo
from bench_framework.execution.progress import SilentObserver

if TYPE_CHECKING:
    from bench_framework.execution.stop import Session
    from bench_framework.model.plan import BuildSpec
    from bench_framework.model.run import Build

FRAME_POINTERS: Final = ("-C", "force-frame-pointers=yes")
KEYS: Final = {"debug": "line-tables-only", "strip": "false"}
"""Keys of the build profile. Line tables suffice to name functions; a scenario may set more."""
NONE: Final = frozenset({"0", "false", "none"})
CONFIGURED: Final = ("--config", 'build.rustflags=["-C","force-frame-pointers=yes"]')
"""Options that cargo merges with flags of the crate's configuration file.

Flags in the environment would replace those of the file. Cargo ignores these options if the file
has flags per target; callers may then be missing.
"""


@dataclass(frozen=True, slots=True)
class Symbols:
    """A program to profile, or the reason for none."""

    path: str = ""
    sha256: str | None = None
    built: bool = False
    """True if it is another binary than the measured one."""
    failure: str = ""


def with_symbols(spec: BuildSpec | None, measured: Build, session: Session, place: Path) -> Symbols:
    """Build the binary of a variant with symbols; return an external program unchanged."""
    if not measured.ok or measured.path is None:
        return Symbols(failure=measured.message or "it was not built")
    if spec is None:
        path = Path(measured.path)
        digest = worker.sha256_of(path) if path.is_file() else None
        if digest != measured.sha256:
            return Symbols(failure=f"{path} changed since it was measured")
        return Symbols(measured.path, digest)
    launcher, env = session.launcher, session.env
    builder = cargo.Builder(launcher, env, SilentObserver(), contract=False, place=place)
    again = builder.build(spec, 1, 1)
    if again.sha256 != measured.sha256:
        return Symbols(
            failure=again.message
            or "its sources, compiler or dependencies changed since it was measured"
        )
    further = () if spec.rustflags else CONFIGURED
    builder = cargo.Builder(
        launcher, env, session.interruptible, contract=False, place=place, further=further
    )
    build = builder.build(symbols_spec(spec), 1, 1)
    if not build.ok or build.path is None:
        return Symbols(
            failure=f"it cannot be built with symbols: {build.message or 'cargo failed'}"
        )
    return Symbols(build.path, build.sha256, built=True)


def symbols_spec(spec: BuildSpec) -> BuildSpec:
    """Return the spec with symbols, and with frame pointers if it has its own flags."""
    configured = dict(spec.profile_keys)
    keys = {**configured, **KEYS}
    if configured.get("debug", "none") not in NONE:
        keys["debug"] = configured["debug"]
    flags = (*spec.rustflags, *FRAME_POINTERS) if spec.rustflags else ()
    return replace(spec, profile_keys=tuple(sorted(keys.items())), rustflags=flags)
