"""S26: the claims of the summary once more, so that the end of a report says what its beginning says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Paragraph
from bench_framework.report.sections import summary
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """The same sentences in the same order, without the weight of the lead."""
    return tuple(
        replace(block, lead=False) if isinstance(block, Paragraph) else block for block in summary.build(data)
    )


CONCLUSION = SectionKind(
    "S26", "conclusion", "Conclusion", "what the summary needs", build, summary.SUMMARY.fallback
)
