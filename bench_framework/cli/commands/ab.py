"""``benchctl ab``: compare commands without a scenario file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from bench_framework.cli import arguments
from bench_framework.cli.console import Console
from bench_framework.model.invocation import RequestOptions

if TYPE_CHECKING:
    from bench_framework.report import Document

EXAMPLES = """
benchctl ab './old data.json' './new data.json'
benchctl ab 'grep -c error {input}' 'rg -c error {input}' --input server.log
benchctl ab -L threads 1,2,4,8 './prog --threads {threads}'
benchctl ab -n serde -n simd './serde data.json' './simd data.json'
benchctl ab --shell --ignore-output 'sort words | uniq -c' 'awk -f count words'
benchctl ab ./old ./new --budget 2m --margin 1% --save bench/old-new.yaml
"""


@arguments.with_options
def ab(
    context: typer.Context,
    commands: Annotated[
        list[str] | None,
        typer.Argument(metavar="CMD", help="Two or more commands; the first one is the baseline."),
    ] = None,
    lists: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter-list",
            "-L",
            metavar="NAME VALUES",
            help="Values that replace {NAME} in the commands, such as `-L threads 1,2,4`. Each value is a "
            "variant.",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--command-name",
            "-n",
            metavar="NAME",
            help="Name of a command in the results: once for each command, in their order.",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            "-r",
            metavar="N",
            min=1,
            help="Measure exactly N rounds, in each of which every command runs. Default: until every "
            "comparison is conclusive.",
        ),
    ] = None,
    warmup: Annotated[
        int | None,
        typer.Option("--warmup", "-w", metavar="N", min=0, help="Warm-up rounds; default: 2."),
    ] = None,
    cleanup: Annotated[
        str | None,
        typer.Option("--cleanup", "-c", metavar="CMD", help="Command to run after each run."),
    ] = None,
    shell: Annotated[
        bool,
        typer.Option("--shell", help="Run the commands with `sh -c`, for pipes and variables."),
    ] = False,
    *,
    common: RequestOptions,
    fresh: arguments.Fresh = False,
) -> None:
    """Compare two or more commands, without a scenario file.

    A round runs every command once, in random order. Measuring stops when
    every comparison is conclusive, or at the time limit (--budget). If outputs
    differ, a warning shows the first difference.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.cli.measurement import print_outcome
    from bench_framework.features.summary.command_lines import command_lines
    from bench_framework.workflow.run import run_plan
    from bench_framework.workflow.run_options import RunOptions
    from bench_framework.workflow.scenarios.command_lines import Commands, plan_commands

    console: Console = context.obj
    request = Commands(
        commands or (),
        lists=lists or (),
        names=names or (),
        runs=runs,
        warmup=warmup,
        cleanup=cleanup,
        shell=shell,
        **arguments.request_values(common),
    )
    plan, text = plan_commands(request)
    options = RunOptions(console.results, fresh=fresh, command=arguments.command_line())
    with display_for(console) as display:
        outcome = run_plan(plan, text, options, display)
    if outcome.document is not None and outcome.judgement is not None:
        lines = command_lines(plan, outcome.judgement, outcome.events)
        outcome = replace(
            outcome, document=_short(outcome.document, lines, rerun=common.save is not None)
        )
    print_outcome(console, outcome)
    raise typer.Exit(outcome.exit_code)


def _short(document: Document, lines: tuple[str, ...], *, rerun: bool) -> Document:
    """Return the results table, one sentence per command, warnings, and the path of the report."""
    from bench_framework.report.blocks import Box, Bullets, Section, Sentence, Table

    blocks = [block for s in document.sections if s.terminal != "nothing" for block in s.blocks]
    tables = (block for block in blocks if isinstance(block, Table))
    boxes = (block for block in blocks if isinstance(block, Box) and block.tone == "warning")
    sentences = Bullets(tuple(Sentence(line) for line in lines))
    sections = (
        Section("", "", "", (*tables, sentences), terminal="all"),
        Section("", "", "", tuple(boxes), terminal="last"),
    )
    files = tuple(path for path in document.files if path.endswith(".html"))
    following = document.next if rerun else ()
    return replace(document, run_line="", sections=sections, files=files, next=following)
