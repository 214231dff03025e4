"""Write or check the pages that are generated from the program.

``python docs/generate.py --write`` writes all pages of `PAGES`; without it, the outdated ones are
listed. A table is between two comments of a page, ``<!-- NAME table -->`` and
``<!-- end of NAME table -->``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer  # noqa: TID251 -- the reference of the command line follows from its parser

from bench_framework import assets
from bench_framework.cli.app import app
from bench_framework.features.document import SECTIONS
from bench_framework.model.metrics import METRICS, PEAK_RSS, UNITS
from bench_framework.scenario.load import load
from bench_framework.scenario.schema import schema_text
from bench_framework.text.errors import explanations
from bench_framework.text.words import MEANINGS, WORDS, word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_ROOT: Final = Path(__file__).resolve().parents[1]
_JUDGED: Final = {
    "rounds": "paired by round",
    "medians": "by medians, always, in a separate table; with `judge`, paired by round",
    "exact": "exactly, as a property of the program",
    "shown": "not judged",
}


def _table(columns: str, rows: Iterable[tuple[str, ...]]) -> str:
    heading = columns.split(", ")
    lines = (
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |\n"
        for row in (heading, *rows)
    )
    first, *rest = lines
    return f"{first}|{'---|' * len(heading)}\n{''.join(rest)}"


def _code_table() -> str:
    texts = explanations().items()
    return _table("code, meaning", ((f"`{code}`", ". ".join(text[:2])) for code, text in texts))


def _metric_table() -> str:
    rows = (
        (
            f"`{kind.name}`",
            kind.noun,
            kind.unit,
            kind.direction.replace("none", "neither"),
            kind.source,
            _JUDGED[kind.judged],
            kind.about,
        )
        for kind in METRICS.values()
    )
    return _table("metric, name in reports, unit, better, measured by, compared, description", rows)


def _scenario_table() -> str:
    specs = ((path, load(path).spec) for path in assets.shipped_scenarios().values())
    rows = ((f"[{p.stem}]({p.name})", spec.question, " × ".join(spec.axes)) for p, spec in specs)
    return _table("scenario, question, axes", rows)


def _section_table() -> str:
    rows = ((k.code, f"`{k.anchor}`", k.title, k.about, k.terminal, k.place) for k in SECTIONS)
    return _table("code, anchor, section, shows, in the terminal, document", rows)


def _verdict_table() -> str:
    rows = (
        (
            w.glyph,
            f"`{w.ascii}`",
            w.time,
            word(v, PEAK_RSS),
            MEANINGS[v].format(margin="the margin"),
        )
        for v, w in WORDS.items()
    )
    return _table("glyph, ASCII, time, memory, meaning", rows)


def _unit_table() -> str:
    return f"Units: {', '.join(f'`{unit}`' for unit in UNITS)}.\n"


TABLES: Final[dict[str, Callable[[], str]]] = {
    "code": _code_table,
    "metric": _metric_table,
    "unit": _unit_table,
    "scenario": _scenario_table,
    "section": _section_table,
    "verdict": _verdict_table,
}


def _with_tables(path: str) -> str:
    """Return the text of a page with new tables."""
    return re.sub(
        r"(<!-- (\w+) table -->\n).*?(?=<!-- end of \2 table -->)",
        lambda match: match[1] + TABLES[match[2]](),
        (_ROOT / path).read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )


_NOTE: Final = (
    "`benchctl COMMAND --help` prints the same in the terminal. Generated from the program: "
    "do not edit."
)


def _commands(_path: str) -> str:
    """Return the page of the command line."""
    group: Any = typer.main.get_command(app)
    lines = [
        "# Command line",
        "",
        _NOTE,
        "",
        "## Options of every command",
        "",
        "They are accepted before and after the command.",
        "",
        *_options(group),
    ]
    commands = {
        f"{name} {part}".rstrip(): command
        for name, parent in group.commands.items()
        for part, command in {"": parent, **getattr(parent, "commands", {})}.items()
    }
    for name, command in commands.items():
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
    if not value or callable(value) or "efault" in (parameter.help or ""):
        return ""
    return f" Default: `{value}`."


def _examples(epilog: str | None) -> Iterator[str]:
    """Return the commands as a code block and all other lines as text."""
    lines = (epilog or "").strip().splitlines()
    commands = [line for line in lines if line.startswith(("benchctl ", "git "))]
    if commands:
        yield from ("Examples:", "", "```sh", *commands, "```", "")
    for line in lines:
        if line not in commands:
            yield from (line, "")


PAGES: Final[dict[str, Callable[[str], str]]] = {
    "docs/reference/cli.md": _commands,
    "docs/reference/codes.md": _with_tables,
    "docs/reference/metrics.md": _with_tables,
    "docs/reference/report.md": _with_tables,
    "docs/reference/scenario.schema.json": lambda _: schema_text(),
    "scenarios/README.md": _with_tables,
}
"""The function that returns the text of a page from its path in the repository."""


def outdated() -> list[str]:
    """Return the pages that differ from what the program generates."""
    return [
        path
        for path, text_of in PAGES.items()
        if (_ROOT / path).read_text(encoding="utf-8") != text_of(path)
    ]


if __name__ == "__main__":
    pages = outdated()
    if "--write" not in sys.argv:
        sys.exit("\n".join(pages) or 0)
    for page in pages:
        (_ROOT / page).write_text(PAGES[page](page), encoding="utf-8")
