"""``benchctl sweep``: compare values of a variable, an argument or a build setting."""

from typing import Annotated

import typer

from bench_framework.cli import arguments
from bench_framework.cli.console import Console
from bench_framework.model.plan.invocation import ProgramOptions

EXAMPLES = """
benchctl sweep ENV:BLOCKING_MAX_THREADS=1,2,4,8 -- ./search words.txt
benchctl sweep threads=1,2,4 buffer=64K,1M -- ./prog -t {threads} -b {buffer}
benchctl sweep PROFILE:lto=off,thin,fat --input data.json -- {bin} {input}
benchctl sweep FEATURES:allocator=none,jemalloc,mimalloc -- {bin} data.json
benchctl sweep sort=quick,radix n=1K,1M --input '{n}' -- ./prog {sort} {n}
"""
COMMAND = arguments.WordsCommand


@arguments.with_options
def sweep(
    context: typer.Context,
    lists: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME=VALUES",
            help="What to vary, and its values. NAME=1,2 replaces {NAME} in the command. "
            "ENV:NAME=1,2 sets an environment variable. PROFILE:KEY=1,2 sets a key of the crate's "
            "cargo profile. FEATURES:NAME=none,a,a+b builds the crate without these cargo features, "
            "with a, and with a and b; NAME is a label of your choice. A feature that a variant does "
            "not list is disabled, even if it is a default feature. Write the command after `--`. "
            "{bin} is the binary of the crate.",
        ),
    ] = None,
    *,
    common: ProgramOptions,
    fresh: arguments.Fresh = False,
) -> None:
    """Compare values of an argument, an environment variable or a build setting of one program.

    With several lists, every combination is measured. The baseline has the
    first value of each list. A list that --input names is no setting: variants
    are compared on each of its values.
    """
    from bench_framework.cli.measurement import measure_plan
    from bench_framework.workflow.scenarios.command_lines import Sweep, plan_sweep

    console: Console = context.obj
    request = Sweep(
        command=context.meta[arguments.AFTER_DASHES] or (),
        lists=lists or (),
        **arguments.request_values(common),
    )
    measure_plan(console, *plan_sweep(request), fresh=fresh)
