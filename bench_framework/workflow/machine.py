"""Is this machine fit to measure?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.execution.checks import Check


def examine_machine(results: Path) -> tuple[Check, ...]:
    """Every check of the doctor, in order; nothing is changed but a few files that are removed again."""
    from bench_framework.execution import checks, host, process  # noqa: PLC0415 -- only for the doctor

    host.require_linux()
    with process.Launcher() as launcher:
        return checks.examine(launcher, host.environment(), results=results)
