"""``benchctl plan``: preview the builds and runs of a scenario."""

import typer

from bench_framework.cli.arguments import Base, Head, Only, Overrides, ScenarioFile
from bench_framework.cli.console import Console

EXAMPLES = """
benchctl plan quickstart
benchctl plan bench/io.yaml -k size=10MiB -v    # list every command
"""


def plan(
    context: typer.Context,
    file: ScenarioFile,
    only: Only = None,
    overrides: Overrides = None,
    base: Base = None,
    head: Head = None,
) -> None:
    """Show what a run would build and measure, and how long it would take.

    Nothing is built or run. The page also shows the smallest difference that the
    run could detect. --verbose lists the commands.
    """
    from bench_framework.cli.plan_page import page
    from bench_framework.workflow.setup.forecast import forecast_document, forecast_scenario

    console: Console = context.obj
    forecast = forecast_scenario(
        file, results=console.results, only=only, overrides=overrides or (), base=base, head=head
    )
    if console.json:
        console.emit_json(forecast_document(forecast))
        return
    console.emit(page(forecast, width=console.width, commands=console.verbosity > 0))
