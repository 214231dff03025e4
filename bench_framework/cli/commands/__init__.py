"""The commands, one per file, in the order of the help page."""

from typing import Final

from bench_framework.cli.commands import (
    ab,
    ablate,
    baseline,
    bisect,
    clean,
    doctor,
    explain,
    fleet,
    gate,
    history,
    init,
    plan,
    run,
    schema,
    sweep,
    try_scenario,
    validate,
)
from bench_framework.cli.commands.records import (
    audit,
    compare,
    export,
    import_files,
    profile,
    report,
    site,
    verify,
)

COMMANDS: Final = {
    "Run": (run, ab, sweep, ablate, validate, plan, try_scenario, init),
    "Inspect": (compare, report, profile, verify, import_files, export, audit, site),
    "CI": (gate, history, bisect, baseline),
    "Machine": (doctor, clean, fleet),
    "Help": (schema, explain),
}
"""The modules by panel of the help page.

A command is the function with the name of its module, or the functions in its `PARTS`.
"""
NAMES: Final = {"import_files": "import", "explain": "help", "try_scenario": "try"}
"""Names of commands that are not the name of their module."""
