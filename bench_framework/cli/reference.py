"""Generator of ``docs/reference/cli.md``: every command with its arguments, options and examples.

``python -m bench_framework.cli.reference --write`` writes the page, ``--check`` compares it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from bench_framework.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET: Final = "docs/reference/cli.md"
USAGE: Final = "usage: python -m bench_framework.cli.reference --write | --check"


def page() -> str:
    """Return the text of the page."""
    group: Any = typer.main.get_command(app)
    lines = [
        "# Command line",
        "",
        (
            "`benchctl COMMAND --help` prints the same in the terminal. Generated from the program: "
            "do not edit."
        ),
        "",
        "## Options of every command",
        "",
        "They are accepted before and after the command.",
        "",
        *_options(group),
    ]
    for name, command in group.commands.items():
        lines += [f"## benchctl {name}", "", *_paragraphs(command.help), *_arguments(command)]
        lines += [*_options(command), *_examples(command.epilog)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in (text or "").strip().split("\n\n"):
        yield " ".join(paragraph.split())
        yield ""


def _arguments(command: Any) -> Iterator[str]:
    rows = [
        f"| `{_cell(_value(p, command))}` | {_cell(p.help)}{_default(p)} |"
        for p in command.params
        if p.param_type_name == "argument"
    ]
    if rows:
        yield from ("| argument | meaning |", "|---|---|", *rows, "")


def _options(command: Any) -> Iterator[str]:
    rows = []
    for option in command.params:
        if option.param_type_name == "option" and not option.hidden and option.name != "help":
            names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
            value = "" if option.is_flag or option.count else _value(option, command)
            label = f"{names} `{value}`" if value else names
            rows.append(f"| {_cell(label)} | {_cell(option.help)}{_default(option)} |")
    if rows:
        yield from ("| option | meaning |", "|---|---|", *rows, "")


def _value(parameter: Any, command: Any) -> str:
    """Return the placeholder of a value, such as ``FILE`` or ``[auto|always|never]``."""
    return parameter.metavar or str(parameter.display_type(typer.Context(command)))


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _default(parameter: Any) -> str:
    """Return the default, unless it is empty or the help text contains it."""
    value = parameter.default
    if (
        value is None
        or value is False
        or value == 0
        or callable(value)
        or "efault" in (parameter.help or "")
    ):
        return ""
    return f" Default: `{value}`."


def _examples(epilog: str | None) -> Iterator[str]:
    """Return the commands as a code block and all other paragraphs as text."""
    parts = [part.replace("\n", " ") for part in (epilog or "").strip().split("\n\n")]
    commands = [part for part in parts if part.startswith("benchctl ")]
    notes = [re.sub(r"\[/?bold\]", "", part) for part in parts if part not in commands]
    if commands:
        yield from ("Examples:", "", "```sh", *commands, "```", "")
    for note in notes:
        if note not in {"", "Example", "Examples"}:
            yield from (note, "")


def _main(arguments: list[str]) -> int:
    path = Path(__file__).resolve().parents[2] / TARGET
    if arguments == ["--write"]:
        path.write_text(page(), encoding="utf-8")
        return 0
    if arguments == ["--check"]:
        current = path.is_file() and path.read_text(encoding="utf-8") == page()
        return 0 if current else 1
    print(USAGE, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
