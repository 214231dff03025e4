"""``benchctl fleet``: measure for clients that use ``benchctl run --scheduler``; compare hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.arguments import Insecure
from bench_framework.cli.console import Console

EXAMPLES = """
benchctl fleet worker tcp://127.0.0.1:8786
benchctl run bench/io.yaml --scheduler tcp://127.0.0.1:8786   # from any machine that reaches the scheduler
benchctl fleet compare io/20260302T1704Z io/20260302T1704Z-2   # records of two hosts
"""
HELP = "Measure on other hosts: each host runs one worker of a Dask scheduler."


def worker(
    context: typer.Context,
    scheduler: Annotated[
        str,
        Argument(
            metavar="SCHEDULER",
            help="Address of a Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT, or its scheduler file.",
        ),
    ],
    name: Annotated[
        str, Option(metavar="NAME", help="Name of this host; default: its host name.")
    ] = "",
    insecure: Insecure = False,
) -> None:
    """Measure scenarios on this machine for clients, one at a time, until Ctrl-C.

    Each client that can reach the scheduler can run programs here.
    """
    from bench_framework.workflow.fleet.worker import serve

    console: Console = context.obj
    serve(scheduler, name, insecure=insecure, say=console.say)


def compare(
    context: typer.Context,
    records: Annotated[
        list[str],
        Argument(metavar="RECORD...", help="Records of one scenario, each of another host."),
    ],
    out: Annotated[
        Path | None,
        Option(
            "--out", "-o", metavar="DIR", help="Also write hosts.html, hosts.md and hosts.json."
        ),
    ] = None,
) -> None:
    """Show whether the verdicts of a scenario agree on several hosts.

    Each verdict is that of the host's own record. Times of different hosts
    are not pooled. For three or more hosts of one kind, a random-effects
    summary gives the mean ratio and its variation between hosts.
    """
    from bench_framework.workflow.fleet import host_results

    console: Console = context.obj
    console.warn_of_changes(*records)
    page = host_results.compare_records_of_hosts(console.results, records)
    files = page.write(out) if out is not None else ()
    if console.json:
        console.emit_json(page.json)
    else:
        console.emit_document(page.document)
    for path in files:
        console.say(f"wrote {path}")


PARTS = {
    worker: """
benchctl fleet worker tcp://127.0.0.1:8786
benchctl fleet worker tls://scheduler.example:8786 --name rack-7
""",
    compare: """
benchctl fleet compare io/20260302T1704Z io/20260302T1704Z-2 --out hosts
""",
}
"""The commands with their examples."""
