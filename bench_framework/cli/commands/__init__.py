"""The commands of the core, one per file, in the order of the help page. Extensions add more."""

from typing import Final

from bench_framework.cli.commands import (
    ab,
    ablate,
    clean,
    explain,
    gate,
    init,
    plan,
    run,
    schema,
    sweep,
    try_scenario,
    validate,
)
from bench_framework.cli.commands.records import compare, export, profile, report, verify

COMMANDS: Final = {
    "Run": (run, ab, sweep, ablate, validate, plan, try_scenario, init),
    "Inspect": (compare, report, profile, verify, export),
    "CI": (gate,),
    "Machine": (clean,),
    "Help": (schema, explain),
}
"""The modules by panel of the help page. A command is the function with the name of its module."""
NAMES: Final = {"explain": "help", "try_scenario": "try"}
"""Names of commands that are not the name of their module."""
