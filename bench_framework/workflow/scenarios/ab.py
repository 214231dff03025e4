"""The scenario of ``benchctl ab``: commands in place of a YAML file."""

import itertools
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from bench_framework.model.plan import Plan
from bench_framework.workflow.scenarios.request import (
    COMMA,
    PLACEHOLDER,
    Request,
    escaped,
    flow,
    program_path,
    split_command,
    unfit,
)

_AXIS: Final = "command"
_QUOTED: Final = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""")
_OPERATOR: Final = re.compile(r"(?<!\S)(\|\|?|&&|<|[12&]?>{1,2}(?:&[12])?)(?!\S)")


@dataclass(frozen=True, slots=True)
class Commands(Request):
    """The arguments of ``benchctl ab``. `lists` are values of placeholders, as ``NAME=A,B``."""

    tool: ClassVar[str] = "ab"
    commands: Sequence[str]
    lists: Sequence[str] = ()
    shell: bool = False


def plan_commands(request: Commands) -> tuple[Plan, str]:
    """Return the plan that compares the commands, and the text of its scenario.

    Raises `UsageError`: BX122, the commands cannot be compared, or an option has an invalid value;
    BX103, the file cannot be saved.
    """
    text = scenario_text(request)
    return request.plan(text), text


def scenario_text(request: Commands) -> str:
    """Return the scenario as YAML. Relative paths in it start at the folder of `save`.

    Raises `UsageError` (BX122): the commands cannot be compared.
    """
    commands = _expanded(request)
    first, second, *more = commands
    question = f"Which of these {len(commands)} commands is fastest?"
    words = {command: flow(_words(command, request, request.folder)) for command in commands}
    before = request.prepare and _words(request.prepare, request, Path.cwd())
    used = any("input" in PLACEHOLDER.findall(command) for command in commands)
    lines = [
        *request.head(question if more else f"Is `{second}` faster than `{first}`?"),
        f"worker: {{command: {words[first]}}}",
        "axes:",
        f"  {_AXIS}:",
        f"    {flow(first)}: {{}}",
        *(f"    {flow(command)}: {{command: {words[command]}}}" for command in (second, *more)),
        f"baseline: {{{_AXIS}: {flow(first)}}}",
        *request.tail(before or None, used=used),
    ]
    return "\n".join(lines) + "\n"


def _expanded(request: Commands) -> list[str]:
    """Return the commands with the values of ``-L``."""
    lists = dict(_values(text) for text in request.lists)
    expanded: list[str] = []
    for command in request.commands:
        used = [n for n in dict.fromkeys(PLACEHOLDER.findall(command)) if n in lists]
        picks = itertools.product(*(lists[name] for name in used))
        expanded += [_filled(command, dict(zip(used, pick, strict=True))) for pick in picks]
    for name in lists:
        if not any(name in PLACEHOLDER.findall(command) for command in request.commands):
            raise unfit(f"no command contains {{{name}}}", f"use {{{name}}}, or remove -L {name}")
    for command in (*expanded, request.prepare or ""):
        for name in PLACEHOLDER.findall(command):
            if name == "input" and request.input is None:
                raise unfit("{input} is used, but there is no input", "add --input FILE")
            if name != "input":
                raise unfit(
                    f"the placeholder {{{name}}} in `{command}` has no values",
                    f"add -L {name} A,B (not for --prepare); for braces, write `{{ {name} }}`",
                )
    if not expanded:
        advice = "give two or more, such as: benchctl ab './old data.json' './new data.json'"
        raise unfit("there are no commands to compare", advice)
    if len(expanded) == 1:
        advice = "add a second one, or vary a placeholder: benchctl ab -L n 1,2 'CMD {n}'"
        raise unfit("there is only one command", advice)
    if twice := [c for number, c in enumerate(expanded) if c in expanded[:number]]:
        advice = "remove one; the A/A control already runs the first command a second time"
        raise unfit(f"`{twice[0]}` is given twice", advice)
    return expanded


def _values(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not equals or not PLACEHOLDER.fullmatch(f"{{{name}}}") or name == "input":
        raise unfit(f"-L needs a name and its values, got `{text}`", "write -L threads 1,2,4")
    return name, [value.replace("\\,", ",") for value in COMMA.split(values)]


def _filled(command: str, values: dict[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), command)


def _words(command: str, request: Commands, folder: Path) -> list[str]:
    """Return the program, relative to `folder`, and its arguments as a scenario writes them."""
    if request.shell:  # the path remains as it was given, because `cwd` is the current folder
        return ["sh", "-c", escaped(_filled(command, {"input": shlex.quote(str(request.input))}))]
    words = split_command(command)
    if not words:
        raise unfit("a command is empty", "write a program with its arguments")
    if operator := _OPERATOR.search(_QUOTED.sub("q", command)):
        message = f"`{command}` contains `{operator[1]}`, but no shell runs it"
        raise unfit(message, f"add --shell, or quote `{operator[1]}` if it is an argument")
    return [program_path(words[0], folder), *map(escaped, words[1:])]
