"""``benchctl profile``: profile the functions of the programs of a record."""

from typing import Annotated

import typer
from typer import Option

from bench_framework.cli.arguments import Only, RecordName
from bench_framework.cli.console import Console
from bench_framework.model.plan.profile import (
    MOST_HZ,
    ProfilePolicy,
    SamplerWanted,
    UnwindingWanted,
)

DEFAULTS = ProfilePolicy()
EXAMPLES = """
benchctl profile @last
benchctl profile @last -k 'io=mmap size=200MiB' --runs 10
benchctl profile @last --bucket hashing=hash --bucket 'memory=malloc|memmove'
"""


def profile(
    context: typer.Context,
    record: RecordName = "@last",
    only: Only = None,
    runs: Annotated[
        int | None,
        Option(
            min=1, metavar="N", help=f"Profiled runs per configuration; default: {DEFAULTS.runs}."
        ),
    ] = None,
    frequency: Annotated[
        int | None,
        Option(
            min=1,
            max=MOST_HZ,
            metavar="HZ",
            help=f"Samples per second; default: {DEFAULTS.frequency}.",
        ),
    ] = None,
    sampler: Annotated[
        SamplerWanted | None,
        Option(help="Profiler; default: perf, or callgrind where perf is not permitted."),
    ] = None,
    stacks: Annotated[
        UnwindingWanted | None,
        Option(metavar="MODE", help="Stack unwinding of perf: auto, frame-pointers or dwarf."),
    ] = None,
    bucket: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=REGEX",
            help="Group of functions by name; a function belongs to the first group that matches.",
        ),
    ] = None,
) -> None:
    """Profile the programs of a record, and add the profiles to its report."""
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.profile import ProfileOptions, profile_record

    console: Console = context.obj
    options = ProfileOptions(only, runs, frequency, sampler, stacks, tuple(bucket or ()))
    with display_for(console) as display:
        result = profile_record(console.results, record, options, display)
    if console.json:
        console.emit_json(result.json)
    else:
        console.emit_document(result.document, full=True)
        console.say(f"wrote {result.json.record / 'profiles'} and the report")
    raise typer.Exit(result.json.exit_code)
