"""The scenario of ``benchctl ab``: commands in place of a YAML file."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench_framework.errors import ScenarioError, UsageError
from bench_framework.foreign import fault_of
from bench_framework.masking import masked

if TYPE_CHECKING:
    from bench_framework.model.plan import Plan
    from bench_framework.scenario.definition import Scenario

DEFAULT_NAME: Final = "ab"
_AXIS: Final = "command"
# `${HOME}` belongs to a shell and `{ print }` to awk.
_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([A-Za-z][A-Za-z0-9_-]*)\}")
_COMMA: Final = re.compile(r"(?<!\\),")
_OPTIONS: Final = {
    "margin": ("margin", "--margin"),
    "name": ("name", "--name"),
    "measure": ("measure.budget", "--budget"),
    "prepare": ("prepare", "--prepare"),
}
"""Option whose value is in the line of the scenario that begins with the key."""


@dataclass(frozen=True, slots=True)
class Commands:
    """The arguments of ``benchctl ab``; `words` is the command line, for messages.

    `lists` are values of placeholders, as ``NAME=A,B``.
    """

    commands: Sequence[str]
    lists: Sequence[str] = ()
    prepare: str | None = None
    budget: str = "30s"
    margin: str | None = None
    input: Path | None = None
    shell: bool = False
    ignore_output: bool = False
    name: str | None = None
    save: Path | None = None
    words: Sequence[str] = ()


def plan_commands(request: Commands) -> tuple[Plan, str]:
    """Return the plan that compares the commands, and the text of its scenario.

    Raises `UsageError` (BX122): the commands cannot be compared, or an option has an invalid value;
    BX103, the file cannot be saved.
    """
    from bench_framework.scenario.plan import expand

    text, save = scenario_text(request), request.save
    if save is None:
        # `--fresh` would not resume an interrupted run.
        words = tuple(masked(word) for word in request.words if word != "--fresh")
        plan = expand(_scenario(Path("benchctl ab"), text))
        return replace(plan, scenario_path="", asked=words), text
    try:
        save.parent.mkdir(parents=True, exist_ok=True)  # relative paths start at this folder
        plan = expand(_scenario(save, text))
        if save.exists() and save.read_bytes() != text.encode():
            raise _unfit(f"{save} exists already", "use another file, or remove it", "BX103")
        save.write_text(text, encoding="utf-8")
    except OSError as error:
        message = f"cannot write {save}: {error.strerror}"
        raise _unfit(message, "use another file", "BX103") from error
    return plan, text


def _scenario(path: Path, text: str) -> Scenario:
    """Load the scenario. An error in the value of an option names the option instead of a line."""
    from bench_framework.scenario.load import load

    try:
        return load(path, text=text)
    except ScenarioError as error:
        for problem in error.problems:
            line = text.splitlines()[problem.at.line - 1] if problem.at else ""
            if (key := line.partition(":")[0]) in _OPTIONS:
                name, option = _OPTIONS[key]
                message = problem.message.replace(f"`{name}`", option)
                fix = problem.fix or f"correct {option}; `benchctl ab --help` shows examples"
                raise _unfit(message, fix) from None
        raise


def scenario_text(request: Commands) -> str:
    """Return the scenario as YAML. Relative paths in it start at the folder of `save`.

    Raises `UsageError` (BX122): the commands cannot be compared.
    """
    folder = (request.save or Path("here")).absolute().parent
    commands = _expanded(request)
    first, second, *more = commands
    question = f"Which of these {len(commands)} commands is fastest?"
    words = {command: _flow(_words(command, request, folder)) for command in commands}
    lines = [
        "version: 1",
        f"name: {_flow(request.name or (request.save.stem if request.save else DEFAULT_NAME))}",
        f"question: {_flow(question if more else f'Is `{second}` faster than `{first}`?')}",
        f"worker: {{command: {words[first]}}}",
        "axes:",
        f"  {_AXIS}:",
        f"    {_flow(first)}: {{}}",
        *(f"    {_flow(command)}: {{command: {words[command]}}}" for command in (second, *more)),
        f"baseline: {{{_AXIS}: {_flow(first)}}}",
        f"cwd: {_flow(os.path.relpath(Path.cwd(), folder) + '/')}",
        f"measure: {{budget: {_flow(request.budget)}}}",
        f"answer: {'{compare: none}' if request.ignore_output else '{differs: warn}'}",
    ]
    if request.margin is not None:
        lines.append(f"margin: {_flow(request.margin)}")
    if request.prepare is not None:
        lines.append(f"prepare: {_flow(_words(request.prepare, request, Path.cwd()))}")
    if request.input is not None:
        if fault := fault_of(request.input):
            raise _unfit(f"the input file {request.input} {fault}", "correct --input")
        lines.append(f"input: {{file: {_flow(os.path.relpath(request.input, folder))}}}")
        if not any("input" in _PLACEHOLDER.findall(command) for command in commands):
            lines.append('stdin: "{input}"')
    return "\n".join(lines) + "\n"


def _expanded(request: Commands) -> list[str]:
    """Return the commands with the values of ``-L``."""
    lists = dict(_values(text) for text in request.lists)
    expanded: list[str] = []
    for command in request.commands:
        used = [n for n in dict.fromkeys(_PLACEHOLDER.findall(command)) if n in lists]
        picks = itertools.product(*(lists[name] for name in used))
        expanded += [_filled(command, dict(zip(used, pick, strict=True))) for pick in picks]
    for name in lists:
        if not any(name in _PLACEHOLDER.findall(command) for command in request.commands):
            raise _unfit(f"no command contains {{{name}}}", f"use {{{name}}}, or remove -L {name}")
    for command in (*expanded, request.prepare or ""):
        for name in _PLACEHOLDER.findall(command):
            if name == "input" and request.input is None:
                raise _unfit("{input} is used, but there is no input", "add --input FILE")
            if name != "input":
                raise _unfit(
                    f"the placeholder {{{name}}} in `{command}` has no values",
                    f"add -L {name} A,B (not for --prepare); for braces, write `{{ {name} }}`",
                )
    if not expanded:
        advice = "give two or more, such as: benchctl ab './old data.json' './new data.json'"
        raise _unfit("there are no commands to compare", advice)
    if len(expanded) == 1:
        advice = "add a second one, or vary a placeholder: benchctl ab -L n 1,2 'CMD {n}'"
        raise _unfit("there is only one command", advice)
    if twice := [c for number, c in enumerate(expanded) if c in expanded[:number]]:
        advice = "remove one; the A/A control already runs the first command a second time"
        raise _unfit(f"`{twice[0]}` is given twice", advice)
    return expanded


def _values(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not equals or not _PLACEHOLDER.fullmatch(f"{{{name}}}") or name == "input":
        raise _unfit(f"-L needs a name and its values, got `{text}`", "write -L threads 1,2,4")
    return name, [value.replace("\\,", ",") for value in _COMMA.split(values)]


def _filled(command: str, values: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), command)


def _words(command: str, request: Commands, folder: Path) -> list[str]:
    """Return the program, relative to `folder`, and its arguments as a scenario writes them."""
    if request.shell:  # the path remains as it was given, because `cwd` is the current folder
        return ["sh", "-c", escaped(_filled(command, {"input": shlex.quote(str(request.input))}))]
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _unfit(f"`{command}`: {str(error).lower()}", "close the quotes") from None
    if not words:
        raise _unfit("a command is empty", "write a program with its arguments")
    program, *arguments = words
    if "/" in program and not program.startswith(("/", "~")):
        program = f"./{os.path.relpath(program, folder)}"
    return [program, *map(escaped, arguments)]


def escaped(word: str, slots: str = "input") -> str:
    """Double all braces except those of ``{input}`` or other slots, which the scenario replaces."""
    return "".join(
        part if number % 2 else part.replace("{", "{{").replace("}", "}}")
        for number, part in enumerate(re.split(rf"((?<!\$)\{{(?:{slots})\}})", word))
    )


def _flow(value: Any) -> str:
    """Return a value as JSON, which YAML contains."""
    return json.dumps(value, ensure_ascii=False)


def _unfit(message: str, fix: str, code: str = "BX122") -> UsageError:
    return UsageError(message, code=code, effect="nothing was measured", fix=fix)
