"""The command line: global options, the commands, and errors turned into exit codes."""

from __future__ import annotations

import itertools
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Annotated, Literal

import typer

from bench_framework.cli import (
    clean,
    compare,
    doctor,
    explain,
    gate,
    import_files,
    init,
    plan,
    profile,
    report,
    run,
    schema,
    validate,
    verify,
)
from bench_framework.cli.console import Console
from bench_framework.errors import EXIT_BUG, BenchError, MachineError
from bench_framework.version import __version__

EPILOG = """
[bold]Examples[/bold]

benchctl run quickstart

benchctl validate bench/io.yaml && benchctl plan bench/io.yaml

benchctl run bench/io.yaml -k 'io=mmap size<=50MiB' -S measure.rounds.max=60

benchctl report @last

Exit codes: [bold]benchctl help exit-codes[/bold]
"""

FLAGS = ("--verbose", "-v", "-vv", "--quiet", "-q", "--no-progress", "--json")
VALUED = ("--color", "--dir")
"""Options that every command shares: they may stand before the command or after it."""

app = typer.Typer(
    name="benchctl",
    help="Benchmarks that prove what they measured and say only what the data carry.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    run,
    compare,
    report,
    profile,
    gate,
    verify,
    import_files,
    validate,
    plan,
    schema,
    init,
    doctor,
    clean,
    explain,
)
"""In the order of the help page."""
for module in COMMANDS:
    module.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        Console().emit(f"benchctl {__version__}")
        raise typer.Exit


@app.callback()
def shared(
    context: typer.Context,
    *,
    verbose: Annotated[
        int, typer.Option("--verbose", "-v", count=True, help="Say more; twice: tracebacks.")
    ] = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say results and errors only.")
    ] = False,
    color: Annotated[
        Literal["auto", "always", "never"],
        typer.Option(help="Colour on the terminal. NO_COLOR is honoured."),
    ] = "auto",
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No live display.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on stdout, for machines.")
    ] = False,
    results: Annotated[
        Path, typer.Option("--dir", envvar="BENCHCTL_RESULTS", help="Folder of the records.")
    ] = Path("results"),
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Global options, kept for the command in the context."""
    _ = version
    context.obj = Console(
        verbosity=-1 if quiet else verbose,
        color=color,
        progress=not no_progress,
        json=as_json,
        results=results,
    )


def run_command_line(arguments: list[str]) -> int:
    """Run one command line; every failure ends here, as a message and an exit code."""
    try:
        typer.main.get_command(app)(args=_options_first(arguments), prog_name="benchctl")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except BenchError as error:
        console = Console()
        if _traceback_wanted(arguments):
            console.say(traceback.format_exc())
        console.error(error)
        return error.exit_code
    except OSError as error:
        return _report_refusal(error, arguments)
    except Exception:  # noqa: BLE001 -- the last line of defence: whatever arrives here is our bug
        return _report_bug(arguments)
    return 0


def _options_first(arguments: list[str]) -> list[str]:
    """The words with the options of every command moved before the command, where the parser wants them.

    ``benchctl plan FILE --json`` is what people write. No command has an option of one of these names, and
    what stands after ``--`` is nobody's option.
    """
    first: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*first, *rest, word, *words]
        if word in FLAGS or word.startswith(tuple(f"{name}=" for name in VALUED)):
            first.append(word)
        elif word in VALUED:
            first += [word, *itertools.islice(words, 1)]
        else:
            rest.append(word)
    return first + rest


def _traceback_wanted(arguments: list[str]) -> bool:
    return "-vv" in arguments or arguments.count("-v") + arguments.count("--verbose") > 1


def _report_refusal(error: OSError, arguments: list[str]) -> int:
    """A refusal of the operating system that no layer foresaw: no file descriptors left, a folder that is gone."""
    console = Console()
    if _traceback_wanted(arguments):
        console.say(traceback.format_exc())
    where = (("path", str(error.filename)),) if error.filename else ()
    refusal = MachineError(
        f"the operating system refused: {error.strerror or error}",
        code="BX237",
        details=where,
        effect="what was measured before is kept; `benchctl run` resumes it",
        help="mend that and run the same command again; -vv shows where it happened",
    )
    console.error(refusal)
    return refusal.exit_code


def _report_bug(arguments: list[str]) -> int:
    trace = traceback.format_exc()
    handle, path = tempfile.mkstemp(prefix="benchctl-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"benchctl {__version__}, Python {sys.version}\n{arguments!r}\n\n{trace}")
    console = Console()
    if _traceback_wanted(arguments):
        console.say(trace)
    last = trace.strip().splitlines()[-1]
    console.error(
        BenchError(
            f"this is a defect of benchctl: {last}",
            code="BX900",
            details=(("trace", path),),
            effect="what was measured before is kept; `benchctl run` resumes it",
            help="please report it with that file (it holds your command line, no environment)",
        )
    )
    return EXIT_BUG
