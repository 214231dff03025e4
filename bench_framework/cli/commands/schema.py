"""``benchctl schema``: JSON Schemas of scenarios, and of the documents of ``--json``."""

from typing import Annotated, Literal

import typer

from bench_framework.cli.console import Console

EXAMPLES = """
benchctl schema > bench/scenario.schema.json
benchctl schema run    # of `benchctl --json run`, `ab`, `sweep` and `ablate`
benchctl schema gate   # of gate.json, suite.json and self-test.json
First line of a scenario in the same folder: # yaml-language-server: $schema=scenario.schema.json
"""


def schema(
    context: typer.Context,
    what: Annotated[
        Literal["scenario", "run", "gate", "plan", "validate", "events"],
        typer.Argument(
            metavar="NAME",
            help="scenario: scenario files; run, gate, plan or validate: the document of the command with --json; "
            "events: the lines of --events.",
        ),
    ] = "scenario",
) -> None:
    """Print a JSON Schema, for editors and other tools."""
    from bench_framework.scenario.schema import schema_text
    from bench_framework.workflow import documents

    console: Console = context.obj
    console.emit(schema_text() if what == "scenario" else documents.schema_text(what))
