"""``benchctl ablate``: what each feature of a crate contributes."""

from typing import Annotated

import typer

from bench_framework.cli import arguments
from bench_framework.cli.console import Console
from bench_framework.model.plan.invocation import ProgramOptions

EXAMPLES = """
benchctl ablate --features simd,mimalloc -- --count words.txt
benchctl ablate --features simd,cache --input data.json --budget 5m -- {input}
"""
COMMAND = arguments.WordsCommand


@arguments.with_options
def ablate(
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="-- ARGS", help="Arguments of the binary.")
    ] = None,
    features: Annotated[
        str, typer.Option(metavar="A,B", help="Features of the crate, separated by commas.")
    ] = "",
    *,
    common: ProgramOptions,
    fresh: arguments.Fresh = False,
) -> None:
    """Measure what each cargo feature of a crate contributes to its speed and memory use.

    The baseline is built with all features of --features. Each variant lacks one of them.
    """
    from bench_framework.cli.measurement import measure_plan
    from bench_framework.workflow.scenarios.command_lines import Ablation, plan_ablation
    from bench_framework.workflow.scenarios.program_request import BIN

    console: Console = context.obj
    request = Ablation(
        command=[BIN, *(words or ())], features=features, **arguments.request_values(common)
    )
    measure_plan(console, *plan_ablation(request), fresh=fresh)
