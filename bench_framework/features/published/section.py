"""Section "Published figures": each comparison with figures of an earlier report, and how they compare."""

from collections.abc import Iterable, Sequence
from typing import Final

from bench_framework.model.facts import Claim, PublishedResult
from bench_framework.model.facts.published import Outcome
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.report.blocks import (
    Block,
    Bullets,
    Cell,
    Chip,
    Column,
    Paragraph,
    Row,
    Sentence,
    Table,
    left,
    numeric,
)
from bench_framework.report.claim_blocks import published_changes, sentence
from bench_framework.report.context import ReportData
from bench_framework.report.sections.figure import result_input
from bench_framework.report.sections.kind import SectionKind
from bench_framework.text.names import capital
from bench_framework.text.numbers import DASH
from bench_framework.text.published import measured_figure, needs_factors, published_figure
from bench_framework.text.write import render
from bench_framework.units import counted

CHIPS: Final[dict[Outcome, Chip]] = {
    Outcome.REPRODUCED: "same",
    Outcome.LARGER: "same",
    Outcome.SMALLER: "same",
    Outcome.OPPOSITE: "opposite",
    Outcome.REFUTED: "opposite",
}
"""The colour of an outcome. The others are neutral."""
SMALL: Final = Reason(ReasonCode.BELOW_MARGIN)
"""The reason of an outcome that is neutral, because its estimate is within the margin."""


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table of the comparisons, without those that the table of changes has."""
    claims, item = data.claims("published"), result_input(data)
    stated = published_changes(data, item) if item is not None else {}
    if data.plan.published is None or not claims:
        return ()
    open_ = sum(len(_fact(claim).quotes) for claim in claims if not _is_tested(claim))
    rows = [c for c in claims if _is_tested(c) and c not in stated.values()]
    untested = f"{counted(open_, 'more statement')} not tested; " if open_ else ""
    text = capital(f"{untested}quotes in the appendix.")
    return (_table(data, "published-table", text, rows) if rows else Paragraph((Sentence(text),)),)


def details(data: ReportData) -> tuple[Block, ...]:
    """Return all comparisons with their quotes, what other scenarios gave, and what was not tested."""
    published, claims = data.plan.published, data.claims("published")
    if published is None or not claims:
        return ()
    blocks: list[Block] = [Bullets(tuple(map(sentence, data.claims("published-counts"))))]
    if tested := [claim for claim in claims if _is_tested(claim)]:
        source = ", ".join(filter(None, (published.date, published.url)))
        caption = (
            f"Published figures{f' of {source}' if source else ''} and those of this record. A row that "
            f"names one change compares it with {data.plan.baseline.label}."
        )
        blocks.append(_table(data, "published-quotes", caption, tested, quoted=True))
    if others := _other_results(claims):
        blocks.append(others)
    if open_ := [claim for claim in claims if not _is_tested(claim)]:
        blocks.append(_not_tested(open_))
    return tuple(blocks)


def _table(
    data: ReportData, anchor: str, caption: str, claims: Sequence[Claim], *, quoted: bool = False
) -> Table:
    tested = (c for c in data.claims("published") if _is_tested(c))
    times = needs_factors(map(_fact, tested))
    caption += " A factor without a word is the first ÷ the second." if times else ""
    columns = (Column("Comparison"), *numeric("Published", "Here"), Column("Result"))
    rows = tuple(_row(c, _fact(c), times=times, quoted=quoted) for c in claims)
    return Table(anchor, caption, columns, rows, sortable=False, cards=True)


def _is_tested(claim: Claim) -> bool:
    return _fact(claim).outcome is not Outcome.NOT_TESTED


def _fact(claim: Claim) -> PublishedResult:
    assert isinstance(claim.fact, PublishedResult)
    return claim.fact


def _row(claim: Claim, fact: PublishedResult, *, times: bool, quoted: bool) -> Row:
    outcome = fact.outcome
    is_small = fact.reason == SMALL and fact.measured is None
    result = Cell(
        render("published_result", fact),
        outcome.value,
        claim.id,
        about=render("published_reason", fact, brief=not quoted),
        chip="neutral" if is_small else CHIPS.get(outcome, "neutral"),
    )
    name = _name(claim, fact) if quoted else Cell(claim.subject or render("quotations", fact))
    return Row((name, Cell(_published(fact, times=times)), _here(fact, times=times), result))


def _name(claim: Claim, fact: PublishedResult) -> Cell:
    """Return what is compared, with the quotes; without a name, the quotes."""
    quotes = render("quotations", fact)
    return Cell(claim.subject, about=quotes) if claim.subject else Cell(quotes)


def _published(fact: PublishedResult, *, times: bool) -> str:
    return published_figure(fact, times=times) if fact.tests else fact.figure or DASH


def _here(fact: PublishedResult, *, times: bool) -> Cell:
    """Return the measured figure with its interval in a muted style; several of them as one text."""
    others = "; ".join(render("published_other", other) for other in fact.other_results)
    measured = None
    if len(fact.tests) == 1 and not fact.tests[0].sizes:
        (test,) = fact.tests
        measured = measured_figure(test, fact.figure, times=times)
    if measured is None:
        return Cell(render("all_here", fact, times) or DASH, about=others)
    exact = test.evidence.lo == test.evidence.hi
    bounds = "" if exact else measured.bounds
    return Cell(measured.estimate, test.evidence.estimate, muted=bounds, about=others)


def _other_results(claims: Iterable[Claim]) -> Table | None:
    """Return the results of other scenarios, with what differs there."""
    rows = []
    for claim in claims:
        fact = _fact(claim)
        rows += [
            Row.build(claim.subject, o.scenario, o.result, o.date, o.differs)
            for o in fact.other_results
        ]
    columns = (
        *left("Comparison", "Scenario"),
        Column("Result", "right"),
        Column("Date"),
        Column("What differs there", prose=True),
    )
    caption = "Other scenarios that test the same statements, and why their results may differ."
    return (
        Table("published-others", caption, columns, tuple(rows), sortable=False) if rows else None
    )


def _not_tested(claims: list[Claim]) -> Table:
    """Return the statements without a test, with the reasons."""
    rows = []
    for claim in claims:
        fact = _fact(claim)
        name, reason = _name(claim, fact), render("published_reason", fact)
        rows.append(Row((name, Cell(fact.figure or DASH), Cell(reason, None, claim.id))))
    columns = (Column("Statement"), Column("Published"), Column("Reason", prose=True))
    count = sum(len(_fact(claim).quotes) for claim in claims)
    caption = f"{capital(counted(count, 'statement'))} without a test, and why."
    return Table("published-not-tested", caption, columns, tuple(rows), sortable=False)


PUBLISHED = SectionKind(
    "S18",
    "published",
    "Published figures",
    "each comparison with figures of an earlier report that *Changes* does not have: published, measured here, and "
    "how they compare",
    build,
    place="report",
)
DETAILS = SectionKind(
    "S36",
    "published-details",
    "Published figures: quotes, other scenarios, and not tested",
    "the number of comparisons by outcome, each with its quotes and reasons, what other scenarios gave for the same "
    "statements, and the statements without a test, with the reasons",
    details,
)
