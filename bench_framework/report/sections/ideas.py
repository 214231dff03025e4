"""S12: ideas that were tried and not adopted; the reason comes from the verdict, not from the author."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.model.judgement import CellState, Comparison, Verdict
from bench_framework.model.words import shown
from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Table
from bench_framework.report.counts import caption_tail
from bench_framework.report.numbers import DASH, show_comparison
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.sentences import sentence

if TYPE_CHECKING:
    from bench_framework.model.plan import Idea, Input
    from bench_framework.report.context import ReportData

REASONS: Final = {
    Verdict.WORSE: "slower",
    Verdict.WORSE_SIZE_OPEN: "slower, size open",
    Verdict.EQUIVALENT: "no gain",
    Verdict.UNDECIDED: "undecided",
    Verdict.SINGLE_RUN: "undecided",
    Verdict.OTHER_OUTPUT: "other output",
    Verdict.NOT_COMPARABLE: "not comparable",
    Verdict.FAILED: "failed",
}
"""Verdict on the headline metric to the reason that may be given (REPORTS S12)."""
COSTS_MEMORY: Final = "costs memory"
AUTHOR: Final = "author's decision"


def build(data: ReportData) -> tuple[Block, ...]:
    """One row per idea and input."""
    ideas = [idea for idea in data.plan.ideas if idea.decision != "adopted"]
    if not ideas:
        return ()
    rows = tuple(_row(data, idea, item) for idea in ideas for item in data.plan.inputs)
    columns = (
        Column("Idea"), Column("Change", prose=True), Column("Input"), Column("Time vs baseline"), Column("Verdict"),
        Column("Memory vs baseline", drop=2), Column("Decision"), Column("Reason", prose=True),
        Column("Author's why", drop=3, prose=True),
    )  # fmt: skip
    caption = f"Ideas tried beside the axes, each one change to {data.baseline.label}. {caption_tail(data)}"
    blocks: list[Block] = [Table("ideas-table", caption, columns, rows, sortable=False)]
    claims = [c for c in data.claims("ideas") if c.text]
    if claims:
        blocks.append(Bullets(tuple(sentence(c) for c in claims)))
    return tuple(blocks)


def _row(data: ReportData, idea: Idea, item: Input) -> Row:
    cell = next((c for c in data.arms(item.id) if c.variant_id == idea.variant_id), None)
    time = data.comparison(cell.id, data.metric) if cell else None
    memory = data.comparison(cell.id, "peak_rss") if cell else None
    state = data.state(cell.id) if cell else None
    verdict = _verdict(time, state)
    change = ", ".join(f"{axis}: {value}" for axis, value in idea.change)
    return Row(
        (
            Cell(idea.name),
            Cell(change),
            Cell(data.input_name(item)),
            _ratio(time),
            Cell(shown(verdict, data.metric), verdict.value, None, verdict),
            _ratio(memory),
            Cell(idea.decision),
            Cell(reason(verdict, memory)),
            Cell(idea.why),
        ),
        verdict,
    )


def _verdict(time: Comparison | None, state: CellState | None) -> Verdict:
    refused = {
        "failed": Verdict.FAILED,
        "other-output": Verdict.OTHER_OUTPUT,
        "not-comparable": Verdict.NOT_COMPARABLE,
    }
    if state is None:
        return Verdict.EXCLUDED
    if state.state in refused:
        return refused[state.state]
    return time.verdict if time is not None else Verdict.UNDECIDED


def reason(verdict: Verdict, memory: Comparison | None) -> str:
    """Why an idea was left out, as far as the runs tell: an undecided one is never called worse."""
    if verdict in REASONS:
        return REASONS[verdict]
    if memory is not None and memory.verdict in {Verdict.WORSE, Verdict.WORSE_SIZE_OPEN}:
        return COSTS_MEMORY
    return "excluded" if verdict is Verdict.EXCLUDED else AUTHOR


def _ratio(comparison: Comparison | None) -> Cell:
    if comparison is None or comparison.shown is None:
        return Cell(DASH)
    return Cell(str(show_comparison(comparison)), comparison.shown.ratio)


IDEAS = SectionKind("S12", "ideas", "Tested but not adopted", "ideas in the scenario", build, lambda _: "")
