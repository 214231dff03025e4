"""Section "Key findings": the comparisons that a reader would act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.report.blocks import Block
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the sentences of the contrasts: those of the scenario, or those of the best variant."""
    return tuple(claim_bullets(data.claims("contrast")))


FINDINGS = SectionKind(
    "S17",
    "findings",
    "Key findings",
    "the comparisons that the scenario names in `contrasts`, or those of the best variant",
    build,
    place="report",
    terminal="sentences",
)
