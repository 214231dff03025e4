"""Processors: how many, how fast, who else uses them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from bench_framework.execution.checks.check import Check
from bench_framework.execution.host import virtualisation

if TYPE_CHECKING:
    from bench_framework.execution.checks.check import Place

BUSY_SHARE: Final = 0.25
"""Of the cores: above it, another program runs during most blocks."""
STEADY: Final = frozenset({"performance"})


def cores(place: Place) -> Check:  # noqa: ARG001 -- every check is called alike
    """CPUs of the machine, and those that we may use (affinity, cpuset)."""
    there, ours = os.cpu_count() or 1, len(os.sched_getaffinity(0))
    figure = f"{there}" if there == ours else f"{ours} of {there} may be used"
    if ours == 1:
        return Check(
            "cores",
            "warn",
            figure,
            "hyperfine and the timed program share one core; threads cannot be compared",
            "give this machine or container a second core",
        )
    return Check("cores", "ok", figure)


def governor(place: Place) -> Check:
    """The frequency governor of the first CPU; virtual machines show none."""
    said = place.read(place.sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if said is None:
        return Check("governor", "ok", "not visible", "the clock may change unseen; the control arm shows it")
    if said in STEADY:
        return Check("governor", "ok", said)
    return Check(
        "governor",
        "warn",
        said,
        "the clock follows the load, so short runs are slower and vary more",
        "cpupower frequency-set -g performance",
    )


def load(place: Place) -> Check:
    """Load average against the number of cores."""
    text = place.read(place.proc / "loadavg")
    if text is None:
        return Check("load", "warn", "not visible", "whether others use this machine is unknown")
    value, count = float(text.split()[0]), os.cpu_count() or 1
    if value > BUSY_SHARE * count:
        return Check(
            "load",
            "warn",
            f"{value:.2f} on {count} cores",
            "other programs run: more rounds are needed for the same answer",
            "stop them, or measure later",
        )
    return Check("load", "ok", f"{value:.2f} on {count} cores")


def virtual(place: Place) -> Check:  # noqa: ARG001 -- every check is called alike
    """Whether a hypervisor may take time away."""
    found = virtualisation()
    if found is None:
        return Check("virtualisation", "ok", "none seen")
    return Check(
        "virtualisation",
        "ok",
        found,
        "neighbours may take CPU time; it is recorded as steal where the hypervisor tells",
    )


def pressure(place: Place) -> Check:
    """Pressure stall information, by which contended runs are marked."""
    if place.read(place.proc / "pressure/cpu") is not None:
        return Check("pressure", "ok", "available")
    return Check(
        "pressure",
        "warn",
        "not available",
        "contended runs cannot be marked as such; verdicts do not need it",
        "boot with psi=1",
    )
