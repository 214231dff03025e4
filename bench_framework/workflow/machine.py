"""Checks of the machine for ``benchctl doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.execution.machine.checks.check import Check


def examine_machine(results: Path) -> tuple[Check, ...]:
    """Run all checks in order. Temporary files are removed again."""
    from bench_framework.execution import process
    from bench_framework.execution.machine import host
    from bench_framework.execution.machine.checks import run_checks
    from bench_framework.execution.machine.checks.check import Machine

    host.require_linux()
    env = host.environment()
    with process.Launcher() as launcher:
        return tuple(run_checks(Machine(launcher, env, results, host.cache_root(env) / "data")))
