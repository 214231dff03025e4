"""Checks of the processors: number, frequency governor, load, virtualisation."""

from __future__ import annotations

import os
from typing import Final

from bench_framework.execution.machine.checks.check import Check, Machine, ok, warn
from bench_framework.execution.machine.host import virtualisation

BUSY_SHARE: Final = 0.25
"""Load average per core above which another program runs during most samples."""
STEADY: Final = frozenset({"performance"})
GOVERNOR: Final = "devices/system/cpu/cpu{}/cpufreq/scaling_governor"


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
