"""``benchctl verify``: check the file hashes of a record or page and recompute every result."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_WORSE
from bench_framework.units import counted

EXAMPLES = """
benchctl verify @last
benchctl verify results/quickstart/20260302T1704Z
benchctl verify @last --digest 3f0c9a1d27b8e654
benchctl verify @last --signer ~/.ssh/id_ed25519.pub
benchctl verify ~/mail/report.html
benchctl verify docs/benchmarks/sort    # a published report
Exit code 1: at least one difference; each is printed.
"""
MOST_SHOWN = 20


def verify(
    context: typer.Context,
    record: Annotated[
        str,
        Argument(
            metavar="RECORD",
            help="A record: its folder, SCENARIO/ID, @last, @prev or @BASELINE; a published report; or a single "
            "report.html.",
        ),
    ] = "@last",
    digest: Annotated[
        str | None,
        Option(
            metavar="HEX",
            help="Digest of the measured files that `benchctl run -v` printed, or its first 16 digits.",
        ),
    ] = None,
    signer: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="File with SSH public keys, one of which must have signed the record (`benchctl run --sign`).",
        ),
    ] = None,
) -> None:
    """Check that a record is unchanged, and recompute its results and report.

    An invented record can pass these checks. To detect one, keep the digest that
    `benchctl run -v` prints and pass it with --digest, or sign the record
    (`benchctl run --sign`) and pass the public key with --signer.

    RECORD can also be a single report.html, or a folder that `benchctl report
    --publish` wrote. Both are verified from the runs that they contain.
    """
    from bench_framework.workflow.records.verification import verify

    console: Console = context.obj
    result = verify(console.results, record, digest, signer)
    if console.json:
        console.emit_json(result)
    else:
        for line in result.differences[:MOST_SHOWN]:
            console.emit_sentence(line)
        if len(result.differences) > MOST_SHOWN:
            console.emit(
                f"… and {len(result.differences) - MOST_SHOWN} more (all of them with --json)"
            )
        count = len(result.differences)
        outcome = counted(count, "difference") if count else "consistent with itself"
        files = f"{counted(result.files, 'file')} checked, {result.claims} claims recomputed from"
        console.emit_sentence(f"{result.record}: {outcome} ({files} {result.source})")
        for note in result.notes:
            console.emit_sentence(f"note: {note}")
    if result.differences:
        raise typer.Exit(EXIT_WORSE)
