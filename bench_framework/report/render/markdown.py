"""The report as CommonMark with tables."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup

from bench_framework.report.blocks import Cell, Code, Column, Document, Place, Row
from bench_framework.report.render.templates import CONTEXT_VERSION, MARKS, Templates
from bench_framework.report.render.widths import COMMAND, QUOTED, visible, visible_lines
from bench_framework.text.numbers import format_clock

MOST_COMMENT: Final = 60_000
"""Largest number of characters of a comment. GitHub rejects more than 65 536."""
MOST_SUMMARY_BYTES: Final = 900_000
"""Largest size of a summary. GitHub rejects more than 1024 KiB."""
_INLINE: Final = re.compile(r"[\\`*_<>|~&$]")
_LINK: Final = "]("
_AT_START: Final = re.compile(r"^(\s*)([#+=:\[-]|\d+(?=[.)](?:\s|$)))")


def render(document: Document, templates: Templates, place: Place = "report") -> str:
    """Return Markdown text with LF line ends."""
    text = templates.render(f"{place}.md.j2", context(document), FILTERS, _ready)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def context(document: Document) -> dict[str, object]:
    """Return the variables of the template (``docs/reference/templates.md``)."""
    return {"context_version": CONTEXT_VERSION, "document": document, "marks": MARKS}


def escape(text: str) -> str:
    """Escape text for CommonMark, also in a table; quoted commands of benchctl become code."""
    if (command := COMMAND.search(text)) is not None:
        before, after = text[: command.start()], text[command.end() :]
        return f"{escape(before)}{code_span(command[1])}{escape(after)}"
    return _INLINE.sub(lambda match: "\\" + match[0], visible(text)).replace(_LINK, "]\\(")


def escape_start(text: str) -> str:
    """Escape text at the start of a line, where ``#``, ``-`` or ``1.`` would begin a block."""
    match = _AT_START.match(text)
    if match is None:
        return escape(text)
    space, start, rest = match[1], match[2], text[match.end() :]
    if not start.isdigit():
        return f"{space}\\{start}{escape(rest)}"
    return f"{space}{start}\\{escape(rest)}" if rest else start


def _quoted(text: str) -> Markup:
    """Escape a question. What its author put between backticks becomes code."""
    before, quote, after = QUOTED.split(text, 1) if QUOTED.search(text) else (text, "", "")
    if not quote:
        return Markup(escape(text))  # noqa: S704 -- escaped for Markdown
    return Markup(escape(before) + code_span(quote)) + _quoted(after)  # noqa: S704 -- escaped


def code_span(text: str) -> str:
    """Return inline code, fenced by more backticks than the text has in a row."""
    readable = visible(text)
    longest = _longest_run(readable)
    fence, pad = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{pad}{readable}{pad}{fence}"


def _longest_run(text: str) -> int:
    """Return the largest number of backticks in a row."""
    return max(map(len, re.findall(r"`+", text)), default=0)


def _ready(value: object) -> Markup:
    return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704 -- escaped for Markdown


def _start(text: str) -> Markup:
    return Markup(escape_start(text))  # noqa: S704 -- escaped for Markdown


def _quote(text: str) -> Markup:
    """Return the author's text with each line escaped and quoted."""
    return Markup("\n".join(f"> {escape_start(line)}".rstrip() for line in text.splitlines()))  # noqa: S704 -- escaped for Markdown


def _fence(code: Code) -> Markup:
    text = visible_lines(code.text)
    fence = "`" * max(3, _longest_run(text) + 1)
    return Markup(f"{fence}{code.language}\n{text}\n{fence}")  # noqa: S704 -- a fence longer than any in the text


def _cell(cell: Cell, *, strong: bool = False) -> str:
    # A pipe within a code span would end the cell, whatever character precedes it.
    text = code_span(cell.text) if cell.code and "|" not in cell.text else escape(cell.text)
    text = f"**{text.strip()}**" if strong and text.strip() else text
    text = f"{text} {escape(cell.muted)}" if cell.muted else text
    return f"{text}<br>{escape(cell.about)}" if cell.about else text


def _row(row: Row) -> Markup:
    """Return a row. The name is bold in rows of the best group."""
    first, *rest = row.cells
    cells = (_cell(first, strong=row.strong), *(_cell(cell) for cell in rest))
    return Markup(f"| {' | '.join(cells)} |")  # noqa: S704 -- escaped for Markdown


def _head(columns: tuple[Column, ...]) -> Markup:
    return Markup(f"| {' | '.join(escape(c.title) for c in columns)} |")  # noqa: S704 -- escaped for Markdown


def _rule(columns: tuple[Column, ...]) -> Markup:
    return Markup("|" + "|".join(":--" if c.align == "left" else "--:" for c in columns) + "|")  # noqa: S704 -- fixed


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "fence": _fence,
    "row": _row,
    "head": _head,
    "rule": _rule,
    "start": _start,
    "quote": _quote,
    "quoted": _quoted,
}
"""Filters for the templates."""


def fitting(
    name: str,
    page: object,
    rows: tuple[Sequence[object], Sequence[object]],
    *,
    comment: bool,
    **more: object,
) -> str:
    """Return Markdown with as many rows of both kinds as a comment or a step summary can have."""
    full, passed = map(list, rows)
    filters = dict[str, Callable[..., Any]](md=markdown_cell, code=code_line, clock=format_clock)
    while True:
        cut = sum(map(len, rows)) - len(full) - len(passed)
        given = {"page": page, "full": full, "passed": passed, "cut": cut, "comment": comment}
        # The template is Markdown, whose filters escape.
        text = Templates().render(name, given | more, filters, Markup)
        fits = len(text) <= MOST_COMMENT if comment else len(text.encode()) <= MOST_SUMMARY_BYTES
        if fits or not (full or passed):
            return text
        # Rows that passed are removed first, then the last rows, because regressions are first.
        shorter = passed or full
        del shorter[len(shorter) // 2 :]


def markdown_cell(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return escape(" ".join(text.split()))


def code_line(text: str) -> str:
    """Return text as one line of a fenced code block, which it cannot close."""
    return visible(" ".join(text.split())).replace("```", "` ` `")
