"""Section "Key findings": the comparisons that a reader would act on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Bullets
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.summary import SUMMARY

if TYPE_CHECKING:
    from bench_framework.report.blocks import Block
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the sentences of the contrasts that are not part of the summary."""
    lists = (block for block in SUMMARY.build(data) if isinstance(block, Bullets))
    stated = {sentence.claim for block in lists for sentence in block.items}
    return tuple(claim_bullets(c for c in data.claims("contrast") if c.id not in stated))


FINDINGS = SectionKind(
    "S17",
    "findings",
    "Key findings",
    "further comparisons that the scenario names in `contrasts`, or those of the best variant",
    build,
    place="report",
    terminal="sentences",
)
