"""The document tree, of frozen blocks; every renderer prints only this tree."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, dataclass_transform

from bench_framework.model.facts import Claim
from bench_framework.model.verdict import Verdict

Align = Literal["left", "right", "decimal"]
Mark = Literal["pass", "warn", "fail", "unknown"]
Terminal = Literal["nothing", "sentences", "all", "last"]
"""Blocks of a section that the terminal prints. “all” is sentences, tables and plain lines. “last” is
the answer, below all others: warnings, answer and decision, where they are seen without scrolling."""
Chip = Literal["", "same", "opposite", "neutral"]
"""The colour of a result in a frame: that of a published figure compared with the measured one."""
Place = Literal["report", "appendix"]
"""The document that contains a section."""
Tone = Literal["decision", "warning"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the id of its claim, or `None` if it only states facts of the plan."""

    text: str
    claim: str | None = None
    verdict: Verdict | None = None
    lead: str = ""
    """Words before the sentence, in bold: the subject of a line of the summary."""


def paragraph_text(sentences: Iterable[Sentence]) -> str:
    """Return sentences as one paragraph, each with its lead."""
    return " ".join(f"{s.lead}: {s.text}" if s.lead else s.text for s in sentences)


@dataclass_transform(frozen_default=True)
class Block:
    """A part of a section. Each kind is a subclass, and a frozen dataclass.

    Attributes:
        kind: the name by which templates and renderers select how it is printed.
    """

    kind: ClassVar[str]

    def __init_subclass__(cls, kind: str) -> None:
        """Make the subclass a dataclass."""
        cls.kind = kind
        dataclass(frozen=True)(cls)


class Heading(Block, kind="heading"):
    """A heading one level below that of its section."""

    text: str
    anchor: str


class Paragraph(Block, kind="paragraph"):
    """Consecutive sentences. `lead` marks the main result of the report."""

    sentences: tuple[Sentence, ...]
    lead: bool = False


class Bullets(Block, kind="bullets"):
    """A list of sentences."""

    items: tuple[Sentence, ...]


class Box(Block, kind="box"):
    """Sentences in a tinted box: the decision, or what changes how a reader may use the answer."""

    tone: Tone
    sentences: tuple[Sentence, ...]


class KeyFinding(Block, kind="finding"):
    """The one sentence that states the result of a table."""

    sentence: Sentence


class Fallback(Block, kind="fallback"):
    """A plain line, such as the reason for a missing result."""

    text: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title with unit, its alignment, and its order of removal in narrow outputs.

    A column with `drop` 0 is never removed. Of the others, the highest is removed first. `prose`
    marks text that may wrap. A `drawn` column shows the intervals of its cells as a drawing; only
    HTML has it.
    """

    title: str
    align: Align = "left"
    drop: int = 0
    prose: bool = False
    drawn: bool = False


def left(*titles: str) -> tuple[Column, ...]:
    """Return left-aligned columns."""
    return tuple(map(Column, titles))


def numeric(*titles: str) -> tuple[Column, ...]:
    """Return right-aligned columns."""
    return tuple(Column(title, "right") for title in titles)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A ratio with its interval, drawn in a table on a logarithmic scale around 1."""

    ratio: float
    lo: float
    hi: float
    margin: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of a table cell: its text, and the number for sorting and for programs."""

    text: str
    value: float | str | None = None
    claim: str | None = None
    verdict: Verdict | None = None
    code: bool = False
    about: str = ""
    """A description below the text, in a muted style."""
    drawn: Drawn | None = None
    muted: str = ""
    """Text after it in a muted style, such as the interval of a number."""
    chip: Chip = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table. The first cell is the row header."""

    cells: tuple[Cell, ...]
    verdict: Verdict | None = None
    strong: bool = False
    """True if the variant is in the best group."""
    baseline: bool = False
    reason: str = ""
    """The reason for a missing verdict. An output without notes prints it below the table."""

    @classmethod
    def build(cls, *cells: Cell | str, **marks: Any) -> Self:
        """Return a row. A text is a cell without a value. `marks` are the other attributes."""
        return cls(tuple(Cell(c) if isinstance(c, str) else c for c in cells), **marks)


class Table(Block, kind="table"):
    """A table. `legend` lines are below it; `stub` is the header of names in a terminal."""

    anchor: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    legend: tuple[str, ...] = ()
    sortable: bool = True
    stub: str = ""
    note: str = ""
    """A line below the table that every output prints, including narrow ones."""
    terminal: tuple[str, ...] = ()
    """Lines below the table in a terminal, which prints neither captions nor notes of rows."""
    cards: bool = False
    """True if a narrow page shows each row as a card, with the titles of the columns in its cells."""

    def without_empty_columns(self) -> Self:
        """Return the table without columns that have no content in any row."""
        texts = zip(*([c.text or c.drawn for c in row.cells] for row in self.rows), strict=True)
        filled = [not {*column} <= {"", "—", None} for column in texts]
        return self._with([True, *filled[1:]])

    def without_drawings(self) -> Self:
        """Return the table without drawn columns, for an output of text."""
        return self._with([not column.drawn for column in self.columns])

    def _with(self, places: Sequence[bool]) -> Self:
        columns = tuple(itertools.compress(self.columns, places))
        rows = (replace(r, cells=tuple(itertools.compress(r.cells, places))) for r in self.rows)
        return replace(self, columns=columns, rows=tuple(rows))


