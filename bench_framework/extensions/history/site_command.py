"""``benchctl site``: write pages of all records for a host of static files."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.console import Console, one_line
from bench_framework.errors import Interrupted

EXAMPLES = """
benchctl site public
benchctl site public --repository https://github.com/acme/parser
benchctl --dir /srv/results site /srv/www/benchmarks --json
"""
MOST_NAMED = 5
EVERY_S = 10.0
"""Interval of the lines about progress."""


def site(
    context: typer.Context,
    out: Annotated[Path, Argument(metavar="OUT", help="Folder of the site.")],
    repository: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="Repository whose commits the pages link to; default: the remote `origin` of the "
            "current folder, if it is an https URL.",
        ),
    ] = None,
) -> None:
    """Write a static website with the history of each scenario and all reports.

    Publish the folder on any host of static files. The same command updates it:
    it rewrites only what changed, and keeps files that it did not write.
    """
    from bench_framework.execution.machine.host import seconds
    from bench_framework.extensions.history.site import origin, write_site
    from bench_framework.text.reasons import phrase

    console: Console = context.obj
    if repository is not None and not repository.startswith("https://"):
        raise typer.BadParameter("give an https URL", param_hint="--repository")
    remote = origin() if repository is None else repository
    last = seconds()

    def notify(done: int, reports: int) -> None:
        nonlocal last
        if seconds() - last >= EVERY_S:
            last = seconds()
            console.say(f"rendered {done} of {reports} reports")

    try:
        written = write_site(console.results, out, remote=remote, notify=notify)
    except KeyboardInterrupt as error:
        raise Interrupted("BX130.site") from error
    for name, reason in written.left_out[:MOST_NAMED]:
        console.say(f"left out {name}: {phrase(reason)}")
    if len(written.left_out) > MOST_NAMED:
        console.say(f"left out {len(written.left_out) - MOST_NAMED} more records")
    if console.json:
        console.emit_json(written)
        return
    counts = f"wrote {len(written.written)} and removed {len(written.removed)} files"
    console.say(counts if written.written or written.removed else "nothing changed")
    console.emit(one_line(f"{out / 'index.html'}: {written.records} records"))
