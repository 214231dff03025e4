"""``benchctl schema``: the JSON Schema of scenarios."""

import typer

from bench_framework.cli.console import Console

EXAMPLES = """
benchctl schema > bench/scenario.schema.json
First line of a scenario in the same folder: # yaml-language-server: $schema=scenario.schema.json
"""


def schema(context: typer.Context) -> None:
    """Print the JSON Schema of scenario files, for editors and other tools."""
    from bench_framework.scenario.schema import schema_text

    console: Console = context.obj
    console.emit(schema_text())
