"""S18: figures that nobody measured, apart from all that was measured, each with what it rests on (REPORTS R11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Bullets
from bench_framework.report.sections.kind import SectionKind, left_out
from bench_framework.report.sentences import sentence

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """One sentence per projection: never a table, so that no column mixes it with measurements."""
    claims = data.claims("projection")
    return (Bullets(tuple(sentence(claim) for claim in claims)),) if claims else ()


PROJECTION = SectionKind(
    "S18",
    "projection",
    "Projection: not measured",
    "`projections` in the scenario, and rounds with the figures that they need",
    build,
    left_out,
    "Nothing is projected: every figure of this report was measured.",
)
