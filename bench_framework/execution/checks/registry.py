"""Every check, in the order in which ``doctor`` shows them. A new one is a function and a line here."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from bench_framework.execution.checks import cpu, disk, kernel, memory, tools
from bench_framework.execution.checks.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench_framework.execution.checks.check import Place, Probe

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
    "rustc": "its version is kept with every binary",
    "cc": "crates with C code, such as jemalloc and mimalloc, can be built",
    "git": "revisions can be built, and records know their commit",
    "strip": "sizes without symbols can be told",
    "perf": "programs can be profiled",
    "valgrind": "instructions can be counted exactly",
    "cores": "the timed program and hyperfine need not share one",
    "governor": "the clock is held",
    "load": "little else runs now",
    "virtualisation": "no neighbour takes CPU time",
    "pressure": "runs that others disturbed are marked",
    "memory": "inputs stay in the page cache between rounds",
    "swap": "no page comes back from the disk while a program is timed",
    "huge pages": "programs get them only where they ask",
    "results folder": "records outlive a restart",
    "data folder": "inputs lie on a disk, as they would in earnest",
    "disk space": "builds and inputs fit",
    "O_DIRECT": "modes that bypass the page cache can be measured",
    "io_uring": "its modes can be measured",
    "counters": "instructions can be counted by the hardware",
}
"""What it means that a check is fine, where the check itself has nothing more particular to say."""


def run_checks(place: Place) -> Iterator[Check]:
    """Run every check; one that fails itself says so and the others go on."""
    for name, probe in CHECKS.items():
        try:
            check = probe(place)
            fine = check.state == "ok" and not check.meaning
            yield replace(check, meaning=MEANINGS[name]) if fine else check
        except (OSError, ValueError) as error:
            yield Check(name, "warn", f"could not be checked ({error})")
