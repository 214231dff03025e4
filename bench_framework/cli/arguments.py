"""Arguments and options that several commands share."""

import inspect
import shlex
import sys
from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter
from itertools import repeat
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, Final, get_type_hints

from typer import Argument, Option, echo, style
from typer.core import TyperCommand, TyperGroup

from bench_framework.model.plan.invocation import RequestOptions
from bench_framework.text.lines import wrap

ScenarioFile = Annotated[
    str, Argument(metavar="FILE", help="A scenario file, or the name of a bundled scenario.")
]
BenchTargets = Annotated[
    list[str] | None,
    Option(
        "--bench",
        metavar="TARGET",
        help="Measure a bench target of the crate in the current folder, or `all`, without a scenario file: the time "
        "per iteration of each criterion, divan or libtest benchmark. Repeatable.",
    ),
]
BenchIds = Annotated[
    list[str] | None,
    Option(
        "--id",
        metavar="PATTERN",
        help="With --bench: only benchmarks with this id, or such as 'parse/*'; '!parse/*' leaves "
        "them out. Repeatable.",
    ),
]
BenchPackage = Annotated[
    str | None,
    Option("--package", metavar="NAME", help="With --bench: package of the workspace."),
]
ScenarioFiles = Annotated[
    list[str],
    Argument(
        metavar="FILE...",
        help="Scenario files, names of bundled scenarios, or folders, which stand for the scenarios in them. "
        "Several share one budget and one error rate.",
    ),
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
        help="Use only the configurations (variant and input) that meet all conditions. Example, "
        "for a scenario with the axes io and size: 'io=mmap|read size<=50MiB'.",
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
TimeLimit = Annotated[
    str | None,
    Option(
        "--budget",
        metavar="TIME",
        help="Time limit, such as 20m: after it, no further round starts. Several scenarios divide it by their "
        "planned times. Default: that of each FILE, else 5m, or none with a largest number of rounds; of benchmarks "
        "up to 30m.",
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


OPTIONS: Final[dict[str, Any]] = {
    "prepare": Option("--prepare", "-p", metavar="CMD", help="Command to run before each run."),
    "budget": Option(metavar="TIME", help="Time limit: after it, no further round starts."),
    "sessions": Option(
        "--sessions",
        metavar="N|MIN..MAX",
        help="Measure in N sessions, each with new copies of the files. The intervals then include the "
        "variation between sessions. With MIN..MAX, such as 2..6, until every comparison is conclusive. "
        "The time limit (--budget) is that of all sessions; default: 1.",
    ),
    "every": Option(
        "--every",
        metavar="TIME",
        help="With --sessions: least time between the starts of two sessions, such as 30m.",
    ),
    "margin": Option(
        metavar="PERCENT", help="Smaller differences count as equivalent; default: 2%."
    ),
    "input": Option(
        "--input",
        metavar="FILE",
        help="File or folder that replaces {input}. If no command contains {input}, the commands read "
        "the file as stdin. In `sweep`, '{NAME}' makes the values of a list the inputs: variants are compared on "
        "each of them.",
    ),
    "answer": Option(
        "--answer",
        metavar="FORM",
        help="How to compare outputs: exact (default), sorted-lines, json, or a value of the "
        "scenario key `answer`, such as '{ignore: [REGEX]}'.",
    ),
    "ignore_output": Option("--ignore-output", help="Do not compare the outputs."),
    "exit_codes": Option(
        metavar="LIST",
        help="Exit codes of a successful run, such as 0,1 for grep. Default: 0.",
    ),
    "ignore_failure": Option(
        "--ignore-failure", "-i", help="Accept every exit code from 0 to 127, as hyperfine does."
    ),
    "name": Option(
        metavar="NAME",
        help="Name of the folder with the results; default: the name of this command, or of the "
        "--save file.",
    ),
    "save": Option(
        metavar="FILE",
        help="Also write the scenario to FILE; measure it again with `benchctl run FILE`.",
    ),
    "crate": Option(
        metavar="FOLDER", help="Crate; default: the one that contains the current folder."
    ),
    "package": Option(
        metavar="NAME",
        help="Package of a workspace; default: the one in this folder, the only one with a binary, or "
        "the default member.",
    ),
    "binary": Option(
        "--bin",
        metavar="NAME",
        help="Binary; default: the only one, `default-run`, or the one named as the package.",
    ),
}
"""The options of the fields of `model.plan.invocation`."""
Events = Annotated[
    Path | None,
    Option(
        "--events",
        metavar="FILE",
        help="Append the progress to FILE, as one JSON object per line (`benchctl schema events`).",
    ),
]
ExpectScenario = Annotated[
    str | None,
    Option(
        "--expect-scenario",
        metavar="HEX",
        help="Refuse the scenario unless it has this digest, which `benchctl plan` prints, or begins with these 16 "
        "digits or more. Files that it names are not part of the digest.",
    ),
]
Sessions = Annotated[str | None, OPTIONS["sessions"]]
Every = Annotated[str | None, OPTIONS["every"]]
InputFile = Annotated[
    Path | None, Option("--input", metavar="FILE", help="File that replaces {input}.")
]


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of a list such as ``wall,cpu``, each once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",")))


def request_values(options: RequestOptions) -> dict[str, Any]:
    """Return the fields of a request: options, and the words of the command line."""
    return {**vars(options), "words": sys.argv[1:]}


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the fields of its dataclass parameters as options of their own."""
    signature = inspect.signature(command, eval_str=True)
    groups = {p.name: p.annotation for p in signature.parameters.values()}
    groups = {name: kind for name, kind in groups.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for parameter in signature.parameters.values():
        kind = groups.get(parameter.name)
        parameters += [parameter] if kind is None else map(_parameter, repeat(kind), fields(kind))

    @wraps(command)
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{m.name: values.pop(m.name) for m in fields(kind)})
        command(**values)

    # typer reads both.
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _parameter(kind: Any, field: Field[Any]) -> Parameter:
    annotation = get_type_hints(kind, include_extras=True)[field.name]
    if field.name in OPTIONS:
        annotation = Annotated[annotation, OPTIONS[field.name]]
    return Parameter(
        field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation
    )


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


class HelpCommand(_Help, TyperCommand):
    """A command."""


MOST: Final = 8
"""Commands of a group that are listed if a command is unknown."""


class HelpGroup(_Help, TyperGroup):
    """A group of commands."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; an unknown one gets a list if no name is similar and they are few."""
        names = self.list_commands(ctx)
        if args[0] not in names and not get_close_matches(args[0], names) and len(names) <= MOST:
            ctx.fail(f"No such command '{args[0]}'. The commands are: {', '.join(names)}.")
        return super().resolve_command(ctx, args)


class WordsCommand(HelpCommand):
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
