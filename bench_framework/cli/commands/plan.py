"""``benchctl plan``: preview the builds and runs of a scenario."""

from __future__ import annotations

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
    """Preview builds, runs, duration and the smallest detectable difference, without measuring.

    Nothing is built or run. --verbose lists the commands.
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
