"""What a report is made of, before it has a format: a small tree of frozen blocks.

Every renderer prints this tree and nothing else, so that no sentence stands in one output only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.model.verdict import Verdict

Align = Literal["left", "right", "decimal"]
Mark = Literal["pass", "warn", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, with the id of the claim that it is; `None` for what only names facts of the plan."""

    text: str
    claim: str | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below its section's."""

    kind: ClassVar[str] = "heading"
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences in a row. `lead` is the answer of the report."""

    kind: ClassVar[str] = "paragraph"
    sentences: tuple[Sentence, ...]
    lead: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    kind: ClassVar[str] = "bullets"
    items: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class KeyFinding:
    """The one sentence that a table shows."""

    kind: ClassVar[str] = "finding"
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Fallback:
    """What a section says where its data are missing."""

    kind: ClassVar[str] = "fallback"
    text: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its title with unit, how it is aligned, and when a narrow output drops it.

    `drop` 0 stays always; of the others the highest goes first. `prose` holds words that may wrap.
    """

    title: str
    align: Align = "left"
    drop: int = 0
    prose: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in one place: text, the number behind it for sorting and reading by machine."""

    text: str
    value: float | str | None = None
    claim: str | None = None
    verdict: Verdict | None = None
    code: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row; its first cell is its head."""

    cells: tuple[Cell, ...]
    verdict: Verdict | None = None
    strong: bool = False
    """In the best group."""
    baseline: bool = False
    reason: str = ""
    """Why there is no verdict; printed below by an output that has dropped the notes."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is never empty. `legend` lines stand below it; `stub` heads the names in a terminal."""

    kind: ClassVar[str] = "table"
    anchor: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    legend: tuple[str, ...] = ()
    sortable: bool = True
    stub: str = ""
    note: str = ""
    """A line below that every output prints, a narrow one too."""


@dataclass(frozen=True, slots=True)
class Point:
    """A place with its interval on one axis or two; meaning by figure kind."""

    label: str
    x: float
    y: float = 0.0
    x_lo: float | None = None
    x_hi: float | None = None
    y_lo: float | None = None
    y_hi: float | None = None
    inner: tuple[float, float] | None = None
    verdict: Verdict | None = None
    text: str = ""
    strong: bool = False
    baseline: bool = False
    series: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a chart shows; `report.figures` draws it, the table holds the same numbers."""

    kind: ClassVar[str] = "figure"
    anchor: str
    chart: Literal[
        "forest",
        "scaling",
        "memory-time",
        "drift",
        "sensors",
        "waterfall",
        "bars",
        "runs",
        "order",
        "grid",
    ]
    title: str
    desc: str
    points: tuple[Point, ...]
    table: Table
    labels: tuple[tuple[str, str], ...] = ()
    """Axis titles and other words that the chart prints: ``x``, ``y``, …"""
    marks: tuple[tuple[str, float], ...] = ()
    """Numbers of the frame: ``margin``, ``noise``, …"""
    with_table: bool = False
    """Whether the table stands on the page anyway: it is pointed at then, and not printed twice."""

    def label(self, key: str) -> str:
        """A word of the chart, or nothing."""
        return dict(self.labels).get(key, "")

    def mark(self, key: str) -> float | None:
        """A number of the frame, or `None`."""
        return dict(self.marks).get(key)


@dataclass(frozen=True, slots=True)
class Check:
    """One question about the run, how it was answered, and the figure."""

    mark: Mark
    label: str
    figure: str


@dataclass(frozen=True, slots=True)
class Checklist:
    """Questions that a sceptical reader asks."""

    kind: ClassVar[str] = "checklist"
    items: tuple[Check, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be copied as it stands."""

    kind: ClassVar[str] = "code"
    text: str
    language: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values."""

    kind: ClassVar[str] = "facts"
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Links:
    """Files of the record beside the report: what each is called, and its path from the record's folder."""

    kind: ClassVar[str] = "links"
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AuthorText:
    """Words of the scenario's author, kept apart from what was measured."""

    kind: ClassVar[str] = "author"
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Details:
    """Depth that need not be on paper."""

    kind: ClassVar[str] = "details"
    title: str
    blocks: tuple[Block, ...]


Block = (
    Heading
    | Paragraph
    | Bullets
    | KeyFinding
    | Fallback
    | Table
    | Figure
    | Checklist
    | Code
    | Facts
    | Links
    | AuthorText
    | Details
)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the catalogue (REPORTS 1.6), by its code such as ``S03``."""

    code: str
    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A report without a format."""

    title: str
    question: str
    status: str
    facts: tuple[tuple[str, str], ...]
    """The masthead."""
    trust: tuple[Check, ...]
    """The five small facts under the masthead."""
    run_line: str
    """Scenario, time, cells, rounds, noise floor: the head of the terminal's table."""
    sections: tuple[Section, ...]
    claims: tuple[Claim, ...]
    glossary: tuple[tuple[str, str], ...]
    """Each verdict with its meaning."""
    files: tuple[str, ...] = ()
    """Paths that the terminal names at its end."""
    next: tuple[str, ...] = ()
    """Commands that a reader may want now."""
    terms: tuple[tuple[str, str], ...] = ()
    """The other words of the page, each with its meaning."""

    def section(self, code: str) -> Section | None:
        """The section of this code, if it is in the report."""
        return next((section for section in self.sections if section.code == code), None)

    def figures(self) -> tuple[Figure, ...]:
        """Every figure, in order."""
        return tuple(
            block
            for section in self.sections
            for block in _flat(section.blocks)
            if isinstance(block, Figure)
        )


def _flat(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Details):
            found.extend(_flat(block.blocks))
    return tuple(found)
