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
from typer._completion_shared import get_completion_script  # noqa: TID251

from bench_framework import assets
from bench_framework.cli.app import app
from bench_framework.cli.commands.schema import document_schema, document_types, documents
from bench_framework.features.document import sections
from bench_framework.model.metrics import METRICS, PEAK_RSS
from bench_framework.model.plan.declared_metrics import UNITS
from bench_framework.scenario.load import load
from bench_framework.scenario.schema import schema_text
from bench_framework.text.errors import explanations
from bench_framework.text.words import MEANINGS, WORDS, word
from bench_framework.version import __version__

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
    rows = ((k.code, f"`{k.anchor}`", k.title, k.about, k.terminal, k.place) for k in sections())
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


def _document_table() -> str:
    rows = (
        (
            f"[`{name}`]({name}.schema.json)",
            "<br>".join((kind.__doc__ or "").partition("\n")[0] for kind in document_types(name)),
        )
        for name in documents()
        if name != "events"
    )
    return _table("name, contains", rows)


def _unit_table() -> str:
    return f"Units: {', '.join(f'`{unit}`' for unit in UNITS)}.\n"


TABLES: Final[dict[str, Callable[[], str]]] = {
    "code": _code_table,
    "document": _document_table,
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
        "All but the last three are accepted before and after the command.",
        "",
        *_options(group),
    ]
    for name, command in _all_commands(group).items():
        lines += [f"## benchctl {name}", "", *_paragraphs(command.help), *_arguments(command)]
        lines += [*_options(command), *_examples(command.epilog)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _all_commands(group: Any) -> dict[str, Any]:
    """Return each command by its name, such as ``baseline save``."""
    return {
        f"{name} {part}".rstrip(): command
        for name, parent in group.commands.items()
        for part, command in {"": parent, **getattr(parent, "commands", {})}.items()
    }


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


def _manual(_path: str) -> str:
    """Return the page of ``man benchctl``."""
    group: Any = typer.main.get_command(app)
    lines = [
        f'.TH BENCHCTL 1 "" "benchctl {__version__}" "User Commands"',
        *(".SH NAME", "benchctl \\- compare variants of a program"),
        *(".SH SYNOPSIS", ".B benchctl", "[OPTIONS] COMMAND [ARGS]..."),
        *(".SH DESCRIPTION", *_roff_paragraphs(group.help)),
        *(".SH OPTIONS", "All but the last three are accepted before and after the command."),
        *_roff_parameters(group),
        ".SH COMMANDS",
    ]
    for name, command in _all_commands(group).items():
        lines += [f".SS benchctl {_roff(name)}", *_roff_paragraphs(command.help)]
        lines += [*_roff_parameters(command), *_roff_examples(command.epilog)]
    lines += [".SH EXAMPLES", *_roff_examples(group.epilog)]
    return "\n".join(lines) + "\n"


def _roff(text: str) -> str:
    """Return a text on one line in which roff finds no request and no escape sequence."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def _roff_paragraphs(text: str | None) -> Iterator[str]:
    for paragraph in filter(None, _paragraphs(text or "")):
        yield from (".PP", _roff(paragraph))


def _roff_parameters(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            label = _value(parameter, command)
        elif parameter.hidden or parameter.name == "help":
            continue
        else:
            label = ", ".join((*parameter.opts, *parameter.secondary_opts))
            if not (parameter.is_flag or parameter.count):
                label += f" {_value(parameter, command)}"
        text = f"{parameter.help or ''}{_default(parameter)}".replace("`", "")
        yield from (".TP", f".B {_roff(label)}", _roff(text))


def _roff_examples(epilog: str | None) -> Iterator[str]:
    lines = (epilog or "").strip().splitlines()
    if lines:
        yield from (".PP", ".nf", *map(_roff, lines), ".fi")


def _completion(path: str) -> str:
    """Return the completion of a shell, whose name is in the path."""
    shell = next(name for name in ("bash", "zsh", "fish") if name in path)
    names = {"prog_name": "benchctl", "complete_var": "_BENCHCTL_COMPLETE"}
    script = get_completion_script(**names, shell=shell)
    # zsh reads the file as a function on the first Tab, and expects it to complete.
    script = script.replace("compdef _benchctl_completion benchctl", '_benchctl_completion "$@"')
    return f"{script}\n"


def _document_schema(path: str) -> str:
    """Return the schema of a document, whose name is in the path."""
    return document_schema(Path(path).name.partition(".")[0])


_SHARE: Final = "docs/wheel/data/share/"
"""Files that the wheel installs in ``share`` (`data` of ``[tool.maturin]``)."""
PAGES: Final[dict[str, Callable[[str], str]]] = {
    "docs/reference/cli.md": _commands,
    "docs/reference/codes.md": _with_tables,
    "docs/reference/documents.md": _with_tables,
    "docs/reference/metrics.md": _with_tables,
    "docs/reference/report.md": _with_tables,
    "docs/reference/scenario.schema.json": lambda _: schema_text(),
    **{f"docs/reference/{name}.schema.json": _document_schema for name in documents()},
    "scenarios/README.md": _with_tables,
    f"{_SHARE}man/man1/benchctl.1": _manual,
    f"{_SHARE}bash-completion/completions/benchctl": _completion,
    f"{_SHARE}fish/vendor_completions.d/benchctl.fish": _completion,
    f"{_SHARE}zsh/site-functions/_benchctl": _completion,
}
"""The function that returns the text of a page from its path in the repository."""


def outdated() -> list[str]:
    """Return the pages that are missing, or differ from what the program generates."""
    return [
        path
        for path, text_of in PAGES.items()
        if not (_ROOT / path).exists()
        or (_ROOT / path).read_text(encoding="utf-8") != text_of(path)
    ]


if __name__ == "__main__":
    pages = outdated()
    if "--write" not in sys.argv:
        sys.exit("\n".join(pages) or 0)
    for page in pages:
        (_ROOT / page).write_text(PAGES[page](page), encoding="utf-8")
