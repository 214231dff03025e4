"""The command line: global options, the commands, and errors turned into exit codes."""

import contextlib
import errno
import itertools
import os
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import typer
from typer import Option

from bench_framework.cli.arguments import HelpCommand, HelpGroup
from bench_framework.cli.commands import COMMANDS, NAMES
from bench_framework.cli.console import Console, discard, ignore_odd_sizes, unwritable_stdout
from bench_framework.errors import (
    EXIT_BUG,
    EXIT_DONE,
    EXIT_STOPS_GIT,
    BenchError,
    MachineError,
    UsageError,
)
from bench_framework.registry import registry
from bench_framework.version import __version__

EXAMPLES = """
benchctl ab './old in.txt' './new in.txt'    # compare two commands
benchctl run quickstart                      # measure a bundled scenario
benchctl init -- --count data.txt            # write a scenario for this crate
benchctl plan bench/parse.yaml               # show builds, runs and duration
benchctl run bench/parse.yaml                # build, measure and report
benchctl compare @prev @last                 # compare the last two records
benchctl gate bench/parse.yaml --base main   # fail CI on a regression
`benchctl help exit-codes` describes the exit codes, and `benchctl help BC104` an error code.
"""
FLAGS = ("--verbose", "-v", "-vv", "--quiet", "-q", "--no-progress", "--json")
VALUED = ("--color", "--dir")
"""Options that every command shares. They are accepted before and after the command."""
PAIRED = ("--parameter-list", "-L")
"""Repeatable options of `ab` with two values, as in hyperfine. Typer supports only one."""


