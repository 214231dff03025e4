"""``benchctl gate``: has a candidate become worse than is tolerated?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bench_framework.cli.arguments import Base, Head, Only, Overrides
from bench_framework.cli.console import Console
from bench_framework.cli.measurement import judge, measure, show
from bench_framework.errors import UsageError

if TYPE_CHECKING:
    from bench_framework.workflow.run_options import RunOptions

EPILOG = """
[bold]Examples[/bold]

benchctl gate --base merge-base bench/io.yaml

benchctl gate

benchctl run bench/io.yaml --gate

benchctl gate @last --json | jq '.pairs[] | select(.state == "worse").text'

What looks worse is measured again in fresh rounds, and only what is worse there too fails the gate.
Exit codes: 0 passed, 1 worse, 3 could not measure, 4 could not judge.
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Guard CI")(gate)


def gate(
    context: typer.Context,
    record: Annotated[
        str,
        typer.Argument(
            metavar="RECORD|FILE",
            help="A record's folder, SCENARIO/ID, @last or @prev; or a scenario (.yaml), which is measured first.",
        ),
    ] = "@last",
    base: Base = None,
    head: Head = None,
    only: Only = None,
    overrides: Overrides = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not resume an interrupted record.")
    ] = False,
    no_confirm: Annotated[
        bool,
        typer.Option(
            "--no-confirm", help="Measure nothing again: what looks worse is not judged (exit 4)."
        ),
    ] = False,
) -> None:
    """Judge a record against its scenario's gate, measure again what looks worse, and write the files for CI.

    Of a scenario it measures a record first: with --base, or `against` in its gate, every variant at two revisions.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.run_options import RunOptions

    console: Console = context.obj
    if base is not None or record.endswith((".yaml", ".yml")):
        options = RunOptions(
            results=console.results,
            only=only,
            overrides=tuple(overrides or ()),
            fresh=fresh,
            base=base,
            head=head,
            gate=True,
        )
        _measured(console, record, options, confirm=not no_confirm)
        return
    _refuse_alone(head=head, only=only, set=overrides)
    with display_for(console) as display:
        found = judge(console, record, display, confirm=not no_confirm, fresh=fresh)
    show(console, found)
    if found.gating.exit_code:
        raise typer.Exit(found.gating.exit_code)


def _measured(console: Console, file: str, options: RunOptions, *, confirm: bool) -> None:
    """Measure a scenario and judge what it left."""
    if file.startswith("@"):
        raise UsageError(
            "--base needs a scenario: which one is measured?", help="benchctl gate --base REV FILE"
        )
    measure(console, file, options, confirm=confirm)


def _refuse_alone(**given: object) -> None:
    """Options that mean nothing for a record that exists."""
    named = [f"--{name}" for name, value in given.items() if value]
    if named:
        raise UsageError(
            f"{', '.join(named)}: a record is judged as it was measured",
            help="name a scenario in place of the record, and it is measured first",
        )
