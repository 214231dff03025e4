"""Section "Author's notes": texts of the scenario, separate from the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import AuthorText, Block
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return one block per note of the scenario."""
    return tuple(AuthorText(note.title, note.text) for note in data.plan.notes)


AUTHOR = SectionKind(
    "S23",
    "author",
    "Author's notes",
    "notes in the scenario",
    build,
    without="The author wrote no notes.",
)
