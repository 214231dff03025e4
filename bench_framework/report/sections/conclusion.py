"""S26: the claims of the summary once more, so that the end of a report says what its beginning says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Bullets, Paragraph
from bench_framework.report.sections import summary
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """The same sentences in the same order, as one paragraph."""
    sentences = tuple(
        one
        for block in summary.build(data)
        for one in (
            block.sentences
            if isinstance(block, Paragraph)
            else block.items
            if isinstance(block, Bullets)
            else ()
        )
    )
    return (Paragraph(sentences),) if sentences else ()


CONCLUSION = SectionKind(
    "S26", "conclusion", "Conclusion", "what the summary needs", build, summary.SUMMARY.fallback
)
