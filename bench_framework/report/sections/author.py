"""Section "Author's notes": texts of the scenario, separate from the results.

Learnings and next steps quote measured figures (`features.published.claims`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import AuthorText, Block, Heading
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return learnings and next steps with measured figures, then one block per note."""
    blocks: list[Block] = []
    for kind, title in (("learning", "Learnings"), ("next-step", "Next steps")):
        if bullets := claim_bullets(data.claims(kind)):
            blocks += [Heading(title, f"author-{kind}s"), *bullets]
    return (*blocks, *(AuthorText(note.title, note.text) for note in data.plan.notes))


AUTHOR = SectionKind(
    "S23",
    "author",
    "Author's notes",
    "notes in the scenario",
    build,
    place="report",
)
