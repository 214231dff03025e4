"""``benchctl run``: measure a scenario and write the report."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from bench_framework.cli import arguments as shared
from bench_framework.cli.console import Console
from bench_framework.cli.measurement import hosts_of, measure
from bench_framework.cli.suite import measure_several
from bench_framework.errors import ScenarioError, UsageError

EXAMPLES = """
benchctl run quickstart                  # a bundled scenario
benchctl run bench/io.yaml --quick       # check that everything works
benchctl run bench/io.yaml -k 'io!=mmap size<=50MiB' --budget 5m
benchctl run bench/io.yaml --idle 0.3    # wait for an idle machine
benchctl run bench/io.yaml --sessions 3 --every 30m   # at three times
benchctl run bench/io.yaml --sessions 2..6 --budget 20m   # as needed
benchctl run bench/io.yaml --base main   # compare the working tree with main
benchctl run bench/ --budget 20m         # all scenarios of a folder
benchctl run bench/io.yaml --scheduler tls://fleet.example:8786   # elsewhere
benchctl run bench/io.yaml --scheduler tls://fleet.example:8786 --host all
Ctrl-C waits until the program that is running ends, then stops and keeps all results.
Run the same command again to continue.
"""


def run(
    context: typer.Context,
    files: shared.ScenarioFiles,
    only: shared.Only = None,
    overrides: shared.Overrides = None,
    quick: Annotated[
        bool,
        Option("--quick", help="Run 3 rounds without verdicts, to check that everything works."),
    ] = False,
    rounds: Annotated[
        str | None,
        Option(
            metavar="MIN:MAX",
            help="Smallest and largest number of rounds, such as 20:200, or one number for both. Default: "
            "from FILE, else at least 12, and at most as many as the budget allows.",
        ),
    ] = None,
    budget: shared.TimeLimit = None,
    until: Annotated[
        str | None,
        Option(
            metavar="WHEN",
            help="When to stop. `conclusive`: as soon as every comparison is conclusive. `X%`: as soon as "
            "the half-width of every confidence interval is at most X%. `rounds`: after MAX rounds. The "
            "time limit (--budget) also applies. Default: from FILE, else `conclusive`.",
        ),
    ] = None,
    sessions: shared.Sessions = None,
    every: shared.Every = None,
    out: Annotated[
        Path | None,
        Option(metavar="DIR", help="Folder that contains the records; the same as --dir."),
    ] = None,
    fresh: shared.Fresh = False,
    profile: Annotated[
        bool | None,
        Option(
            "--profile/--no-profile", help="Profile functions after measuring. Default: from FILE."
        ),
    ] = None,
    cache_sim: Annotated[
        bool,
        Option(
            "--cache-sim",
            help="Estimate cache misses and cycles in the runs that count instructions, which then take "
            "two to three times as long. Needs valgrind.",
        ),
    ] = False,
    embed_runs: shared.EmbedRuns = None,
    template: shared.Template = None,
    gated: Annotated[
        bool,
        Option(
            "--gate",
            help="After measuring, exit with 1 if a variant is worse than the baseline; with --base: if "
            "the working tree is worse than REV. `benchctl help gate` describes the gate.",
        ),
    ] = False,
    base: shared.Base = None,
    head: shared.Head = None,
    expect: shared.ExpectScenario = None,
    events: shared.Events = None,
    idle: Annotated[
        float | None,
        Option(
            metavar="LOAD",
            help="Wait before the first round until the load average of the last minute is below "
            "LOAD, such as 0.3; fail after ten minutes.",
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        Option(
            metavar="KEY",
            help="Sign the measurements with this SSH key; `benchctl verify --signer` checks the "
            "signature.",
        ),
    ] = None,
    scheduler: shared.Scheduler = None,
    host: Annotated[
        str,
        Option(
            metavar="NAME",
            help="With --scheduler: machine to measure on. NAME,NAME or all: measure on several machines, "
            "and compare their results. Default: `hosts` of FILE, else the machine with the shortest "
            "queue.",
        ),
    ] = "",
    insecure: shared.Insecure = False,
) -> None:
    """Build the variants of a scenario, measure them, and write a report.

    A configuration is a variant on one input. A round runs, in random order,
    each configuration that has no final verdict yet. One with a final verdict
    runs in every fourth round. An axis is a setting that the scenario varies.
    Several scenarios share one budget and one error rate.
    """
    from bench_framework.workflow.run_options import RunOptions
    from bench_framework.workflow.scenarios.suite_files import is_suite

    console: Console = context.obj
    console.events = events
    several = is_suite(files)
    more = _overrides(
        quick=quick,
        rounds=rounds,
        budget=None if several else budget,
        until=until,
        sessions=sessions,
        every=every,
        cache_sim=cache_sim,
    )
    options = RunOptions(
        results=out or console.results,
        only=only,
        overrides=(*(overrides or ()), *more),
        fresh=fresh,
        profile=profile,
        embed_runs=embed_runs,
        template=template,
        base=base,
        head=head,
        gate=gated,
        idle=idle,
        sign=sign,
        command=shared.command_line(),
        expect=expect,
    )
    hosts = hosts_of(scheduler, host, insecure=insecure, several=several)
    try:
        if several:
            measure_several(console, files, options, budget=budget)
        file = files[0]
        if hosts is not None and not gated and hosts.several(file, options):
            hosts.measure_on_several(console, file, options)
        else:
            measure(console, file, options, hosts=hosts)
    except ScenarioError as error:
        raise _of_option(error, more) from None


def _of_option(error: ScenarioError, given: list[str]) -> UsageError:
    """Return the first error in the value of an option, which names the option, else `error`."""
    from bench_framework.workflow.scenarios.request import in_option

    for problem in error.problems:
        override = (problem.file or "").removeprefix("-S ")
        if override in given:
            key = override.partition("=")[0]
            message, option = in_option(problem, key)
            return UsageError(
                "BX100.value-of-option",
                problem=message,
                advice=problem.fix,
                option=option,
                label=problem.label,
            )
    return error


def _overrides(
    *,
    quick: bool,
    rounds: str | None,
    until: str | None,
    sessions: str | None = None,
    cache_sim: bool = False,
    **others: str | None,
) -> list[str]:
    """Return the options of this command as overrides of the scenario, which is where they are checked."""
    from bench_framework.workflow.run_options import QUICK
    from bench_framework.workflow.scenarios.request import flow, number_or_range, whole_number

    overrides: list[str] = []
    if quick:
        overrides += QUICK
    if rounds is not None:
        low, colon, high = rounds.partition(":")
        ends = ", ".join(f"{end}: {n}" for end, n in (("min", low), ("max", high)) if n)
        value = f"{{{ends}}}" if colon and ends else flow(whole_number(rounds))
        overrides.append(f"measure.rounds={value}")
    if sessions is not None:
        overrides.append(f"measure.sessions={flow(number_or_range(sessions))}")
    overrides += [f"measure.{key}={value}" for key, value in others.items() if value is not None]
    if cache_sim:
        overrides.append("metrics.instructions.cache-sim=true")
    if until is not None:
        value = f"{{precision: {until}}}" if until.endswith("%") else until
        overrides.append(f"measure.until={value}")
    return overrides
