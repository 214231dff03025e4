"""Section "Key findings": the comparisons that a reader would act on."""

from bench_framework.report.blocks import Block
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sections.summary import lines


def build(data: ReportData) -> tuple[Block, ...]:
    """Return contrasts that the summary lacks: the scenario's, or else the best variant's."""
    stated = {claim.id for claim in lines(data)}
    claims = (c for c in data.claims("contrast", "grouped", "finding") if "joined" not in c.values)
    return tuple(claim_bullets(c for c in claims if c.id not in stated))


FINDINGS = SectionKind(
    "S17",
    "findings",
    "Key findings",
    "further comparisons that the scenario names in `contrasts`, or those of the best variant",
    build,
    place="report",
    terminal="sentences",
)