app = typer.Typer(
    name="benchctl",
    cls=HelpGroup,
    help=(
        "Compare variants of a Rust program, such as builds with different allocators, and write a "
        "report with confidence intervals.\n\n"
        "A scenario is a YAML file that describes the variants and how to measure them. "
        "A record is the folder with the results of one run of a scenario."
    ),
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _add_command(panel: str, name: str, command: Any) -> None:
    """Add a function, or a module whose `PARTS` are the commands of a group."""
    if isinstance(command, ModuleType):
        group = typer.Typer(name=name, cls=HelpGroup, help=command.HELP, no_args_is_help=True)
        for function, examples in command.PARTS.items():
            part = function.__name__.rstrip("_")
            group.command(part, cls=HelpCommand, epilog=examples)(function)
        app.add_typer(group, epilog=command.EXAMPLES, rich_help_panel=panel)
        return
    module = sys.modules[command.__module__]
    kind = getattr(module, "COMMAND", HelpCommand)
    epilog = getattr(module, "EXAMPLES", None)
    app.command(name, cls=kind, epilog=epilog, rich_help_panel=panel)(command)


def _add_commands() -> None:
    """Add the commands of the core, then those of extensions, panel by panel."""
    core: dict[str, tuple[str, Any]] = {}
    for panel, modules in COMMANDS.items():
        for module in modules:
            name = module.__name__.rpartition(".")[2]
            core[NAMES.get(name, name)] = panel, getattr(module, name)
    targets = registry().additions("command", core)
    for panel in COMMANDS:
        for name, (of_panel, command) in core.items():
            if of_panel == panel:
                _add_command(panel, name, command)
        for target in targets:
            if target.options["panel"] == panel:
                with registry().loading(target):
                    _add_command(panel, target.name, target.load())


_add_commands()


def _print_version(requested: bool) -> None:
    if requested:
        Console().emit(f"benchctl {__version__}")
        raise typer.Exit


@app.callback()
def shared(
    context: typer.Context,
    *,
    verbose: Annotated[
        int,
        Option(
            "--verbose",
            "-v",
            count=True,
            show_default=False,
            help="Print more; -vv adds tracebacks.",
        ),
    ] = 0,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print results and errors only.")] = False,
    color: Annotated[
        Literal["auto", "always", "never"],
        Option(
            help="Colour the terminal output; auto respects NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE."
        ),
    ] = "auto",
    no_progress: Annotated[
        bool, Option("--no-progress", help="Disable the live progress display.")
    ] = False,
    as_json: Annotated[
        bool, Option("--json", help="Print one JSON document on stdout instead of text.")
    ] = False,
    results: Annotated[
        Path,
        Option(
            "--dir",
            envvar="BENCHCTL_RESULTS",
            help="Folder that contains the records. Default: $BENCHCTL_RESULTS, else results.",
            show_default=False,
            show_envvar=False,
        ),
    ] = Path("results"),
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Store the global options in the context, where the command reads them."""
    _ = version
    context.obj = console = Console(
        verbosity=-1 if quiet else verbose,
        color=color,
        progress=not no_progress,
        json=as_json,
        results=results,
    )
    registry().listen(
        lambda failure: console.warn_of(
            UsageError("BX137", name=failure.extension, cause=failure.cause)
        )
    )


def run_command_line(arguments: list[str]) -> int:
    """Run one command line. Turn every failure into a message and return the exit code."""
    ignore_odd_sizes()
    code = _run(arguments)
    # `git bisect run` takes codes from 1 to 124 for a bad commit, and ends at a code above 127.
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    failed = {"bisect", "--step"} <= {*words} and code not in (0, 1, 125)
    return max(code, EXIT_STOPS_GIT) if failed else code


def _run(arguments: list[str]) -> int:
    try:
        require_resources()
        typer.main.get_command(app)(args=_options_first(arguments), prog_name="benchctl")
    except SystemExit as stop:
        end = stop.__context__
        if end is not None and isinstance(end.__cause__, KeyboardInterrupt):
            raise end.__cause__ from None  # typer would exit without a message
        if isinstance(end, BrokenPipeError):  # typer writes help texts to stdout itself
            return _end_of_pipe(end, arguments)
        return stop.code if isinstance(stop.code, int) else 0
    except BenchError as error:
        return _report(error, arguments)
    except BrokenPipeError as error:  # typer writes its errors to stderr
        return _end_of_pipe(error, arguments)
    except OSError as error:
        if error.filename is None and error.errno in {errno.ENOSPC, errno.EIO, errno.EBADF}:
            # Typer writes help texts to stdout itself.
            discard(sys.stdout)
            return _report(unwritable_stdout(error), arguments)
        return _report(_refusal(error), arguments)
    except Exception as error:  # every other exception is an internal error
        if KeyboardInterrupt.__name__ in traceback.format_exc():
            # Ctrl-C while pydantic builds a class: Python and pydantic raise other errors for it.
            raise KeyboardInterrupt from error
        _report(_bug(arguments), arguments)
        return EXIT_BUG
    return 0


def _end_of_pipe(error: BrokenPipeError, arguments: list[str]) -> int:
    """Return the exit code without a message if typer wrote to a pipe whose reader ended (``| head``)."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    if frame.f_globals["__name__"].partition(".")[0] not in {"rich", "typer"}:
        return _report(_refusal(error), arguments)
    # Either may be the pipe, and have text left for the exit.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard(stream)
    code: int = getattr(error.__context__, "exit_code", EXIT_DONE)
    return code


def _report(error: BenchError, arguments: list[str]) -> int:
    """Print an error, with -vv after the traceback that is handled. Return its exit code."""
    console = Console()
    if "-vv" in arguments or arguments.count("-v") + arguments.count("--verbose") > 1:
        console.say_lines(traceback.format_exc())
    console.error(error)
    return error.exit_code


def _options_first(arguments: list[str]) -> list[str]:
    """Move the options that every command shares to the front, where the parser expects them.

    Users write ``benchctl plan FILE --json``. No command has an option with one of these names.
    Words after ``--`` are not options.
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
        elif word in PAIRED:
            rest += [word, "=".join(itertools.islice(words, 2))]
        else:
            rest.append(word)
    return first + rest


def _refusal(error: OSError) -> MachineError:
    """Return an error of the operating system that no layer handled, such as a deleted folder."""
    return MachineError(
        "BX237",
        details=(("path", str(error.filename)),) if error.filename else (),
        strerror=error.strerror or error,
    )


def _bug(arguments: list[str]) -> BenchError:
    """Write the traceback of an internal error to a file, and return the error."""
    trace = traceback.format_exc()
    handle, path = tempfile.mkstemp(prefix="benchctl-bug-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"benchctl {__version__}, Python {sys.version}\n{arguments!r}\n\n{trace}")
    return BenchError(
        "BX900", details=(("trace", path),), splitlines=trace.strip().splitlines()[-1]
    )


LEAST = {
    "RLIMIT_NOFILE": (64, "-n", "64 open files"),
    "RLIMIT_FSIZE": (64 << 20, "-f", "files of 64 MiB"),
    "RLIMIT_AS": (1 << 30, "-v", "1 GiB of memory"),
}
"""Least value of each limit, the option of `ulimit`, and the value in words."""


def require_resources() -> None:
    """Require large enough limits of this process. Raises `MachineError` (BX242)."""
    with contextlib.suppress(ImportError):  # only Unix has such limits
        import resource

        for name, (least, option, words) in LEAST.items():
            limit = resource.getrlimit(getattr(resource, name))[0]
            if limit != resource.RLIM_INFINITY and limit < least:
                raise MachineError("BX242", option=option, words=words)
