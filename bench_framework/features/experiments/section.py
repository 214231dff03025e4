"""Sections of adopted and of rejected experiments, and of tested hypotheses.

The author decides whether an experiment is adopted. The verdict is measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.model.judgement import ONE_PROGRAM, CellState, Comparison
from bench_framework.model.metrics import PEAK_RSS
from bench_framework.model.verdict import Verdict
from bench_framework.model.words import verdict_text
from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Table
from bench_framework.report.claim_blocks import sentence
from bench_framework.report.contrasts import interval_cells, verdict_cell, with_claims
from bench_framework.report.counts import ADJUSTED_CI, caption_tail
from bench_framework.report.numbers import DASH, show_comparison, show_size
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.declarations import Experiment
    from bench_framework.model.judgement import Claim, HypothesisTest
    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData


REASONS: Final = {
    Verdict.WORSE: "slower",
    Verdict.WORSE_SIZE_UNCERTAIN: "slower, size uncertain",
    Verdict.EQUIVALENT: "no gain",
    Verdict.INCONCLUSIVE: "inconclusive",
    Verdict.SINGLE_RUN: "inconclusive",
    Verdict.OTHER_OUTPUT: "other output",
    Verdict.NOT_COMPARABLE: "not comparable",
    Verdict.FAILED: "failed",
}
"""Verdict on the main metric → the reason that the table states."""
COSTS_MEMORY: Final = "costs memory"
AUTHOR: Final = "author's decision"
NO_EFFECT: Final = "no effect on the binary"
"""The reason of an experiment that runs the same program as its reference."""


_INPUT: Final = "Input"


def build(data: ReportData) -> tuple[Block, ...]:
    """Return a table with one row per rejected experiment and input."""
    rows = _rows(data, adopted=False)
    if not rows:
        return ()
    columns = (
        Column("Experiment"),
        Column("Change", prose=True),
        Column(_INPUT),
        Column("Time vs baseline"),
        Column("Verdict"),
        Column("Memory vs baseline", drop=2),
        Column("Decision"),
        Column("Reason", prose=True),
        Column("Author's reason", drop=3, prose=True),
    )
    title = f"Experiments that were not adopted, each with one change to {data.baseline.label}"
    caption = f"{title}. {caption_tail(data)}"
    blocks: list[Block] = [
        Table("experiments-table", caption, *_of_inputs(data, columns, rows), sortable=False)
    ]
    claims = [c for c in data.claims("experiments") if c.text]
    if claims:
        blocks.append(Bullets(tuple(sentence(c) for c in claims)))
    return tuple(blocks)


def adopted(data: ReportData) -> tuple[Block, ...]:
    """Return a table with one row per adopted experiment and input, whatever its verdict."""
    rows = _rows(data, adopted=True)
    if not rows:
        return ()
    columns = (
        Column("Experiment"),
        Column("Change", prose=True),
        Column(_INPUT),
        Column("Time vs baseline"),
        Column("Verdict"),
        Column("Memory vs baseline", drop=2),
        Column("Binary", "right", drop=1),
        Column("Author's reason", drop=3, prose=True),
    )
    caption = (
        f"Changes that the author adopted, each alone vs {data.baseline.label}; their combined "
        f"effect is in the results. {caption_tail(data)}"
    )
    return (Table("adopted-table", caption, *_of_inputs(data, columns, rows), sortable=False),)


def _of_inputs(
    data: ReportData, columns: tuple[Column, ...], rows: tuple[Row, ...]
) -> tuple[tuple[Column, ...], tuple[Row, ...]]:
    """Return columns and rows, without the input column if there is a single input."""
    if len(data.plan.inputs) > 1:
        return columns, rows
    at = next(i for i, column in enumerate(columns) if column.title == _INPUT)
    return (
        columns[:at] + columns[at + 1 :],
        tuple(replace(row, cells=row.cells[:at] + row.cells[at + 1 :]) for row in rows),
    )


def _rows(data: ReportData, *, adopted: bool) -> tuple[Row, ...]:
    experiments = [
        experiment
        for experiment in data.plan.experiments
        if (experiment.decision == "adopted") is adopted
    ]
    row = _adopted_row if adopted else _row
    return tuple(
        row(data, experiment, item) for experiment in experiments for item in data.plan.inputs
    )


def _adopted_row(data: ReportData, experiment: Experiment, item: Input) -> Row:
    tried = _row(data, experiment, item)
    before, after = (
        data.build_of(v) for v in (data.baseline, data.plan.variant(experiment.variant_id))
    )
    larger = Cell(DASH)
    if before is not None and after is not None and before.size_bytes and after.size_bytes:
        grown = after.size_bytes - before.size_bytes
        larger = Cell(
            "the same"
            if not grown
            else f"{'+' if grown > 0 else '−'}{show_size(abs(grown), 'iec')}",
            grown,
        )
    return replace(tried, cells=(*tried.cells[:6], larger, tried.cells[8]))


def _row(data: ReportData, experiment: Experiment, item: Input) -> Row:
    cell = next((c for c in data.arms(item.id) if c.variant_id == experiment.variant_id), None)
    time = data.comparison(cell.id, data.metric) if cell else None
    memory = data.comparison(cell.id, PEAK_RSS) if cell else None
    state = data.state(cell.id) if cell else None
    verdict = _verdict(time, state)
    change = ", ".join(f"{axis}: {value}" for axis, value in experiment.change)
    return Row(
        (
            Cell(experiment.name),
            Cell(change),
            Cell(data.input_name(item)),
            _ratio(time),
            Cell(verdict_text(verdict, data.metric), verdict.value, None, verdict),
            _ratio(memory),
            Cell(experiment.decision),
            Cell(
                NO_EFFECT
                if time is not None and time.reason == ONE_PROGRAM
                else reason(verdict, memory)
            ),
            Cell(experiment.why),
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
    return time.verdict if time is not None else Verdict.INCONCLUSIVE


def reason(verdict: Verdict, memory: Comparison | None) -> str:
    """Return why an experiment was not adopted. An inconclusive one is never called worse."""
    if verdict in REASONS:
        return REASONS[verdict]
    if memory is not None and memory.verdict.worse:
        return COSTS_MEMORY
    return "excluded" if verdict is Verdict.EXCLUDED else AUTHOR


def _ratio(comparison: Comparison | None) -> Cell:
    if comparison is None or comparison.shown is None:
        return Cell(DASH)
    return Cell(str(show_comparison(comparison)), comparison.shown.ratio)


ADOPTED = SectionKind(
    "S11",
    "adopted",
    "Adopted changes",
    "each adopted change alone: its effect and its cost in binary size",
    adopted,
    without="The scenario has no adopted experiment.",
)
EXPERIMENTS = SectionKind(
    "S12",
    "experiments",
    "Tested but not adopted",
    "experiments that were tested, and why they were not adopted",
    build,
    without="The scenario has no experiment that was not adopted.",
    terminal="sentences",
)


def hypotheses(data: ReportData) -> tuple[Block, ...]:
    """Return a table with one row per hypothesis and input, then the same results in sentences."""
    if not data.judgement.hypotheses:
        return ()
    claims = with_claims(data.judgement.hypotheses, data.claims("hypothesis"))
    columns = (
        Column("Hypothesis"),
        Column("Change", prose=True),
        Column("Input"),
        Column("Effect", "decimal"),
        Column(ADJUSTED_CI, drop=2),
        Column("Verdict"),
        Column("Hypothesis is"),
        Column("n", "right", drop=1),
    )
    caption = (
        "The author's hypotheses, each tested by one change; the effect is with the change ÷ "
        f"without it. {caption_tail(data)}"
    )
    legend = (
        "Supported: a verdict in the expected direction. Not supported: any other verdict.",
        "A supported hypothesis shows the effect of the change, not that the explanation is right.",
    )
    rows = tuple(_hypothesis_row(data, test, claim) for test, claim in claims)
    table = Table("hypotheses-table", caption, columns, rows, legend, sortable=False)
    lines = tuple(sentence(claim) for _, claim in claims if claim is not None)
    return (table, Bullets(lines)) if lines else (table,)


def _hypothesis_row(data: ReportData, test: HypothesisTest, claim: Claim | None) -> Row:
    ratio, bounds, verdict = Cell(DASH), Cell(""), Cell(DASH)
    comparison = test.comparison if test.status != "not tested" else None
    if comparison is not None:
        margin = data.plan.judge.margin_of(test.metric)
        ratio, bounds = interval_cells(
            comparison.shown, comparison.verdict, margin, claim.id if claim else None
        )
        verdict = verdict_cell(comparison.verdict, test.metric)
    return Row(
        (
            Cell(test.hypothesis.text),
            Cell(test.hypothesis.change),
            Cell(data.input_name(data.plan.input(test.input_id))),
            ratio,
            bounds,
            verdict,
            Cell(test.status),
            Cell(str(comparison.rounds) if comparison is not None and comparison.rounds else DASH),
        ),
        comparison.verdict if comparison is not None else None,
        reason=test.reason,
    )


HYPOTHESES = SectionKind(
    "S16",
    "hypotheses",
    "Hypotheses tested",
    "each hypothesis with the single change that tests it, and whether it is supported",
    hypotheses,
    without="No experiment of the scenario states a hypothesis.",
)
