"""The contents of a Markdown page: sentences, tables, and the figures that it states."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from bench_framework.features.audit.quantities import (
    RATIOS,
    Quantity,
    bare_number,
    quantities,
    whole_quantity,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markdown_it.token import Token

    from bench_framework.model.imported import Series

_RUNS: Final = (
    re.compile(r"\b(\d+)[- ](?:runs?|samples|repetitions|measurements|rounds)\b", re.IGNORECASE),
    re.compile(r"\bn\s*=\s*(\d+)\b", re.IGNORECASE),
    re.compile(
        r"\b(?:ran|run|repeated|measured|executed)\b[^.]{0,30}?\b(\d+) times", re.IGNORECASE
    ),
    re.compile(r"\baverage of (\d+)\b", re.IGNORECASE),
)
_ONE_RUN: Final = re.compile(r"\b(?:single|one) run\b", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(
    r"(?<!\bvs\.)(?<!e\.g\.)(?<!i\.e\.)(?<!approx\.)(?<!etc\.)(?<=[\w)%\"'’”][.!?])\s+(?=\S)|\n"
)
_SOFT: Final = re.compile("\x1f")
"""Placeholder of a line end within a paragraph, from which the line of a sentence follows."""
MOST_CHARACTERS: Final = 2000
"""Length of a sentence or cell. Longer ones are lists of numbers or generated text."""
_BREAK: Final = re.compile("[\x1f\n]")
_LABELLED: Final = re.compile(r"\s*(?P<label>[^:=]{1,80}?)\s*(?::|=|\btakes\b|\btook\b)\s*$")
_SPREAD: Final = re.compile(r"^(?:±|σ|s\.?d\.?|std.*|standard deviation.*)$", re.IGNORECASE)
_COUNT: Final = re.compile(r"^(?:n|runs|samples|repetitions|rounds)$", re.IGNORECASE)
_SECONDARY: Final = re.compile(
    r"\b(?:min|max|median|p\d+|user|sys(?:tem)?|best|worst|fastest|slowest|std\w*|deviation)\b",
    re.IGNORECASE,
)
_SIZE_COLUMN: Final = re.compile(
    r"\W*(?:(?:file|input|data(?:set)?) )?(?:n|size|rows|items|elements|files|length|input|records"
    r"|lines)\W*(?:[(\[].*)?",
    re.IGNORECASE,
)
_RATIO_COLUMN: Final = re.compile(r"\b(?:relative|ratio|speed-?up|factor)\b|[×÷]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """One sentence, list item, table cell or heading, without markup.

    `group` is the number of its list or table, 0 for a paragraph. `lead` is the label of its row,
    or the line above its list. `column` is the title of its column.
    """

    line: int
    text: str
    headings: tuple[str, ...]
    group: int = 0
    lead: str = ""
    column: str = ""
    heading: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured time, rate or size with its label.

    `size` is the amount of input, and `series` the runs of the data that belong to it.
    """

    label: str
    quantity: Quantity
    line: int
    group: int
    headings: tuple[str, ...]
    column: str = ""
    row: str = ""
    n: int | None = None
    size: float | None = None
    secondary: bool = False
    series: Series | None = None

    @property
    def context(self) -> str:
        """Return label, column and headings as one text."""
        return " ".join((self.label, self.column, *self.headings))


@dataclass(frozen=True, slots=True)
class Table:
    """A table: titles, and rows of cells without markup, with the line of each row."""

    line: int
    group: int
    headings: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(slots=True)
class Page:
    """A page, in the order of its lines."""

    texts: list[Text] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    code: list[tuple[int, str]] = field(default_factory=list)

    @property
    def prose(self) -> str:
        """Return all texts without code."""
        cells = (" ".join((*t.head, *(c for _, row in t.rows for c in row))) for t in self.tables)
        return "\n".join((*(text.text for text in self.texts), *cells))


def read_page(source: str) -> Page:
    """Parse a page of CommonMark with tables."""
    page, headings, lead, group, depth = Page(), list[tuple[int, str]](), "", 0, 0
    tokens = MarkdownIt("commonmark").enable("table").parse(source)
    number = 0
    while number < len(tokens):
        token = tokens[number]
        line = token.map[0] + 1 if token.map else 0
        path = tuple(text for _, text in headings)
        if token.type == "heading_open":
            level, text = int(token.tag[1]), _plain(tokens[number + 1])
            text = text[:MOST_CHARACTERS]
            headings = [*((at, name) for at, name in headings if at < level), (level, text)]
            path = tuple(name for _, name in headings)
            page.texts.append(Text(line, text, path, heading=True))
            lead = ""
            number += 2
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            group += depth == 0
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type == "table_open":
            group += 1
            number, table = _table(tokens, number, path, group)
            page.tables.append(table)
            _read_table(page, table)
        elif token.type in ("fence", "code_block"):
            page.code.append((line, token.content))
        elif token.type == "inline":
            text = _plain(token)
            start = 0
            for end in (*_SENTENCE_END.finditer(text), None):
                sentence = text[start : end.start() if end else None]
                at = line + len(_BREAK.findall(text[:start]))
                start = end.end() if end else start
                if sentence.strip() and len(sentence) <= MOST_CHARACTERS:
                    words = _SOFT.sub(" ", sentence).strip()
                    page.texts.append(Text(at, words, path, group if depth else 0, lead))
                    _read_figure(page, page.texts[-1])
            if not depth:
                lead = text.rstrip(":") if text.endswith(":") else ""
        number += 1
    _complete_runs(page)
    return page


