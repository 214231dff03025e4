"""The commands, one per file, in the order of the help page."""

from __future__ import annotations

from typing import Final

from bench_framework.cli.commands import (
    clean,
    compare,
    doctor,
    explain,
    gate,
    import_files,
    init,
    plan,
    profile,
    report,
    run,
    schema,
    validate,
    verify,
)

COMMANDS: Final = (
    run,
    validate,
    plan,
    init,
    compare,
    report,
    profile,
    verify,
    import_files,
    gate,
    doctor,
    clean,
    schema,
    explain,
)
