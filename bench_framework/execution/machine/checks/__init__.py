"""Registry of checks, in the order of ``benchctl doctor``. A new check is a function and a line."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bench_framework.execution.machine import host
from bench_framework.execution.machine.checks import cpu, disk, kernel, memory, tools
from bench_framework.execution.machine.checks.check import Check, Machine
from bench_framework.execution.process import Launcher

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench_framework.execution.machine.checks.check import Probe

CHECKS: Final[dict[str, Probe]] = {
    "hyperfine": tools.hyperfine,
    "cargo": partial(tools.tool, name="cargo"),
    "rustc": partial(tools.tool, name="rustc"),
    "cc": partial(tools.tool, name="cc"),
    "git": partial(tools.tool, name="git"),
    "strip": partial(tools.tool, name="strip"),
    "perf": partial(tools.tool, name="perf"),
    "valgrind": partial(tools.tool, name="valgrind"),
    "cores": cpu.cores,
    "governor": cpu.governor,
    "load": cpu.load,
    "virtualisation": cpu.virtual,
    "pressure": cpu.pressure,
    "memory": memory.free,
    "swap": memory.swap,
    "huge pages": memory.huge_pages,
    "results folder": disk.results,
    "data folder": disk.data,
    "disk space": disk.room,
    "O_DIRECT": disk.direct_io,
    "io_uring": kernel.io_uring,
    "counters": kernel.counters,
}


MEANINGS: Final[dict[str, str]] = {
    "hyperfine": "times every run",
    "cargo": "builds the variants",
    "rustc": "its version is recorded with every binary",
    "cc": "crates with C code, such as jemalloc and mimalloc, can be built",
    "git": "revisions can be built; records contain the commit",
    "strip": "binary sizes without symbols are reported",
    "perf": "programs can be profiled",
    "valgrind": "instructions can be counted exactly",
    "cores": "the timed program and hyperfine run on different cores",
    "governor": "the CPU frequency is constant",
    "load": "few other programs are running",
    "virtualisation": "no other guest takes CPU time",
    "pressure": "runs disturbed by other load are marked",
    "memory": "inputs stay in the page cache between rounds",
    "swap": "no page is read from the disk while a program is timed",
    "huge pages": "programs get them only on request",
    "results folder": "records survive a reboot",
    "data folder": "inputs are on a disk, as in production",
    "disk space": "builds and inputs fit",
    "O_DIRECT": "modes that bypass the page cache can be measured",
    "io_uring": "its modes can be measured",
    "counters": "hardware counters of instructions are available",
}
"""Effect of a check that passed, used if the check itself gives none."""


def examine_machine(results: Path) -> tuple[Check, ...]:
    """Run all checks in order. Temporary files are removed again."""
    host.require_linux()
    env = host.environment()
    with Launcher() as launcher:
        return tuple(run_checks(Machine(launcher, env, results, host.cache_root(env) / "data")))


def run_checks(machine: Machine) -> Iterator[Check]:
    """Run every check; a check that raises an error is reported as a warning."""
    for name, probe in CHECKS.items():
        try:
            check = probe(machine)
            meaning = check.meaning or (MEANINGS[name] if check.state == "ok" else "")
            yield replace(check, name=name, meaning=meaning)
        except (OSError, ValueError) as error:
            yield Check(name, "warn", f"could not be checked ({error})")
