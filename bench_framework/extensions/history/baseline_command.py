"""``benchctl baseline``: names of records, comparison with them, and accepted regressions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.arguments import RecordName
from bench_framework.cli.console import Console, table_lines

if TYPE_CHECKING:
    from bench_framework.errors import RecordError
    from bench_framework.extensions.history.baselines import Saved

EXAMPLES = """
benchctl baseline save main
benchctl baseline compare main
benchctl baseline accept --reason 'checks its input' --until 2027-03-31
benchctl report @main    # in every command, @NAME is the record of a baseline
"""
HELP = "Give a record a name, to compare later records with it. Or accept a regression that `gate` confirmed."
Name = Annotated[
    str, Argument(metavar="NAME", help="A baseline: NAME, or SCENARIO@NAME if several have it.")
]
Force = Annotated[
    bool, Option("--force", help="Replace a baseline of this name from another machine.")
]


def save(
    context: typer.Context,
    name: Annotated[str, Argument(metavar="NAME", help="Name, such as main or v1.2.")],
    record: RecordName = "@last",
    force: Force = False,
) -> None:
    """Save a record under a name, as the reference for later records.

    A name is unique among the records of a scenario: an older baseline of this name is replaced.
    """
    from bench_framework.extensions.history import baselines

    console: Console = context.obj
    _show_saved(console, baselines.save(console.results, name, record, force=force), "saved")


def _show_saved(console: Console, saved: Saved, done: str) -> None:
    from bench_framework.extensions.history import baselines

    baseline, before = saved
    if console.json:
        console.emit_json(baselines.document(console.results, baseline, before))
        return
    text = f"{done} {baseline.label}: record {baseline.record}, machine {baseline.machine.digest}"
    if before is not None and before.record != baseline.record:
        text += f"; it was record {before.record}"
    console.emit_sentence(text)


def list_(
    context: typer.Context,
    scenario: Annotated[
        str | None, Argument(metavar="SCENARIO", help="Only the baselines of this scenario.")
    ] = None,
) -> None:
    """List the baselines in the folder of records."""
    from bench_framework.extensions.history.baselines import BaselinesDocument, document
    from bench_framework.store import baselines

    console: Console = context.obj

    def warn(path: Path, error: RecordError) -> None:
        if scenario in (None, path.parents[1].name):
            console.warn_of(error)

    every = baselines.find_all(console.results, damaged=warn)
    listed = [b for b in every if scenario in (None, b.scenario)]
    if console.json:
        documents = (document(console.results, baseline) for baseline in listed)
        console.emit_json(BaselinesDocument(tuple(documents)))
        return
    if not listed:
        console.say(f"there are no baselines to list in {console.results}")
        return
    rows = [("baseline", "record", "machine", "saved", "")]
    for b in listed:
        fault = b.fault_in(console.results)
        text = fault and f"the record {fault}"
        rows.append((b.label, b.record, b.machine.digest, b.saved_at[:10], text))
    console.emit("\n".join(table_lines(rows)))


def show(context: typer.Context, name: Name) -> None:
    """Show a baseline: its record, its machine, and its file."""
    from bench_framework.extensions.history.baselines import document
    from bench_framework.store import baselines
    from bench_framework.text.numbers import format_moment

    console: Console = context.obj
    baseline = baselines.find(console.results, name)
    fault = baseline.fault_in(console.results)
    rows = (
        ("baseline", baseline.label),
        ("record", f"{baseline.folder_in(console.results)}{f', which {fault}' if fault else ''}"),
        ("digest", baseline.digest),
        ("saved", f"{format_moment(baseline.saved_at)} UTC"),
        ("machine", baseline.machine.digest),
        *((f"  {name}", value) for name, value in baseline.machine.facts.items()),
        ("file", str(baseline.file_in(console.results))),
    )
    lines = "\n".join(f"{label:<10}  {text}" for label, text in rows)
    console.emit_result(document(console.results, baseline), lines)


def compare(
    context: typer.Context,
    name: Name,
    record: Annotated[
        str | None,
        Argument(
            metavar="RECORD",
            help="Record to compare with the baseline; default: the newest one of its scenario.",
        ),
    ] = None,
    force: Annotated[
        bool, Option("--force", help="Compare records of different machines, and mark the result.")
    ] = False,
) -> None:
    """Compare a record with a baseline, as `benchctl compare` does with two records.

    Configurations that did not change show how much the machine changed. The
    result is exploratory. For decisions in CI, use `benchctl gate --base REV`.
    """
    from bench_framework.extensions.history import baselines

    console: Console = context.obj
    console.warn_of_changes(name if "@" in name else f"@{name}", record)
    compared = baselines.compare(console.results, name, record, force=force)
    console.emit_result(compared.json, compared.document, full=True)


def accept(
    context: typer.Context,
    reason: Annotated[str, Option(metavar="TEXT", help="Why the regression is accepted.")],
    until: Annotated[
        str, Option(metavar="DATE", help="Last day of the acceptance, as 2027-03-31; or never.")
    ],
    record: RecordName = "@last",
    only: Annotated[
        str | None, Option("--only", "-k", metavar="FILTER", help="Only these configurations.")
    ] = None,
    metric: Annotated[
        str | None, Option(metavar="NAME", help="Only regressions of this metric.")
    ] = None,
    file: Annotated[
        Path | None,
        Option(metavar="FILE", help="File to write; default: `gate.accepted` of the scenario."),
    ] = None,
) -> None:
    """Accept the regressions that `benchctl gate` confirmed in a record.

    Each is written to the file of accepted changes with the size that was
    measured, rounded up. Commit the file. The gate fails again if the
    regression becomes larger, or after the last day.
    """
    from bench_framework.workflow import acceptance

    console: Console = context.obj
    done = acceptance.accept(
        console.results,
        record,
        reason=reason,
        until=until,
        only=only,
        metric=metric,
        file=file,
    )
    console.emit_result(done, done.diff)
    if not console.json:
        how = f" with -S {done.option}" if done.option else ""
        console.say(f"wrote {done.file}; review and commit it, then repeat the gate{how}")


def export(
    context: typer.Context,
    name: Name,
    out: Annotated[
        Path | None,
        Option(
            "--out", "-o", metavar="FILE", help="Archive to write; default: SCENARIO-NAME.tar.gz."
        ),
    ] = None,
) -> None:
    """Write a baseline and its record as one archive."""
    from bench_framework.extensions.history import baselines
    from bench_framework.workflow.documents import FileDocument

    console: Console = context.obj
    path = baselines.export(console.results, name, out)
    console.emit_result(FileDocument(path, "tar.gz", path.stat().st_size), f"wrote {path}")


def import_(
    context: typer.Context,
    archive: Annotated[Path, Argument(metavar="FILE", help="Archive of `baseline export`.")],
    force: Force = False,
) -> None:
    """Add the baseline and the record of an archive to the folder of records.

    All files are compared with the manifest of the record. A record that was
    made up can match its manifest: import only archives from people you trust.
    """
    from bench_framework.extensions.history import baselines

    console: Console = context.obj
    saved = baselines.import_archive(console.results, archive, force=force)
    _show_saved(console, saved, "imported")


PARTS = {
    save: "benchctl baseline save main\nbenchctl baseline save v1.2 parse/20260302T1704Z",
    list_: "benchctl baseline list\nbenchctl baseline list parse --json",
    show: "benchctl baseline show main",
    compare: "benchctl baseline compare main\nbenchctl baseline compare parse@main @last --force",
    accept: "benchctl baseline accept --reason 'checks its input' --until 2027-03-31\n"
    "benchctl baseline accept -k size=1GiB --reason '#12' --until never",
    export: "benchctl baseline export main -o main.tar.gz",
    import_: "benchctl baseline import main.tar.gz",
}
"""The subcommands with their examples."""
