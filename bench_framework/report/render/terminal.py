"""The report in a terminal: main result, one table per input, and paths of the report."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rich.cells import cell_len

from bench_framework.model.verdict import Verdict
from bench_framework.report.blocks import (
    Block,
    Box,
    Bullets,
    Column,
    Document,
    Facts,
    Fallback,
    Heading,
    KeyFinding,
    Links,
    Paragraph,
    Row,
    Sentence,
    Table,
    paragraph_text,
)
from bench_framework.report.render.widths import (
    cut_distinct,
    cut_middle,
    decimal_width,
    is_number,
    pad,
    visible,
)
from bench_framework.text.lines import NARROWEST, wrap
from bench_framework.text.words import in_ascii
from bench_framework.units import THIN_SPACE

WARNING: Final = "⚠"
LEAST_LABEL: Final = 18
"""Smallest width of a cut label. If it does not fit, the table is wider than requested."""
_BOLD, _DIM, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_COLOURS: Final = {"better": "\x1b[34m", "worse": "\x1b[33m", "inconclusive": "\x1b[35m"}
_JOINT: Final = "\ue000"
"""Placeholder of the space between a number and its unit, so that lines do not break there."""


def render(
    document: Document,
    *,
    width: int = 80,
    color: bool = False,
    unicode: bool = True,
    full: bool = False,
) -> str:
    """Return text of at most `width` columns where the numbers allow it.

    With `color`, SGR codes are printed; the caller checks `NO_COLOR` and the terminal. Without
    `unicode`, all but names is ASCII. With `full`, every section is printed with its tables.
    """
    page = _Page(max(width, NARROWEST), color=color, unicode=unicode)
    page.text(document.run_line)
    last = [section for section in document.sections if section.terminal == "last"]
    for section in document.sections:
        if section not in last and (full or section.terminal != "nothing"):
            page.blocks(section.blocks, tables=full or section.terminal == "all", full=full)
    for section in last:
        page.answer(section.blocks, full=full)
    page.end(document)
    return "\n".join(line.rstrip() for line in page.lines).rstrip() + "\n"


class _Page:
    """Lines of a given width, collected from top to bottom."""

    def __init__(self, width: int, *, color: bool, unicode: bool) -> None:
        self.width = width
        self.color = color
        self.unicode = unicode
        self.mark = "…" if unicode else "..."
        self.lines: list[str] = []
        self.printed: set[str] = set()

    def plain(self, text: str) -> str:
        """Return a text as this terminal can show it."""
        text = visible(text)
        return text if self.unicode else in_ascii(text)

    def text(self, text: str, *, indent: str = "", bold: bool = False) -> None:
        """Append a wrapped paragraph."""
        joined = text if self.unicode else text.replace(THIN_SPACE, _JOINT)
        rest = " " * cell_len(indent)
        for broken in wrap(self.plain(joined), self.width, indent, rest):
            line = broken.replace(_JOINT, " ")
            self.lines.append(self.styled(line, _BOLD) if bold else line)

    def gap(self) -> None:
        """Append an empty line, unless the last line is empty."""
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def styled(self, text: str, code: str) -> str:
        """Return a text in a style, if colour is on."""
        return f"{code}{text}{_RESET}" if self.color and text.strip() else text

    def blocks(self, blocks: Iterable[Block], *, tables: bool, full: bool) -> None:
        """Append the blocks of a section."""
        for block in blocks:
            match block:
                case Paragraph(sentences, lead):
                    self.sentences(sentences, bold=lead)
                case Bullets(items):
                    self.gap()
                    for item in items:
                        self.sentences((item,), close=True)
                case KeyFinding(sentence):
                    self.sentences((sentence,))
                case Box("warning", sentences):
                    self.gap()
                    self.sentence(sentences, f"{WARNING} ")
                case Fallback(text) if tables:
                    self.gap()
                    self.text(text)
                case Heading(text) if full:
                    self.gap()
                    self.text(text, bold=True)
                case Facts(pairs) if full:
                    self.gap()
                    for name, value in pairs:
                        self.text(f"{pad(name, 12)}{value}", indent="   ")
                case Links(items) if full:
                    for name, path in items:
                        self.text(f"{pad(name, 12)}{path}", indent="   ")
                case Table() if tables:
                    self.table(block)
                case _:
                    pass

    def answer(self, blocks: Sequence[Block], *, full: bool) -> None:
        """Append the warnings, then the answer and the decision; with `full`, the lines below them."""
        for box in (block for block in blocks if isinstance(block, Box)):
            if box.tone == "warning":
                self.blocks((box,), tables=True, full=full)
        self.gap()
        for block in blocks:
            if isinstance(block, Paragraph):
                self.sentence(block.sentences, bold=True)
            elif isinstance(block, Fallback):
                self.text(block.text)
            elif isinstance(block, Box):
                if block.tone == "decision":
                    self.sentence(block.sentences)
            elif full:
                self.blocks((block,), tables=True, full=True)

    def sentence(
        self, sentences: tuple[Sentence, ...], mark: str = "", *, bold: bool = False
    ) -> None:
        """Append sentences as one paragraph."""
        self.text(f"{mark}{paragraph_text(sentences)}", bold=bold)

    def sentences(
        self, sentences: tuple[Sentence, ...], *, bold: bool = False, close: bool = False
    ) -> None:
        """Append sentences that were not printed before."""
        fresh = [s for s in sentences if (s.claim or s.text) not in self.printed]
        if not fresh:
            return
        self.printed.update(s.claim or s.text for s in fresh)
        if not close:
            self.gap()
        self.sentence(tuple(fresh), bold=bold)

    def table(self, given: Table) -> None:
        """Append a table. Columns are dropped in their order until it fits."""
        table = given.without_drawings()
        self.gap()
        columns, rows, texts, shares = _fitting(table, self)
        title = ", ".join(filter(None, (table.columns[0].title, table.stub)))
        first = max(shares[0], cell_len(self.plain(title)))
        room = self.width - 1 - sum(2 + share for share in shares[1:])
        shares[0] = max(min(first, room), min(first, LEAST_LABEL), 8)
        labels, legend = _labels(rows, shares[0], self)
        head = [
            pad(self.plain(c.title), w, left=c.align == "left")
            for c, w in zip(columns, shares, strict=True)
        ]
        head[0] = pad(cut_middle(self.plain(title), shares[0], self.mark), shares[0])
        self.lines.append(" " + "  ".join(self.styled(h, _DIM) for h in head))
        for row, label, cells in zip(rows, labels, texts, strict=True):
            self.row(row, columns, shares, [label, *cells[1:]])
        below = [*legend, *filter(None, (table.note,)), *table.terminal]
        if len(columns) < len(table.columns):
            for reason in dict.fromkeys(row.reason for row in rows if row.reason):
                names = ", ".join(row.cells[0].text for row in rows if row.reason == reason)
                below.append(f"{names}: {reason}")
        for line in below:
            self.text(line, indent="   ")

    def row(
        self, row: Row, columns: tuple[Column, ...], shares: list[int], texts: list[str]
    ) -> None:
        """Append one row: the best group in bold, the verdict in its colour."""
        cells = []
        for number, (column, share, text) in enumerate(zip(columns, shares, texts, strict=True)):
            padded = pad(text, share, left=column.align == "left")
            verdict = row.cells[number].verdict
            if verdict is not None and column.title == "Verdict":
                padded = self.styled(padded, _colour(verdict))
            elif row.strong and number in {0, 1}:
                padded = self.styled(padded, _BOLD)
            cells.append(padded)
        self.lines.append(" " + "  ".join(cells))

    def end(self, document: Document) -> None:
        """Append the paths of the report and the commands to run next."""
        self.gap()
        for name, items in (("Report", document.files), ("Rerun", document.next)):
            for number, item in enumerate(items):
                self.lines.append(pad(name if number == 0 else "", 9) + self.plain(item))


def _colour(verdict: Verdict) -> str:
    return next((code for name, code in _COLOURS.items() if verdict.value.startswith(name)), _DIM)


def _fitting(
    table: Table, page: _Page
) -> tuple[tuple[Column, ...], tuple[Row, ...], list[list[str]], list[int]]:
    """Return the columns that fit, with their cells as rows and as texts, and their widths.

    Notes and the columns with the highest `drop` are left out. Labels have at most a third of the
    page.
    """
    places = [n for n, c in enumerate(table.columns) if not c.prose]
    while True:
        columns = tuple(table.columns[n] for n in places)
        rows = tuple(replace(r, cells=tuple(r.cells[n] for n in places)) for r in table.rows)
        texts = _aligned(columns, rows, page)
        shares = [
            max([cell_len(page.plain(c.title)) if n else 0, *(cell_len(line[n]) for line in texts)])
            for n, c in enumerate(columns)
        ]
        label = min(shares[0], max(LEAST_LABEL, page.width // 3))
        highest = max(c.drop for c in columns)
        if not highest or 1 + label + sum(2 + share for share in shares[1:]) <= page.width:
            return columns, rows, texts, shares
        places = [n for n in places if table.columns[n].drop != highest]


def _aligned(columns: tuple[Column, ...], rows: tuple[Row, ...], page: _Page) -> list[list[str]]:
    """Return texts by row and column. Decimal columns are aligned at the point."""
    table = [
        [page.plain(" ".join(filter(None, (cell.text, cell.muted)))) for cell in row.cells]
        for row in rows
    ]
    for number, column in enumerate(columns):
        if column.align == "decimal":
            tails = [decimal_width(line[number]) for line in table]
            longest = max(tails, default=0)
            for line, tail in zip(table, tails, strict=True):
                if is_number(line[number]):
                    line[number] += " " * (longest - tail)
    return table


def _labels(rows: tuple[Row, ...], width: int, page: _Page) -> tuple[list[str], list[str]]:
    """Return labels, cut in the middle if too long, and lines with the full labels."""
    names = [page.plain(row.cells[0].text) for row in rows]
    cut = cut_distinct(names, width, page.mark)
    legend = [f"{cut[name]} = {name}" for name in names if cell_len(name) > width]
    return [cut[name] for name in names], legend
