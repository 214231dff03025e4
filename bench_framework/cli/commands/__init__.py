"""The commands, one per file, in the order of the help page."""

from __future__ import annotations

from typing import Final

from bench_framework.cli.commands import (
    ab,
    ablate,
    audit,
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
    sweep,
    try_scenario,
    validate,
    verify,
)

COMMANDS: Final = {
    "Run": (run, ab, sweep, ablate, validate, plan, try_scenario, init),
    "Inspect": (compare, report, profile, verify, import_files, audit),
    "CI": (gate,),
    "Machine": (doctor, clean),
    "Help": (schema, explain),
}
"""The modules by panel of the help page. A command is the function with the name of its module."""
NAMES: Final = {"import_files": "import", "explain": "help", "try_scenario": "try"}
"""Names of commands that are not the name of their module."""
