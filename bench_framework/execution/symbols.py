"""The binary that is profiled: the one that was measured, built once more with symbols and frame pointers.

Measured binaries are left as they are: symbols make them larger and frame pointers slower. So the profile is of
another binary of the same sources, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench_framework.execution import cargo, worker
from bench_framework.execution.progress import SilentObserver

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.execution.process import Launcher
    from bench_framework.execution.progress import Observer
    from bench_framework.model.plan import BuildSpec
    from bench_framework.model.run import Build

FRAME_POINTERS: Final = ("-C", "force-frame-pointers=yes")
KEYS: Final = {"debug": "line-tables-only", "strip": "false"}
"""Of the profile. Lines are enough to name functions; a scenario that asks for more keeps it."""
NONE: Final = frozenset({"0", "false", "none"})
CONFIGURED: Final = (
    "--config",
    'build.rustflags=["-C","force-frame-pointers=yes"]',
)
"""Joined by cargo with flags in a configuration file of the crate, which the environment would displace. Where that
file has flags per target, ours are ignored: callers may be missing then, and no flag of the measured build is."""


@dataclass(frozen=True, slots=True)
class Symbols:
    """A program to be profiled, or why there is none."""

    path: str = ""
    sha256: str | None = None
    built: bool = False
    """Whether it is another binary than the measured one."""
    why: str = ""


def with_symbols(
    spec: BuildSpec | None,
    measured: Build,
    launcher: Launcher,
    env: Mapping[str, str],
    observer: Observer,
    place: Path,
) -> Symbols:
    """The binary of a variant with symbols; a program that is not built by us as it is.

    Args:
        spec: of the variant; `None` for such a program.
        measured: what the record measured.
        launcher: starts cargo.
        env: of cargo.
        observer: told of the progress of the second build.
        place: where the program works.
    """
    if not measured.ok or measured.path is None:
        return Symbols(why=measured.message or "it was not built")
    if spec is None:
        path = Path(measured.path)
        digest = worker.sha256_of(path) if path.is_file() else None
        if digest != measured.sha256:
            return Symbols(why=f"{path} is not the program that was measured any more")
        return Symbols(measured.path, digest)
    builder = cargo.Builder(launcher, env, SilentObserver(), contract=False, place=place)
    again = builder.build(spec, 1, 1)
    if again.sha256 != measured.sha256:
        return Symbols(
            why=again.message
            or "its sources, compiler or dependencies changed since it was measured: cargo builds another binary"
        )
    further = () if spec.rustflags else CONFIGURED
    builder = cargo.Builder(launcher, env, observer, contract=False, place=place, further=further)
    build = builder.build(symbols_spec(spec), 1, 1)
    if not build.ok or build.path is None:
        return Symbols(why=f"it cannot be built with symbols: {build.message or 'cargo failed'}")
    return Symbols(build.path, build.sha256, built=True)


def symbols_spec(spec: BuildSpec) -> BuildSpec:
    """The spec with symbols, and with frame pointers where it has flags of its own."""
    own = dict(spec.profile_keys)
    keys = {**own, **KEYS}
    if own.get("debug", "none") not in NONE:
        keys["debug"] = own["debug"]
    flags = (*spec.rustflags, *FRAME_POINTERS) if spec.rustflags else ()
    return replace(spec, profile_keys=tuple(sorted(keys.items())), rustflags=flags)
