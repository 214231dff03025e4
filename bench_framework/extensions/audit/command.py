"""``benchctl audit``: check the comparative statements of a published report."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from bench_framework.cli.console import Console
from bench_framework.errors import UsageError

EXAMPLES = """
benchctl audit REPORT.md
benchctl audit REPORT.md --data before.json after.json
benchctl audit REPORT.md --json | jq '.statements[].status'
Exit codes: 0 nothing contradicted, 1 at least one statement is not supported, 2 wrong input.
"""


def audit(
    context: typer.Context,
    page: Annotated[Path, Argument(metavar="PAGE", help="A report in Markdown.")],
    more: Annotated[
        list[Path] | None,
        Argument(metavar="FILE", help="Further files of --data.", show_default=False),
    ] = None,
    data: Annotated[
        list[Path] | None,
        Option("--data", metavar="FILE", help="Runs of the report: files that `import` can read."),
    ] = None,
    out: Annotated[
        Path | None,
        Option("--out", metavar="FILE", help="Write the audit as Markdown to this file."),
    ] = None,
) -> None:
    """Check whether the statements of a text, such as a blog post, follow from its own numbers.

    Each statement in a table or sentence, such as "1.7x faster" or "no
    regression", is supported, not supported, inconclusive, or without data.
    The reason is printed. The raw data of the report are optional: with them,
    each difference is tested.
    """
    from bench_framework.extensions.audit.report import as_text, audit_files, write_audit

    console: Console = context.obj
    files = [*(data or ()), *(more or ())]
    if out is not None and out.resolve() in {path.resolve() for path in (page, *files)}:
        raise UsageError("BX100.out-is-input", out=out)
    result = audit_files(page, files)
    if out is not None:
        write_audit(result, out)
    console.emit_result(result, as_text(result, console.width))
    raise typer.Exit(result.exit_code)
