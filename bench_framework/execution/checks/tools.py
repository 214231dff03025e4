"""Which tools are there."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from bench_framework.execution import hyperfine as hf
from bench_framework.execution.checks.check import Check
from bench_framework.execution.host import version_of

if TYPE_CHECKING:
    from bench_framework.execution.checks.check import Place, State

_NEEDED_FOR: Final[dict[str, tuple[State, str, str]]] = {
    "cargo": ("bad", "nothing can be built", "install Rust from https://rustup.rs"),
    "rustc": ("bad", "nothing can be built", "install Rust from https://rustup.rs"),
    "cc": ("warn", "crates with C code (jemalloc, mimalloc) cannot be built", "install gcc or clang"),
    "git": ("warn", "no revisions, and records do not know which commit was built", "install git"),
    "perf": ("warn", "no instruction counts by hardware counters", "install linux-perf"),
    "valgrind": ("warn", "no exact instruction counts", "install valgrind"),
    "strip": ("warn", "no sizes without symbols", "install binutils"),
}


def hyperfine(place: Place) -> Check:
    """The hyperfine that `run` would use; nothing is installed here."""
    name = "hyperfine"
    on_path = shutil.which("hyperfine", path=place.env.get("PATH"))
    named = place.env.get("BENCHCTL_HYPERFINE")
    for path in (named, on_path, str(hf.cached_path(place.env))):
        version = path and hf.probe(place.launcher, place.env, path)
        if path and version and version >= hf.MINIMUM:
            return Check(name, "ok", f"{'.'.join(map(str, version))} at {path}")
        if path and path == named:
            return Check(
                name, "bad", f"{path} is unfit", "nothing can be measured", "correct BENCHCTL_HYPERFINE"
            )
    return Check(
        name,
        "warn",
        "not found",
        f"the first run installs {hf.INSTALLED} by cargo, about a minute",
        f"cargo install --locked hyperfine@{hf.INSTALLED}",
    )


def tool(place: Place, name: str) -> Check:
    """A tool's version, or what is missing without it."""
    version = version_of(place.launcher, name, place.env)
    if version is not None:
        return Check(name, "ok", version)
    state, meaning, mend = _NEEDED_FOR[name]
    return Check(name, state, "not found", meaning, mend)
