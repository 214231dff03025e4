"""Arguments and options that several commands share."""

import inspect
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, Final

from typer import Argument, Option, echo, style
from typer.core import TyperCommand, TyperGroup

from bench_framework.cli.console import wrap

ScenarioFile = Annotated[
    str, Argument(metavar="FILE", help="A scenario file, or the name of a bundled scenario.")
]
RecordName = Annotated[
    str,
    Argument(
        metavar="RECORD", help="A record: its folder, SCENARIO/ID, @last, @prev or @BASELINE."
    ),
]
Only = Annotated[
    str | None,
    Option(
        "--only",
        "-k",
        metavar="FILTER",
        help="Measure only the configurations (variant and input) that meet all conditions. Example, "
        "for a scenario with the axes io and size: 'io=mmap size<=50MiB'.",
    ),
]
Overrides = Annotated[
    list[str] | None,
    Option(
        "--set",
        "-S",
        metavar="KEY=VALUE",
        help="Override a key of the scenario, for example margin=5%.",
    ),
]
Base = Annotated[
    str | None,
    Option(
        "--base",
        metavar="REV",
        help=(
            "Compare the working tree with a revision: build every variant from both. REV is a branch, "
            "a tag, a commit, or merge-base: the commit where this branch left the main branch."
        ),
    ),
]
Head = Annotated[
    str | None,
    Option(
        "--head",
        metavar="REV",
        help="With --base: revision to compare in place of the working tree.",
    ),
]
Fresh = Annotated[
    bool, Option("--fresh", help="Start a new record; do not resume an interrupted one.")
]
Template = Annotated[
    Path | None,
    Option(
        "--template",
        metavar="DIR",
        help="Folder with report templates to use instead of the default ones.",
    ),
]
Scheduler = Annotated[
    str | None,
    Option(
        metavar="ADDRESS",
        help="Measure on another machine, on which `benchctl fleet worker` runs. ADDRESS is that of the "
        "Dask scheduler that connects the machines: tls://HOST:PORT, tcp://HOST:PORT or a scheduler "
        "file (see `benchctl fleet`).",
    ),
]
Insecure = Annotated[
    bool,
    Option("--insecure", help="Permit a connection to a scheduler on another machine without TLS."),
]
EmbedRuns = Annotated[
    bool | None,
    Option(
        "--embed-runs/--no-embed-runs",
        help="Store all measurements in report.html. Then `benchctl verify report.html` can check the "
        "report without its record. Default: only if the measurements take at most 1 MB.",
    ),
]
Prepare = Annotated[
    str | None, Option("--prepare", "-p", metavar="CMD", help="Command to run before each run.")
]
Budget = Annotated[
    str, Option(metavar="TIME", help="Time limit: after it, no further round starts.")
]
Sessions = Annotated[
    str | None,
    Option(
        "--sessions",
        metavar="N|MIN..MAX",
        help="Measure in N sessions, each with new copies of the files. The intervals then include the "
        "variation between sessions. With MIN..MAX, such as 2..6, until every comparison is conclusive. "
        "The time limit (--budget) is that of all sessions; default: 1.",
    ),
]
Every = Annotated[
    str | None,
    Option(
        "--every",
        metavar="TIME",
        help="With --sessions: least time between the starts of two sessions, such as 30m.",
    ),
]
Margin = Annotated[
    str | None,
    Option(metavar="PERCENT", help="Smaller differences count as equivalent; default: 2%."),
]
InputFile = Annotated[
    Path | None,
    Option(
        "--input",
        metavar="FILE",
        help="File or folder that replaces {input}. If no command contains {input}, the commands read "
        "the file as stdin.",
    ),
]
AnswerForm = Annotated[
    str | None,
    Option(
        "--answer",
        metavar="FORM",
        help="How to compare outputs: exact (default), sorted-lines, json, or a value of the "
        "scenario key `answer`, such as '{ignore: [REGEX]}'.",
    ),
]
ExitCodes = Annotated[
    str | None,
    Option(
        metavar="LIST",
        help="Exit codes of a successful run, such as 0,1 for grep. Default: 0.",
    ),
]
IgnoreFailure = Annotated[
    bool,
    Option(
        "--ignore-failure", "-i", help="Accept every exit code from 0 to 127, as hyperfine does."
    ),
]
IgnoreOutput = Annotated[bool, Option("--ignore-output", help="Do not compare the outputs.")]
RecordsName = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="Name of the folder with the results; default: the name of this command, or of the "
        "--save file.",
    ),
]
Save = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        help="Also write the scenario to FILE; measure it again with `benchctl run FILE`.",
    ),
]
CrateFolder = Annotated[
    Path | None,
    Option(metavar="FOLDER", help="Crate; default: the one that contains the current folder."),
]
Package = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="Package of a workspace; default: the one in this folder, the only one with a binary, or "
        "the default member.",
    ),
]
Binary = Annotated[
    str | None,
    Option(
        "--bin",
        metavar="NAME",
        help="Binary; default: the only one, `default-run`, or the one named as the package.",
    ),
]


