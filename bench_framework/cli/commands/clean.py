"""``benchctl clean``: list and remove cached files and records."""

from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.console import Console
from bench_framework.registry import registry
from bench_framework.text.numbers import fixed, format_size
from bench_framework.units import counted, parse_duration

EXAMPLES = """
benchctl clean                                  # only list
benchctl clean --yes --older 720h data builds   # older than 30 days
"""


def clean(
    context: typer.Context,
    kinds: Annotated[
        list[str] | None,
        Argument(
            metavar="KIND",
            help="Kinds of items. Default: builds, binaries, data, tools, scratch. Only if named: "
            + ", ".join(("records", "suites", "self-tests", *registry().targets("cache folder")))
            + ".",
        ),
    ] = None,
    older: Annotated[
        str | None,
        Option(
            metavar="TIME",
            help="Only items older than this, such as 720h. Use of an item does not change its age.",
        ),
    ] = None,
    yes: Annotated[
        bool, Option("--yes", help="Remove the items; without it, only list them.")
    ] = False,
) -> None:
    """List cached builds, inputs and tools by age and size; with --yes, remove them.

    Removal waits for the builds and measurements of other processes. A record
    that another process measures is not listed. The kind scratch contains the
    temporary folders and unfinished records of killed processes. An item of
    suites is the result of a suite without its records, and an item of
    self-tests the result of a self-test with its records.
    """
    from bench_framework.cli.display import display_for
    from bench_framework.workflow.cache import CleanDocument, list_items, remove_items

    console: Console = context.obj
    try:
        seconds = 0.0 if older is None else parse_duration(older)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--older") from error
    given = tuple(kinds or ())
    items = list_items(console.results, kinds=given, older_s=seconds, warn=console.warn_of)
    if yes:
        with display_for(console) as display:
            remove_items(items, display)
    if console.json:
        console.emit_json(CleanDocument(tuple(items)))
        return
    for item in items:
        size, days = format_size(item.bytes), item.age_s / 86400
        console.emit(f"{item.kind:<10} {size:>10}  {fixed(days, 1):>5} d  {item.path}")
    for kind in dict.fromkeys(item.kind for item in items):
        sizes = [item.bytes for item in items if item.kind == kind]
        console.emit(f"{kind:<10} {format_size(sum(sizes)):>10}  in {counted(len(sizes), 'item')}")
    total = f"{counted(len(items), 'item')}, {format_size(sum(item.bytes for item in items))}"
    console.emit(f"removed: {total}" if yes else f"total: {total}; --yes removes them")
