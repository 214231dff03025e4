"""``benchctl gate``: fail if a candidate is slower than the scenario tolerates."""

from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli import arguments as shared
from bench_framework.cli.benches import WITHOUT_FILE, text_of_benches
from bench_framework.cli.console import Console
from bench_framework.cli.measurement import apply_gate, hosts_of, measure, show
from bench_framework.cli.self_test import refuse, run_self_test
from bench_framework.cli.suite import measure_several
from bench_framework.errors import UsageError

LAST = "@last"
REPETITIONS = 5

EXAMPLES = """
benchctl gate bench/io.yaml --base main    # measure this branch and main
benchctl gate bench/ --base main --budget 20m   # all scenarios of a folder
benchctl gate @last                        # check an existing record
benchctl run bench/io.yaml --gate          # measure a scenario, then check it
benchctl gate bench/io.yaml --base main --scheduler tcp://127.0.0.1:8786
benchctl gate --base main --bench all      # the benchmarks of this crate
benchctl gate --bench parse --id 'json/*' --budget 5m
benchctl gate bench/io.yaml --base main --decide   # keep, discard or more-data
benchctl gate bench/io.yaml --self-test    # would it find a slowdown here?
benchctl gate @last --json | jq '.pairs[] | select(.state == "worse").text'
If the rounds of a record are too few to judge, the gate measures more.
A possible regression is measured again in new rounds. It fails the gate only if these confirm it.
Exit codes: 0 passed, 1 regression, 2 wrong input, 3 could not measure, 4 could not judge.
"""


def gate(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        Argument(
            metavar="RECORD|FILE...",
            help=(
                "A record (folder, SCENARIO/ID, @last, @prev, @BASELINE), or scenarios (.yaml) to measure "
                "first: files, or a folder that contains them. Default: @last."
            ),
            show_default=False,
        ),
    ] = None,
    *,
    bench: shared.BenchTargets = None,
    bench_id: shared.BenchIds = None,
    package: shared.BenchPackage = None,
    base: shared.Base = None,
    head: shared.Head = None,
    only: shared.Only = None,
    overrides: shared.Overrides = None,
    fresh: shared.Fresh = False,
    budget: shared.TimeLimit = None,
    decide: Annotated[
        bool,
        Option(
            "--decide",
            help="Print only `keep`, if something is faster and nothing is worse (exit code 0), `discard`, if "
            "something is worse, prints another output, or nothing differs (1), or `more-data`, if none of this is "
            "shown (4). Measure until this is known.",
        ),
    ] = False,
    self_test: Annotated[
        bool,
        Option(
            "--self-test",
            help="Test the gate itself, on this machine: measure the base against itself, which must pass, and against "
            "a copy that is slowed down, which must fail. Exit with 1 if it does not. Benchmarks and suites "
            "can be tested, too.",
        ),
    ] = False,
    repetitions: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            help="With --self-test: gates of equal programs, and of a slower copy. Each takes at most the time limit "
            f"of the scenario, twice if it finds a regression. Default: {REPETITIONS}.",
        ),
    ] = None,
    slowdown: Annotated[
        str | None,
        Option(
            metavar="PERCENT",
            help="With --self-test: share of its own time by which the copy is slower. Default: twice the tolerated "
            "increase, from 10% to 50%. Half of it and so on is tried as well, until it is not found.",
        ),
    ] = None,
    expect: shared.ExpectScenario = None,
    events: shared.Events = None,
    no_confirm: Annotated[
        bool,
        Option(
            "--no-confirm",
            help="Judge the existing rounds only, with those of an earlier second measurement: measure no "
            "further rounds, and no possible regression again. Exit with 4 where this is not enough to judge.",
        ),
    ] = False,
    everything: Annotated[
        bool,
        Option(
            "--all",
            help="Of several scenarios, also measure those that the change since --base cannot affect, because "
            "it changes no file of the crates of their programs.",
        ),
    ] = False,
    scheduler: shared.Scheduler = None,
    host: Annotated[
        str,
        Option(
            metavar="NAME",
            help="With --scheduler: the machine that measures first. With NAME,NAME, only the other ones "
            "that are named may confirm a regression; default: those of the same kind.",
        ),
    ] = "",
    insecure: shared.Insecure = False,
) -> None:
    """Measure a scenario, measure possible regressions again, and fail if one is confirmed.

    The key `gate` of the scenario states what counts as a regression. If you
    name a record instead of a scenario, its rounds are judged, and measuring goes
    on only if the gate needs more (with --no-confirm, never). With --base, or
    with the key `gate.against`, every variant is measured at two revisions. With
    --bench, the default of --base is merge-base. The result is also written as
    JSON, JUnit and Markdown, for CI. Several scenarios have one result, one error
    rate and one budget. With --scheduler, one host of a fleet measures, and
    another one of the same kind confirms.
    """
    from bench_framework.workflow.run_options import RunOptions
    from bench_framework.workflow.scenarios.suite_files import is_record_name, is_suite

    console: Console = context.obj
    console.events = events
    names = names or [LAST]
    record, several = names[0], is_suite(names) and not is_record_name(console.results, names)
    hosts = hosts_of(scheduler, host, insecure=insecure, several=several)
    settings = [*(overrides or ())]
    if budget is not None and not several:
        settings.append(f"measure.budget={budget}")
    text = text_of_benches(bench, bench_id, package, others=(hosts, names != [LAST]))
    if text:
        record = WITHOUT_FILE
    options = RunOptions(
        console.results,
        only,
        settings,
        fresh,
        base=base,
        head=head,
        gate=True,
        command=shared.command_line(),
        text=text,
        decide=decide,
        expect=expect,
    )
    if self_test:
        refuse({"--scheduler": hosts, "--decide": decide, "--no-confirm": no_confirm})
        tested, times = names if several else [record], repetitions or REPETITIONS
        code = run_self_test(
            console, tested, options, times, slowdown, several=several, budget=budget
        )
        raise typer.Exit(code)
    if repetitions is not None or slowdown is not None:
        raise UsageError("BX100.without-self-test")
    if several:
        measure_several(
            console, names, options, budget=budget, confirm=not no_confirm, skip=not everything
        )
    if text or base is not None or record.endswith((".yaml", ".yml")):
        if record.startswith("@"):
            raise UsageError("BX100.base-without-scenario", base=base)
        measure(console, record, options, confirm=not no_confirm, hosts=hosts)
        return
    given = {
        "head": head,
        "only": only,
        "set": overrides,
        "budget": budget,
        "scheduler": scheduler,
        "expect-scenario": expect,
        "all": everything,
    }
    if options_of_files := [f"--{name}" for name, value in given.items() if value or value == ""]:
        raise UsageError("BX100.option-of-scenario", options_of_files=", ".join(options_of_files))
    console.warn_of_changes(record)
    result = apply_gate(console, record, options.command, confirm=not no_confirm, fresh=fresh)
    raise typer.Exit(show(console, result, decide=decide))
