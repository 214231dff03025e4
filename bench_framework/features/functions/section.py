"""Section "Functions that differ": own instructions and calls of functions in counted runs of both sides."""

from dataclasses import replace
from typing import Final

from bench_framework.model.facts import Claim
from bench_framework.model.facts.functions import (
    LEAST_CHANGE,
    CountChange,
    FunctionChange,
    FunctionChanges,
)
from bench_framework.model.record.functions import ALLOCATOR, UNKNOWN
from bench_framework.report.blocks import Block, Cell, Column, Heading, Row, Table
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.text.functions import (
    calls_of,
    function_change,
    name_of,
    signed_count,
    times_as_often,
)
from bench_framework.text.names import capital
from bench_framework.text.numbers import DASH, format_percent
from bench_framework.text.words import noun
from bench_framework.units import counted

MOST_ROWS: Final = 12
_LEGEND: Final = (
    "Instructions of a function are its own, without those of the functions that it calls.",
    "The copies that the compiler made of a generic function are one row.",
    "New: it is a function of its own on one side only. The compiler may have inlined it on the other side.",
    "From: the function of the program that causes most of the growth of a function of a library.",
)


_CANCELS: Final = (
    "Cancels with: that function differs by almost as much in the other direction. One of the two was renamed, "
    "inlined or split off. The sentence above names neither."
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table for each counted pair in which something differs, and sentences."""
    claims = data.claims("functions")
    blocks: list[Block] = [*claim_bullets(claims)]
    for number, claim in enumerate(claims, start=1):
        assert isinstance(claim.fact, FunctionChanges)
        if claim.fact.functions or claim.fact.counts:
            blocks += [Heading(_title(data, claim), f"functions-{number}")]
            blocks += [_table(claim, claim.fact, number)]
    return tuple(blocks)


def _title(data: ReportData, claim: Claim) -> str:
    item = data.plan.input(data.plan.cell(claim.cells[0]).input_id)
    return f"{claim.subject} against {claim.reference}{data.on_input(item, ', input ')}"


def _table(claim: Claim, changes: FunctionChanges, number: int) -> Table:
    visible, hidden = changes.functions[:MOST_ROWS], changes.functions[MOST_ROWS:]
    rest = changes.rest + sum(change.difference for change in hidden)
    rows = [_function(change) for change in visible]
    total = changes.instructions - changes.reference
    rows.append(_sum("all other functions", rest, total if changes.ratio else 0))
    rows.append(_sum("all functions", total, total if changes.ratio else 0))
    rows += [_count(count) for count in changes.counts]
    columns = (
        Column("Function"),
        Column("Difference", "right"),
        Column("Change", "right"),
        Column("Share", "right"),
        Column("Calls", "right"),
        Column("In", drop=2),
        Column("From", drop=1),
    )
    least, runs = format_percent(LEAST_CHANGE), counted(changes.runs, "counted run")
    caption = (
        f"Functions of {claim.subject} whose own instructions differ from those of {claim.reference} by at least "
        f"{least} of all instructions, in {runs} of each side, and counts that differ."
    )
    cancels = (_CANCELS,) if any(change.counterpart for change in visible) else ()
    legend = (*_LEGEND, *cancels)
    return Table(f"functions-{number}-table", caption, columns, tuple(rows), legend, sortable=False)


def _function(change: FunctionChange) -> Row:
    about = f"cancels with {change.counterpart}" if change.counterpart else ""
    about = f"in place of {change.former}" if change.former else about
    return Row.build(
        Cell(name_of(replace(change, former="")), code=change.name not in (ALLOCATOR, UNKNOWN)),
        signed_count(change.difference),
        Cell(function_change(change), about=about),
        _share(change.share),
        calls_of(change) or DASH,
        change.module or "the program",
        Cell(change.caller, code=True) if change.caller else DASH,
    )


def _sum(name: str, difference: int, total: int) -> Row:
    share = _share(difference / total if total else None)
    return Row.build(name, signed_count(difference), DASH, share, DASH, DASH, DASH)


def _count(count: CountChange) -> Row:
    name = capital(noun(count.metric))
    where = Cell(count.caller, code=True) if count.caller else DASH
    often = times_as_often(count.value, count.reference)
    visible = f"{name} ({count.function})" if count.function else name
    return Row.build(
        visible, signed_count(count.value - count.reference), DASH, DASH, often or DASH, DASH, where
    )


def _share(share: float | None) -> str:
    return DASH if share is None else format_percent(share, decimals=0)


FUNCTIONS: Final = SectionKind(
    "S37",
    "functions",
    "Functions that differ",
    "functions whose counted instructions differ between two configurations, with their calls, and counts of "
    "allocations and system calls that differ",
    build,
)
