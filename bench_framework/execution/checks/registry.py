"""Every check, in the order in which ``doctor`` shows them. A new one is a function and a line here."""

from __future__ import annotations

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


def run_checks(place: Place) -> Iterator[Check]:
    """Run every check; one that fails itself says so and the others go on."""
    for name, probe in CHECKS.items():
        try:
            yield probe(place)
        except (OSError, ValueError) as error:
            yield Check(name, "warn", f"could not be checked ({error})")
