"""Is this machine fit to measure?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.execution.checks.check import Check


def examine_machine(results: Path) -> tuple[Check, ...]:
    """Every check of the doctor, in order; nothing is changed but a few files that are removed again."""
    from bench_framework.execution import host, process
    from bench_framework.execution.checks.check import Place
    from bench_framework.execution.checks.registry import run_checks

    host.require_linux()
    env = host.environment()
    with process.Launcher() as launcher:
        return tuple(run_checks(Place(launcher, env, results, host.cache_root(env) / "data")))
