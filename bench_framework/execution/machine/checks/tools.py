"""Checks of the tools that benchctl starts."""

from __future__ import annotations

import shutil
from typing import Final

from bench_framework.execution import hyperfine as hf
from bench_framework.execution.machine.checks.check import Check, Machine, bad, ok, warn
from bench_framework.execution.machine.host import version_of

_ABSENCE: Final = {
    "cc": ("crates with C code (jemalloc, mimalloc) cannot be built", "install gcc or clang"),
    "git": ("revisions cannot be built, and records do not contain the commit", "install git"),
    "perf": ("instructions cannot be counted by hardware counters", "install linux-perf"),
    "valgrind": ("instructions cannot be counted exactly", "install valgrind"),
    "strip": ("binary sizes without symbols are not reported", "install binutils"),
}
"""Effect of the absence of each tool, and its fix. Nothing can be built without the others."""


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
    if name not in _ABSENCE:
        return bad("not found", "nothing can be built", "install Rust from https://rustup.rs")
    return warn("not found", *_ABSENCE[name])
