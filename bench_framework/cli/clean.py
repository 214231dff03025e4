"""``benchctl clean``: what lies in the cache and among the records, and its removal."""

from __future__ import annotations

from typing import Annotated

import typer

from bench_framework.cli.console import Console, counted
from bench_framework.units import format_size, parse_duration

EPILOG = """
[bold]Examples[/bold]

benchctl clean

benchctl clean --yes --older 720h data builds
"""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG, rich_help_panel="Look")(clean)


def clean(
    context: typer.Context,
    kinds: Annotated[
        list[str] | None,
        typer.Argument(metavar="KIND", help="Of: builds, binaries, data, tools, records."),
    ] = None,
    older: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only what was last used longer ago, such as 720h."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Remove; without it, only list.")] = False,
) -> None:
    """List what benchctl keeps on this machine, by kind, age and size; with --yes, remove it."""
    from bench_framework.workflow.cache import list_kept, remove_kept

    console: Console = context.obj
    try:
        seconds = parse_duration(older) if older else 0.0
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--older") from error
    kept = list_kept(console.results, kinds=tuple(kinds or ()), older_s=seconds)
    if yes:
        remove_kept(kept)
    if console.json:
        console.emit_json(
            [
                {"kind": k.kind, "path": str(k.path), "bytes": k.size_bytes, "age_s": k.age_s}
                for k in kept
            ]
        )
        return
    for item in kept:
        console.emit(
            f"{item.kind:<9} {format_size(item.size_bytes):>10}  {item.age_s / 86400:5.1f} d  {item.path}"
        )
    for kind in dict.fromkeys(item.kind for item in kept):
        sizes = [item.size_bytes for item in kept if item.kind == kind]
        console.emit(f"{kind:<9} {format_size(sum(sizes)):>10}  in {counted(len(sizes), 'item')}")
    total = format_size(sum(item.size_bytes for item in kept))
    console.emit(
        f"{'removed' if yes else 'would remove with --yes'}: {counted(len(kept), 'item')}, {total}"
    )
