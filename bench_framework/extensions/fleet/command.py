"""``benchctl fleet``: measure for clients that use ``benchctl run --scheduler``; show and compare hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from bench_framework.cli.arguments import Insecure
from bench_framework.cli.console import Console, table_lines
from bench_framework.text.lines import wrap
from bench_framework.text.names import first_items
from bench_framework.text.numbers import fixed, format_clock, format_size

if TYPE_CHECKING:
    from bench_framework.extensions.fleet.hosts import HostStatus

EXAMPLES = """
benchctl fleet worker tcp://127.0.0.1:8786
benchctl fleet status --scheduler tcp://127.0.0.1:8786
benchctl run bench/io.yaml --scheduler tcp://127.0.0.1:8786
benchctl fleet compare io/20260302T1704Z io/20260302T1704Z-2
"""
HELP = "Measure on other machines, connected by Dask, a Python library for clusters."


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
    label: Annotated[
        list[str] | None,
        Option(
            metavar="LABEL",
            help="Label by which `hosts` of a scenario chooses this host; can be repeated. Its architecture "
            "is always one.",
        ),
    ] = None,
    insecure: Insecure = False,
) -> None:
    """Measure scenarios on this machine for clients, one at a time, until Ctrl-C.

    Each client that can reach the scheduler can run programs here.
    """
    from bench_framework.extensions.fleet.hosts import serve

    console: Console = context.obj
    serve(scheduler, name, labels=label or (), insecure=insecure, say=console.say)


def status(
    context: typer.Context,
    scheduler: Annotated[
        str, Option(metavar="ADDRESS", help="Address of the Dask scheduler, or its scheduler file.")
    ],
    insecure: Insecure = False,
) -> None:
    """List the hosts of a scheduler: what they measure, load, free disk space, kind and versions.

    A host is lost if its worker ended without being stopped. It has no contact
    if it is registered and sent nothing for 15 s. `+2` after the scenario is the
    number of waiting runs. The progress is the number of finished rounds and the
    longest remaining time.
    """
    from bench_framework.extensions.fleet.hosts import hosts_of

    console: Console = context.obj
    hosts = hosts_of(scheduler, insecure=insecure)
    if console.json:
        from bench_framework.extensions.fleet.documents import StatusDocument

        console.emit_json(StatusDocument(tuple(hosts)))
        return
    if not hosts:
        console.say(f"no host is registered: start `benchctl fleet worker {scheduler}` on one")
        return
    width = min(console.width, _WIDTH)
    groups = [part for line in _groups(hosts) for part in wrap(line, width, rest="  ")]
    console.emit("\n".join([*_table([_HEAD, *map(_row, hosts)]), "", *groups]))


_WIDTH: Final = 80
_WIDEST: Final = (16, 24, 17, 5, 8, 6)
"""Most columns of each cell. If a line is longer than `_WIDTH`, the state is shortened further."""
_SHORT_DIGEST: Final = 6
_HEAD: Final = ("host", "state", "progress", "load", "free", "kind")
_MOST_NAMED: Final = 8
"""Most hosts whose names are listed per kind and version."""


def _row(host: HostStatus) -> tuple[str, ...]:
    waiting = f" +{host.waiting}" if host.waiting else ""
    state = f"{host.state} {host.scenario}".strip() + waiting
    progress = ""
    if host.state in ("lost", "no contact"):
        progress = f"for {format_clock(host.since_s)}"
    elif host.scenario and host.done is None:
        progress = "preparing"
    elif host.done is not None:
        progress = f"{host.done}/{host.total}" if host.total else f"{host.done}"
        progress += f", {format_clock(host.left_s)}" if host.left_s is not None else " rounds"
    load = "" if host.load is None else fixed(host.load, 2)
    free = "" if host.free_bytes is None else format_size(host.free_bytes, digits=2)
    return host.host, state, progress, load, free, host.kind[:_SHORT_DIGEST]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table of at most `_WIDTH` columns."""
    longest = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths = [min(pair) for pair in zip(longest, _WIDEST, strict=True)]
    widths[1] -= max(0, sum(widths) + 2 * (len(widths) - 1) - _WIDTH)
    short = [
        [
            text if len(text) <= w else f"{text[: w - 1]}…"
            for text, w in zip(row, widths, strict=True)
        ]
        for row in rows
    ]
    return table_lines(short)


def _groups(hosts: Sequence[HostStatus]) -> Iterator[str]:
    """Return what hosts have in common, with their names: kind, versions, labels."""
    groups: dict[str, list[str]] = defaultdict(list)
    for host in hosts:
        facts = ", ".join(f"{name} {value}" for name, value in host.facts.items())
        groups[f"kind {host.kind[:_SHORT_DIGEST]} ({facts})"].append(host.host)
    for host in hosts:
        versions = ", ".join(f"{name} {value or 'none'}" for name, value in host.versions.items())
        groups[f"versions {versions}"].append(host.host)
    for host in hosts:
        for label in host.labels:
            groups[f"label {label}"].append(host.host)
    for what, names in groups.items():
        yield f"{what}: {first_items(names, _MOST_NAMED, ', ')}"


def compare(
    context: typer.Context,
    records: Annotated[
        list[str], Argument(metavar="RECORD", help="Records of one scenario, each of another host.")
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
    from bench_framework.extensions.fleet import host_results

    console: Console = context.obj
    console.warn_of_changes(*records)
    page = host_results.compare_records_of_hosts(console.results, records)
    files = page.write(out) if out is not None else ()
    console.emit_result(page.comparison, page.document)
    for path in files:
        console.say(f"wrote {path}")


PARTS = {
    worker: """
benchctl fleet worker tcp://127.0.0.1:8786
benchctl fleet worker tls://scheduler.example:8786 --name rack-7 --label arm64
""",
    status: """
benchctl fleet status --scheduler tcp://127.0.0.1:8786
benchctl --json fleet status --scheduler tls://scheduler.example:8786
""",
    compare: """
benchctl fleet compare io/20260302T1704Z io/20260302T1704Z-2 --out hosts
""",
}
"""The commands with their examples."""
