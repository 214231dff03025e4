"""``benchctl ab``: compare commands without a scenario file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bench_framework.cli import arguments
from bench_framework.cli.console import Console
from bench_framework.errors import UsageError
from bench_framework.model.plan.invocation import RequestOptions

if TYPE_CHECKING:
    from bench_framework.report.blocks import Document

EXAMPLES = """
benchctl ab './old data.json' './new data.json'
benchctl ab 'grep -c error {input}' 'rg -c error {input}' --input server.log
benchctl ab -L threads 1,2,4,8 './prog --threads {threads}'
benchctl ab -n serde -n simd './serde data.json' './simd data.json'
benchctl ab --shell --ignore-output 'sort words | uniq -c' 'awk -f count words'
benchctl ab --decide ./old ./new    # keep, discard or more-data
benchctl ab -r 20 --setup make --export-json runs.json ./old ./new
benchctl ab ./old ./new --budget 2m --margin 1% --save bench/old-new.yaml
"""
HYPERFINE: Final[Mapping[str, Sequence[str]]] = {
    "BX122.hyperfine-runs": ("-m", "--min-runs", "-M", "--max-runs", "--min-benchmarking-time"),
    "BX122.hyperfine-no-shell": ("-N",),
    "BX122.hyperfine-shell": ("-S", "--shell"),
    "BX122.hyperfine-scan": ("-P", "--parameter-scan", "-D", "--parameter-step-size"),
    "BX122.hyperfine-output": ("--show-output", "--output"),
    "BX122.hyperfine-export": tuple(
        f"--export-{form}" for form in ("asciidoc", "csv", "markdown", "orgmode")
    ),
    "BX122.hyperfine-style": ("--style",),
    "BX122.hyperfine-unit": ("-u", "--time-unit"),
    "BX122.hyperfine-sort": ("--sort",),
    "BX122.hyperfine-reference": ("--reference", "--reference-name"),
    "BX122.hyperfine-metrics": ("--metrics",),
    "BX122.hyperfine-env": ("--env",),
    "BX122.hyperfine-codes": ("--ignore-failure",),
    "BX122.hyperfine-debug": ("--debug-mode",),
}
"""Options of hyperfine that `ab` does not have, by the error that says what it does instead."""
_SIDES: Final = 2
"""The number of commands of which `--decide` chooses one."""
SHELLS: Final = frozenset({"none", "default", "sh", "bash", "dash", "zsh", "fish", "ksh"})


class AbCommand(arguments.HelpCommand):
    """A command line on which an option of hyperfine has an answer of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words. Raises `UsageError` (BX122): an option of hyperfine is not one of `ab`."""
        words = args[: args.index("--")] if "--" in args else args
        if any(word.startswith("-i=") for word in words):
            raise UsageError("BX122.hyperfine-codes", option="-i")
        for option, value in pairwise(words):
            if option == "--shell" and value.rpartition("/")[2] in SHELLS:
                raise UsageError("BX122.hyperfine-shell", option=option)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # click, whose errors these are, has a private name in typer
            name = getattr(error, "option_name", None)
            key = next((key for key, options in HYPERFINE.items() if name in options), None)
            if key is None:
                raise
            raise UsageError(key, option=name) from None


COMMAND = AbCommand


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
    setup: Annotated[
        str | None,
        typer.Option(
            "--setup", "-s", metavar="CMD", help="Command to run once, before all rounds."
        ),
    ] = None,
    conclude: Annotated[
        str | None,
        typer.Option(
            "--conclude",
            "-C",
            metavar="CMD",
            help="Command to run after each run (`cleanup` in a scenario).",
        ),
    ] = None,
    cleanup: Annotated[
        str | None,
        typer.Option(
            "--cleanup", "-c", metavar="CMD", help="Command to run once, after all rounds."
        ),
    ] = None,
    export_json: Annotated[
        Path | None,
        typer.Option(
            "--export-json",
            metavar="FILE",
            help="Also write every run to FILE, as JSON of hyperfine 1.x.",
        ),
    ] = None,
    decide: Annotated[
        bool,
        typer.Option(
            "--decide",
            help="Print only `keep`, if the second of two commands is faster (exit code 0), `discard`, if it "
            "is not or prints another output (1), or `more-data`, if neither is shown (4).",
        ),
    ] = False,
    shell: Annotated[
        bool,
        typer.Option("--shell", help="Run the commands with `sh -c`, for pipes and variables."),
    ] = False,
    *,
    common: RequestOptions,
    fresh: arguments.Fresh = False,
    events: arguments.Events = None,
) -> None:
    """Compare two or more commands, without a scenario file.

    A round runs every command once, in random order. Measuring stops when
    every comparison is conclusive, or at the time limit (--budget). If outputs
    differ, a warning shows the first difference.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.cli.measurement import exit_code_of, print_outcome
    from bench_framework.store import layout
    from bench_framework.workflow.run import run_plan
    from bench_framework.workflow.run_options import RunOptions
    from bench_framework.workflow.scenarios.command_lines import Commands, once, plan_commands

    console: Console = context.obj
    console.events = events
    request = Commands(
        commands or (),
        lists=lists or (),
        names=names or (),
        runs=runs,
        warmup=warmup,
        conclude=conclude,
        setup=setup,
        cleanup=cleanup,
        shell=shell,
        differs="refuse" if decide else "warn",
        **arguments.request_values(common),
    )
    if export_json is not None:
        layout.output_path(export_json)  # an unusable path is an error before the measurement
    before, after = once(request, "setup"), once(request, "cleanup")
    plan, text = plan_commands(request)
    if decide and len(plan.variants) != _SIDES:
        raise UsageError("BX122.decide-needs-two", count=len(plan.variants))
    if decide and not plan.answer.refuses:
        raise UsageError("BX122.decide-without-output")
    options = RunOptions(
        console.results,
        fresh=fresh,
        command=arguments.command_line(),
        setup=before,
        cleanup=after,
    )
    with display_for(console) as display:
        outcome = run_plan(plan, text, options, display)
    # Imported here, because they load numpy: the first run starts earlier.
    from bench_framework.features.summary.command_lines import command_lines, decision

    if outcome.document is not None and outcome.judgement is not None and not console.json:
        lines = command_lines(plan, outcome.judgement, outcome.events)
        outcome = replace(
            outcome, document=_short(outcome.document, lines, rerun=common.save is not None)
        )
    exit_code = outcome.exit_code
    word = decision(outcome.judgement) if decide and outcome.judgement is not None else None
    if word:
        exit_code = exit_code_of(word)
        outcome = replace(outcome, exit_code=exit_code)
    if word and not console.json:
        console.emit(word)
    else:
        print_outcome(console, outcome)
    if export_json is not None and outcome.record is not None and outcome.judgement is not None:
        exit_code = max(exit_code, _export(console, outcome.record, export_json))
    raise typer.Exit(exit_code)


def _export(console: Console, record: Path, file: Path) -> int:
    """Write the runs of a record as hyperfine does. Return the exit code of an error."""
    from bench_framework.store import layout
    from bench_framework.workflow.records.export import export_record

    try:
        layout.write_output(file, export_record(console.results, str(record), "hyperfine"))
    except UsageError as error:  # every command failed
        console.error(error)
        return error.exit_code
    console.say(f"wrote {file}")
    return 0


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
