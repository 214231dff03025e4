"""``benchctl history``: show how a scenario's figures changed over records and revisions."""

import gc
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.arguments import Only, Overrides, command_line
from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_INTERRUPTED, EXIT_WORSE, UsageError

EXAMPLES = """
benchctl history parse                       # the scenario `parse`
benchctl history parse -k 'parser=simd' --plot history.svg
benchctl history parse --fail-on-change 10   # check the last 10 records
benchctl history bench/parse.yaml --backfill v1..main --every 10
Ctrl-C stops --backfill and keeps what was measured; the same command resumes.
Exit codes: 1 a change (only with --fail-on-change), 3 a revision failed.
"""


def history(
    context: typer.Context,
    scenario: Annotated[
        str | None,
        Argument(
            metavar="SCENARIO",
            help="Name of a scenario with records, or its file; default: that of the newest record.",
            show_default=False,
        ),
    ] = None,
    only: Only = None,
    metric: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Metric: wall, cpu, iteration (of benchmarks), peak_rss, or a count such as instructions; default: "
            "wall, of benchmarks iteration.",
        ),
    ] = None,
    machine: Annotated[
        str | None,
        Option(
            metavar="FINGERPRINT",
            help="Use the records of this machine; default: that of the newest record.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, Option(metavar="FILE", help="Write the chart to this SVG file.")
    ] = None,
    fail_on_change: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            help="Exit with 1 if a configuration has a confirmed change within its last N records.",
        ),
    ] = None,
    backfill: Annotated[
        str | None,
        Option(
            metavar="A..B",
            help="First measure the commits from A to B that have no record, newest first; with -k, only "
            "these configurations.",
        ),
    ] = None,
    every: Annotated[
        int, Option(metavar="N", min=1, help="With --backfill: measure every N-th commit.")
    ] = 1,
    overrides: Overrides = None,
) -> None:
    """Show how the results of a scenario changed from commit to commit.

    Only records of one machine are compared. Configurations whose program did
    not change show how much the machine changed; this change is subtracted.
    --set applies to the records that --backfill measures.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.extensions.history.backfill import measure_commits, summary
    from bench_framework.extensions.history.page import document
    from bench_framework.extensions.history.series import scenario_history
    from bench_framework.workflow.run_options import RunOptions

    console: Console = context.obj
    if plot is not None and plot.suffix != ".svg":
        raise UsageError("BX100.no-svg-file", plot=plot)
    failed = 0
    if backfill is not None:
        options = RunOptions(console.results, only, overrides or (), command=command_line())
        with display_for(console) as display:
            done = measure_commits(scenario, backfill, every, options, display)
        for line in summary(done, options.command):
            console.say(line, level=-1)
        if done.exit_code == EXIT_INTERRUPTED:
            raise typer.Exit(done.exit_code)
        failed = done.exit_code
    elif every != 1 or overrides:
        raise UsageError("BX100.every-without-backfill")
    gc.disable()  # the points of a long history are in no circles, and live until the end
    try:
        result = scenario_history(
            console.results, scenario, metric=metric, only=only, machine=machine
        )
    finally:
        gc.enable()
    page = document(result, plot=plot is not None)
    if plot is not None:
        from bench_framework.report import figures
        from bench_framework.store.layout import write_output

        drawing = figures.drawings(page)[page.figures()[0].anchor]
        write_output(plot, figures.standalone(drawing, page.figures()[0]))
    if console.json:
        console.emit_json(result, indent=None)
    else:
        console.emit_document(page)
    changed = fail_on_change and result.changed(fail_on_change)
    raise typer.Exit(failed or (EXIT_WORSE if changed else 0))
