"""Checks of the tools that benchctl starts."""

from __future__ import annotations

import shutil
from typing import Final

from bench_framework.execution import hyperfine as hf
from bench_framework.execution.machine.checks.check import Check, Machine, State, bad, ok, warn
from bench_framework.execution.machine.host import version_of

_NEEDED_FOR: Final[dict[str, tuple[State, str, str]]] = {
    "cargo": ("bad", "nothing can be built", "install Rust from https://rustup.rs"),
    "rustc": ("bad", "nothing can be built", "install Rust from https://rustup.rs"),
    "cc": (
        "warn",
        "crates with C code (jemalloc, mimalloc) cannot be built",
        "install gcc or clang",
    ),
    "git": (
        "warn",
        "revisions cannot be built, and records do not contain the commit",
        "install git",
    ),
    "perf": ("warn", "instructions cannot be counted by hardware counters", "install linux-perf"),
    "valgrind": ("warn", "instructions cannot be counted exactly", "install valgrind"),
    "strip": ("warn", "binary sizes without symbols are not reported", "install binutils"),
}


def hyperfine(machine: Machine) -> Check:
    """Find the hyperfine that `run` would use, without installing one."""
    on_path = shutil.which("hyperfine", path=machine.env.get("PATH"))
    configured = machine.env.get("BENCHCTL_HYPERFINE")
    for path in (configured, on_path, str(hf.cached_path(machine.env))):
        version = path and hf.probe(machine.launcher, machine.env, path)
        if path and version and version >= hf.MINIMUM:
            return ok(f"{'.'.join(map(str, version))} at {path}")
        if path and path == configured:
            return bad(
                f"{path} is not hyperfine {'.'.join(map(str, hf.MINIMUM))} or newer",
                "nothing can be measured",
                "set BENCHCTL_HYPERFINE to such a hyperfine, or unset it",
            )
    meaning = f"the first run installs {hf.INSTALLED} with cargo, which takes about a minute"
    return warn("not found", meaning, f"cargo install --locked hyperfine@{hf.INSTALLED}")


def tool(machine: Machine, name: str) -> Check:
    """Report a tool's version, or the effect of its absence."""
    version = version_of(machine.launcher, name, machine.env)
    if version is not None:
        return ok(version)
    state, meaning, fix = _NEEDED_FOR[name]
    return (bad if state == "bad" else warn)("not found", meaning, fix)