def _plain(token: Token) -> str:
    texts = {"softbreak": "\x1f", "hardbreak": "\n"}
    return "".join(
        texts.get(child.type, child.content)
        for child in token.children or ()
        if child.type != "image"
    )


def _table(
    tokens: Sequence[Token], start: int, path: tuple[str, ...], group: int
) -> tuple[int, Table]:
    rows: list[tuple[int, tuple[str, ...]]] = []
    cells: list[str] = []
    number = line = start
    for number in range(start, len(tokens)):
        token = tokens[number]
        if token.type == "tr_open":
            line, cells = (token.map[0] + 1 if token.map else 0), []
        elif token.type == "inline":
            cells.append(_plain(token)[:MOST_CHARACTERS])
        elif token.type == "tr_close":
            rows.append((line, tuple(cells)))
        elif token.type == "table_close":
            break
    return number, Table(rows[0][0], group, path, rows[0][1], tuple(rows[1:]))


def _read_table(page: Page, table: Table) -> None:
    """Add the figures of a table, and its other cells as texts."""
    measured = list(
        dict.fromkeys(
            title
            for _, cells in table.rows
            for title, cell in list(zip(table.head, cells, strict=True))[1:]
            if (q := whole_quantity(cell, title)) and q.kind not in RATIOS
            if not _SPREAD.match(title) and not (q.kind == "size" and _SIZE_COLUMN.fullmatch(title))
        )
    )
    primary = [title for title in measured if not _SECONDARY.search(title)] or measured
    names = [cells[0] for _, cells in table.rows]
    for line, cells in table.rows:
        spread, n = _of_column(table, cells, _SPREAD), _of_column(table, cells, _COUNT)
        amount = _of_column(table, cells, _SIZE_COLUMN)
        row_size = size_in(amount, "size") if amount else None
        inputs = row_size is not None and len(set(names)) == len(names)
        for title, cell in list(zip(table.head, cells, strict=True))[1:]:
            quantity = whole_quantity(cell, title)
            if title not in measured or quantity is None or quantity.kind in RATIOS:
                bare = bare_number(cell) if _RATIO_COLUMN.search(title) else None
                text = f"{bare}x" if bare else cell
                page.texts.append(Text(line, text, table.headings, table.group, cells[0], title))
                continue
            if rest := cell.strip()[quantity.end :].strip("*() "):
                page.texts.append(Text(line, rest, table.headings, table.group, cells[0], title))
            if quantity.sd is None and spread is not None:
                sd = whole_quantity(spread, title)
                quantity = replace(quantity, sd=sd.value if sd else None)
            name = re.sub(r"\s*[(\[].*", "", title)
            page.figures.append(
                Figure(
                    f"{cells[0]}, {name}" if len(measured) > 1 else cells[0],
                    quantity,
                    line,
                    table.group,
                    table.headings,
                    title,
                    name if inputs else cells[0],
                    int(n) if n and n.isdigit() else runs_in((*table.headings[::-1], cells[0])),
                    size_in(title)
                    or row_size
                    or size_in(cells[0], table.head[0])
                    or _nearest(table.headings),
                    secondary=title not in primary,
                )
            )


def _of_column(table: Table, cells: tuple[str, ...], title: re.Pattern[str]) -> str | None:
    names = (re.sub(r"\s*[(\[].*", "", name.strip()) for name in table.head)
    return next((c for name, c in zip(names, cells, strict=True) if title.match(name)), None)


def _read_figure(page: Page, text: Text) -> None:
    """Add the figure of a line such as "smol: 177 ms ± 8 ms"."""
    first = next(iter(quantities(text.text)), None)
    if first is None or first.kind in RATIOS or first.sign:
        return
    match = _LABELLED.match(text.text[: first.start])
    if match is None:
        return
    label = f"{text.lead} {match['label']}".strip() if text.group else match["label"]
    runs = runs_in((text.text, text.lead, *text.headings[::-1]))
    row = text.lead if text.group else ""
    page.figures.append(
        Figure(
            label,
            first,
            text.line,
            text.group,
            text.headings,
            column=match["label"] if row else "",
            row=row or label,
            n=runs,
            size=_nearest(text.headings),
        )
    )


def _complete_runs(page: Page) -> None:
    """Give figures without a number of runs that of the page, if it states only one."""
    stated = {runs for text in page.texts if (runs := runs_in((text.text,))) is not None}
    if len(stated) == 1:
        n = stated.pop()
        page.figures = [replace(f, n=n) if f.n is None else f for f in page.figures]


def runs_in(texts: Iterable[str]) -> int | None:
    """Return the first number of runs that one of the texts states."""
    for text in texts:
        for pattern in _RUNS:
            if match := pattern.search(text):
                return int(match[1][:9])
        if _ONE_RUN.search(text):
            return 1
    return None


def size_in(text: str, title: str | None = None) -> float | None:
    """Return an amount of input: a size in bytes, or a bare number below a title such as "rows".

    With a title, the text is a cell that must consist of the size.
    """
    for quantity in quantities(text):
        if quantity.kind == "size" and (title is None or quantity.text == text.strip()):
            return quantity.value
    if title is None:
        return None
    match = re.fullmatch(r"\s*([\d,_]+)\s*([kKM]?)\s*", text)
    if match and _SIZE_COLUMN.fullmatch(title):
        digits = re.sub(r"\D", "", match[1])[:18]
        return float(digits) * {"": 1, "k": 1e3, "K": 1e3, "M": 1e6}[match[2]] if digits else None
    return None


def _nearest(headings: Sequence[str]) -> float | None:
    return next((size for text in reversed(headings) if (size := size_in(text))), None)
