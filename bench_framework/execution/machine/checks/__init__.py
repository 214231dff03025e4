"""Registry of checks, in the order of ``benchctl doctor``. A new check is a function and a line."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bench_framework.execution.machine import host
from bench_framework.execution.machine.checks import hardware, system
from bench_framework.execution.machine.checks.check import Check, Machine, Probe
from bench_framework.execution.process import Launcher

CHECKS: Final[dict[str, tuple[Probe, str]]] = {
    "hyperfine": (system.hyperfine, "times every run"),
    "cargo": (partial(system.tool, name="cargo"), "builds the variants"),
    "rustc": (partial(system.tool, name="rustc"), "its version is recorded with every binary"),
    "cc": (
        partial(system.tool, name="cc"),
        "crates with C code, such as jemalloc and mimalloc, can be built",
    ),
    "git": (partial(system.tool, name="git"), "revisions can be built; records contain the commit"),
    "strip": (partial(system.tool, name="strip"), "binary sizes without symbols are reported"),
    "perf": (partial(system.tool, name="perf"), "programs can be profiled"),
    "valgrind": (partial(system.tool, name="valgrind"), "instructions can be counted exactly"),
    "cores": (hardware.cores, "the timed program and hyperfine run on different cores"),
    "governor": (hardware.governor, "the CPU frequency is constant"),
    "load": (hardware.load, "few other programs are running"),
    "virtualisation": (hardware.virtual, "no other guest takes CPU time"),
    "pressure": (hardware.pressure, "runs disturbed by other load are marked"),
    "memory": (hardware.free, "inputs stay in the page cache between rounds"),
    "swap": (hardware.swap, "no page is read from the disk while a program is timed"),
    "huge pages": (hardware.huge_pages, "programs get them only on request"),
    "results folder": (system.results, "records survive a reboot"),
    "data folder": (system.data, "inputs are on a disk, as in production"),
    "disk space": (system.room, "builds and inputs fit"),
    "O_DIRECT": (system.direct_io, "modes that bypass the page cache can be measured"),
    "io_uring": (system.io_uring, "its modes can be measured"),
    "counters": (system.counters, "hardware counters of instructions are available"),
}
"""Each check, with its effect if it passed and gives none itself."""


def examine_machine(results: Path) -> tuple[Check, ...]:
    """Run all checks in order. Temporary files are removed again."""
    host.require_linux()
    env = host.environment()
    with Launcher() as launcher:
        return tuple(run_checks(Machine(launcher, env, results, host.cache_root(env) / "data")))


def run_checks(machine: Machine) -> Iterator[Check]:
    """Run every check; a check that raises an error is reported as a warning."""
    for name, (probe, meaning) in CHECKS.items():
        try:
            check = probe(machine)
            default = meaning if check.state == "ok" else ""
            yield replace(check, name=name, meaning=check.meaning or default)
        except (OSError, ValueError) as error:
            yield Check(name, "warn", f"could not be checked ({error})")
