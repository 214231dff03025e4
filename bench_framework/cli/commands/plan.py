"""``benchctl plan``: preview the builds and runs of a scenario."""

from dataclasses import replace

import typer

from bench_framework.cli.arguments import Base, Head, Only, Overrides, ScenarioFiles, TimeLimit
from bench_framework.cli.console import Console
from bench_framework.cli.suite import plan_several

EXAMPLES = """
benchctl plan quickstart
benchctl plan bench/io.yaml -k size=10MiB -v    # list every command
benchctl plan bench/ --base main --budget 20m   # of several scenarios
"""


def plan(
    context: typer.Context,
    files: ScenarioFiles,
    only: Only = None,
    overrides: Overrides = None,
    base: Base = None,
    head: Head = None,
    budget: TimeLimit = None,
) -> None:
    """Show what a run would build and measure, and how long it would take.

    Nothing is built or run. The page also shows the smallest difference that the
    run could detect. --verbose lists the commands. Of several scenarios, it shows
    how they divide budget and error rate.
    """
    from bench_framework.cli.plan_page import page
    from bench_framework.workflow.run_options import RunOptions, plan_run
    from bench_framework.workflow.scenarios.suite_files import is_suite
    from bench_framework.workflow.setup.forecast import forecast_document, forecast_plan

    console: Console = context.obj
    options = RunOptions(console.results, only, overrides or (), base=base, head=head)
    if is_suite(files):
        plan_several(console, files, options, budget)
        return
    if budget is not None:
        options = replace(options, overrides=(*options.overrides, f"measure.budget={budget}"))
    forecast = forecast_plan(plan_run(files[0], options), console.results)
    text = page(forecast, width=console.width, commands=console.verbosity > 0)
    console.emit_result(forecast_document(forecast), text)
