"""Section "Published claims": each claim of an earlier report, what was measured, and the verdict."""

from bench_framework.model.facts import Claim, PublishedResult
from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Table
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.text.write import render


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the number of claims by verdict, and a table with one row per claim."""
    published, claims = data.plan.published, data.claims("published")
    if published is None or not claims:
        return ()
    columns = (Column("The original said"), Column("We measured", prose=True), Column("Verdict"))
    source = ", ".join(filter(None, (published.date, published.url)))
    caption = (
        f"Claims of {source}. " if source else ""
    ) + f"Figures are relative to {data.baseline.label}, unless the row names another comparison."
    rows = tuple(_row(claim) for claim in claims)
    counts = Bullets(tuple(sentence(c) for c in data.claims("published-counts")))
    return (counts, Table("published-table", caption, columns, rows, sortable=False))


def _row(claim: Claim) -> Row:
    fact = claim.fact
    assert isinstance(fact, PublishedResult)
    said = render("quotation", claim, fact)
    return Row.build(said, Cell(fact.measured, None, claim.id), render("published_verdict", fact))


PUBLISHED = SectionKind(
    "S18",
    "published",
    "Published claims",
    "each claim of the original report, the measured figure, and whether it is confirmed",
    build,
    place="report",
)
