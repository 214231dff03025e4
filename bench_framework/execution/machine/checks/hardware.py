"""Checks of processors and memory: number, frequency governor, load, virtualisation, swap."""

import os
import re
from typing import Final

from bench_framework.execution.machine.checks.check import Check, Machine, ok, warn
from bench_framework.execution.machine.host import virtualisation
from bench_framework.units import format_size

BUSY_SHARE: Final = 0.25
"""Load average per core above which another program runs during most samples."""
STEADY: Final = frozenset({"performance"})
GOVERNOR: Final = "devices/system/cpu/cpu{}/cpufreq/scaling_governor"
SCARCE_BYTES: Final = 1 << 30


def cores(machine: Machine) -> Check:  # noqa: ARG001 -- all checks have this signature
    """Count the CPUs of the machine and those that benchctl may use (affinity, cpuset)."""
    there, ours = os.cpu_count() or 1, len(os.sched_getaffinity(0))
    figure = f"{there}" if there == ours else f"{ours} of {there} usable"
    if ours == 1:
        meaning = "hyperfine and the timed program share one core; thread counts cannot be compared"
        return warn(figure, meaning, "give this machine or container a second core")
    return ok(figure)


def governor(machine: Machine, number: int = 0) -> Check:
    """Read the frequency governor of a CPU; virtual machines report none."""
    name = machine.read(machine.sys / GOVERNOR.format(number))
    if not name:
        return ok("not reported", "frequency changes cannot be seen; they widen the noise floor")
    if name in STEADY:
        return ok(name)
    meaning = "the CPU frequency follows the load, so short runs are slower and vary more"
    return warn(name, meaning, "cpupower frequency-set -g performance")


def load(machine: Machine) -> Check:
    """Compare the load average with the number of cores."""
    text = machine.read(machine.proc / "loadavg")
    if text is None:
        return warn("not reported", "other load on this machine cannot be detected")
    value, count = float(text.split()[0]), os.cpu_count() or 1
    if value > BUSY_SHARE * count:
        meaning = "other programs are running, so more rounds are needed for the same precision"
        return warn(f"{value:.2f} on {count} cores", meaning, "stop them, or measure later")
    return ok(f"{value:.2f} on {count} cores")


def virtual(machine: Machine) -> Check:  # noqa: ARG001 -- all checks have this signature
    """Detect a hypervisor or container, which may take CPU time away."""
    name = virtualisation()
    if name is None:
        return ok("none detected")
    return ok(
        name, "other guests may take CPU time; it is recorded as steal if the hypervisor reports it"
    )


def pressure(machine: Machine) -> Check:
    """Look for pressure stall information, which marks runs disturbed by other load."""
    if machine.read(machine.proc / "pressure/cpu") is not None:
        return ok("available")
    meaning = "runs disturbed by other load are not marked; verdicts do not depend on it"
    return warn("not available", meaning, "boot the kernel with psi=1")


def free(machine: Machine) -> Check:
    """Check the available memory; inputs must stay in the page cache between rounds."""
    available = _field(machine, "MemAvailable")
    if available is None:
        return warn("not reported", "it is unknown if inputs fit into the page cache")
    figure = f"{format_size(available)} available"
    if available < SCARCE_BYTES:
        meaning = "inputs may not stay in the page cache and may be read from the disk repeatedly"
        return warn(figure, meaning, "stop other programs, or use smaller inputs")
    return ok(figure)


def swap(machine: Machine) -> Check:
    """Check the swap in use: a page that was swapped out is read back while a program is timed."""
    total, unused = _field(machine, "SwapTotal"), _field(machine, "SwapFree")
    if not total:
        return ok("none")
    used = total - (unused or 0)
    if used > 0:
        meaning = "pages may be read from the disk while a program is timed"
        fix = "swapoff -a && swapon -a, or free memory"
        return warn(f"{format_size(used)} of {format_size(total)} used", meaning, fix)
    return ok(f"{format_size(total)}, unused")


def huge_pages(machine: Machine) -> Check:
    """Read the setting of transparent huge pages, which affects allocators differently."""
    text = machine.read(machine.sys / "kernel/mm/transparent_hugepage/enabled")
    match = re.search(r"\[(\w+)\]", text or "")
    if match is None:
        return ok("not reported")
    meaning = "peak memory grows in steps of 2 MiB" if match[1] == "always" else ""
    return ok(match[1], meaning)


def _field(machine: Machine, name: str) -> int | None:
    match = re.search(
        rf"^{name}:\s+(\d+) kB", machine.read(machine.proc / "meminfo") or "", re.MULTILINE
    )
    return int(match[1]) * 1024 if match else None