@dataclass(frozen=True, slots=True)
class Point:
    """A point with its interval on one or two axes. The meaning depends on the kind of figure."""

    label: str
    x: float
    y: float = 0.0
    x_lo: float | None = None
    x_hi: float | None = None
    y_lo: float | None = None
    y_hi: float | None = None
    verdict: Verdict | None = None
    text: str = ""
    strong: bool = False
    baseline: bool = False
    series: str = ""
    lead: str = ""
    """Words before `text`, in bold and in the colour of the direction: the change."""


class Figure(Block, kind="figure"):
    """The data of a chart. `report.figures` draws it, and the table contains the same numbers."""

    anchor: str
    chart: str
    """Name of the chart: a key of `report.figures.PLOTS`."""
    title: str
    desc: str
    points: tuple[Point, ...]
    table: Table
    labels: tuple[tuple[str, str], ...] = ()
    """Axis titles and other texts in the chart: ``x``, ``y``, …"""
    marks: tuple[tuple[str, float], ...] = ()
    """Reference values in the chart: ``margin``, ``noise``, …"""
    with_table: bool = False
    """True if the page already contains the table. The figure then refers to it."""
    narrow: bool = False
    """True for the drawing for phones: half as wide, with names above the marks."""

    def label(self, key: str) -> str:
        """Return a text of the chart, or an empty string."""
        return dict(self.labels).get(key, "")

    def mark(self, key: str) -> float | None:
        """Return a reference value of the chart, or `None`."""
        return dict(self.marks).get(key)

    def by_series(self) -> dict[str, list[Point]]:
        """Return the points of each series, in the order of their first points."""
        series: dict[str, list[Point]] = {}
        for point in self.points:
            series.setdefault(point.series, []).append(point)
        return series


@dataclass(frozen=True, slots=True)
class Check:
    """One question about data quality, with its answer and a figure."""

    mark: Mark
    label: str
    figure: str


class Checklist(Block, kind="checklist"):
    """The checks of data quality."""

    items: tuple[Check, ...]


class Code(Block, kind="code"):
    """Text to copy without changes."""

    text: str
    language: str = ""
    title: str = ""


class Facts(Block, kind="facts"):
    """Pairs of name and value."""

    pairs: tuple[tuple[str, str], ...]


class Links(Block, kind="links"):
    """Files of the record: the title of each, and its path relative to the record's folder."""

    items: tuple[tuple[str, str], ...]


class AuthorNote(Block, kind="author"):
    """Text of the scenario's author, separate from the results."""

    title: str
    text: str


class Details(Block, kind="details"):
    """Details that are folded on the page and need not be printed on paper."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the report, with its code such as ``S03``."""

    code: str
    anchor: str
    title: str
    blocks: tuple[Block, ...]
    place: Place = "report"
    terminal: Terminal = "nothing"

    @property
    def anchors(self) -> frozenset[str]:
        """Return the anchors of the section and of its blocks."""
        return frozenset(
            {self.anchor, *(a for b in self.blocks if (a := getattr(b, "anchor", "")))}
        )


@dataclass(frozen=True, slots=True)
class MastheadLine:
    """A fact about a record with its name."""

    name: str
    value: str
    top: str = ""
    """Its text above the title, empty if it is not there. All lines are in "About this record"."""


@dataclass(frozen=True, slots=True)
class Document:
    """A report, independent of the format."""

    title: str
    question: str
    status: str
    masthead: tuple[MastheadLine, ...]
    run_line: str
    """Scenario, duration, configurations, rounds and noise floor: the first line in a terminal."""
    sections: tuple[Section, ...]
    claims: tuple[Claim, ...]
    glossary: tuple[tuple[str, str], ...]
    """Each verdict with its meaning."""
    files: tuple[str, ...] = ()
    """Paths that the terminal prints at the end."""
    next: tuple[str, ...] = ()
    """Commands that a reader may want to run next."""
    terms: tuple[tuple[str, str], ...] = ()
    """The other terms of the page, each with its meaning."""
    missing: tuple[tuple[str, str], ...] = ()
    """Each section without data, with the reason."""

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return name and value of each line of the masthead."""
        return tuple((line.name, line.value) for line in self.masthead)

    @property
    def head(self) -> tuple[str, ...]:
        """Return the texts above the title."""
        return tuple(line.top for line in self.masthead if line.top)

    @property
    def report(self) -> tuple[Section, ...]:
        """Return the sections of the report."""
        return tuple(section for section in self.sections if section.place == "report")

    @property
    def appendix(self) -> tuple[Section, ...]:
        """Return the sections of the appendix."""
        return tuple(section for section in self.sections if section.place == "appendix")

    def section(self, code: str) -> Section | None:
        """Return the section with this code, or `None` if it is not in the report."""
        return next((section for section in self.sections if section.code == code), None)

    def figures(self) -> tuple[Figure, ...]:
        """Return every figure, in order."""
        blocks = (block for section in self.sections for block in section.blocks)
        return tuple(block for block in blocks if isinstance(block, Figure))