@dataclass(frozen=True)
class CrateSelection:
    """The options that select a binary of a crate."""

    crate: CrateFolder = None
    package: Package = None
    binary: Binary = None


@dataclass(frozen=True)
class RequestOptions:
    """The options of `ab`, `sweep` and `ablate`: fields of `workflow.scenarios.request.Request`."""

    prepare: Prepare = None
    budget: Budget = "30s"
    sessions: Sessions = None
    every: Every = None
    margin: Margin = None
    input: InputFile = None
    answer: AnswerForm = None
    ignore_output: IgnoreOutput = False
    exit_codes: ExitCodes = None
    ignore_failure: IgnoreFailure = False
    name: RecordsName = None
    save: Save = None

    @property
    def values(self) -> dict[str, Any]:
        """The fields of a request, with the words of the command line."""
        return {**vars(self), "words": sys.argv[1:]}


@dataclass(frozen=True)
class ProgramOptions(RequestOptions, CrateSelection):
    """The options of `sweep` and `ablate`."""

    budget: Budget = "2m"


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the fields of its dataclass parameters as options of their own."""
    signature = inspect.signature(command, eval_str=True)
    groups = {p.name: p.annotation for p in signature.parameters.values()}
    groups = {name: kind for name, kind in groups.items() if is_dataclass(kind)}
    parameters = []
    for parameter in signature.parameters.values():
        members = fields(groups[parameter.name]) if parameter.name in groups else ()
        parameters += [
            Parameter(m.name, Parameter.KEYWORD_ONLY, default=m.default, annotation=m.type)
            for m in members
        ] or [parameter]

    @wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{m.name: values.pop(m.name) for m in fields(kind)})
        command(**values)

    # typer reads both.
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def command_line() -> str:
    """Return the command line that resumes this one, quoted for a shell."""
    from bench_framework.workflow.run_options import words_that_resume

    return shlex.join(("benchctl", *words_that_resume(sys.argv[1:])))


AFTER_DASHES: Final = "benchctl.after_dashes"
"""Key of ``context.meta``: the words after ``--``, or `None` without them."""


class _Help:
    """Help that shows no types of flags and arguments, and one example per line."""

    epilog: str | None

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters, with the option ``--help``."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda **_: None
            elif parameter.is_flag or parameter.count:
                parameter.metavar = ""
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help. Typer would print an empty line between two examples."""
        examples, self.epilog = self.epilog or "", None
        super().format_help(ctx, formatter)  # type: ignore[misc]
        self.epilog = examples
        lines = examples.strip().splitlines()
        commands = [line for line in lines if line.startswith(("benchctl ", "git "))]
        echo(style(" Example" if len(commands) == 1 else " Examples", bold=True))
        for line in commands:
            echo("\n".join(wrap(line, get_terminal_size().columns, " ", "   ")))
        echo()
        for line in lines[len(commands) :]:
            echo("\n".join(wrap(line, get_terminal_size().columns, " ", " ")))


class Command(_Help, TyperCommand):
    """A command."""


MOST: Final = 8
"""Commands of a group that are listed if a command is unknown."""


class Group(_Help, TyperGroup):
    """A group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; an unknown one gets a list if no name is similar and they are few."""
        names = self.list_commands(ctx)
        if args[0] not in names and not get_close_matches(args[0], names) and len(names) <= MOST:
            ctx.fail(f"No such command '{args[0]}'. The commands are: {', '.join(names)}.")
        return super().resolve_command(ctx, args)


class CommandLine(Command):
    """A command line that ends with ``--`` and the words of another command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words before ``--``; the other ones are not options."""
        end = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:end])
        ctx.meta[AFTER_DASHES] = args[end + 1 :] if end < len(args) else None
        if "words" in ctx.params:
            if ctx.params["words"]:
                ctx.fail("write the command after `--`")
            ctx.params["words"] = ctx.meta[AFTER_DASHES]
        return rest
