"""Section "Results": every variant against the baseline, per input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import Block, Details, Fallback
from bench_framework.report.charts.forest import forest
from bench_framework.report.charts.grid import grid
from bench_framework.report.claim_blocks import key_claim
from bench_framework.report.contrasts import finding
from bench_framework.report.headline_table import headline_table
from bench_framework.report.sections.kind import SectionKind, input_heading

if TYPE_CHECKING:
    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return heading, forest plot, table and key finding per input."""
    blocks: list[Block] = []
    for number, item in enumerate(data.plan.inputs, start=1):
        name = f"results-{number}"
        blocks += input_heading(data, item, name)
        if data.summaries(data.arms(item.id), data.metric):
            blocks += _results(data, item, name)
        else:
            blocks.append(Fallback(f"Nothing was measured{data.on_input(item, ' on ')}."))
    return tuple(blocks)


def _results(data: ReportData, item: Input, name: str) -> list[Block]:
    table = headline_table(data, item, name)
    plot, fields = forest(data, item, name, table), grid(data, item, table)
    return [
        *([plot] if plot is not None else []),
        table,
        *finding(key_claim(data, item)),
        *([Details(f"Heat map: {fields.title}", (fields,))] if fields is not None else []),
    ]


def _fallback(data: ReportData) -> str:
    return "" if data.plan.inputs else "The plan contains no input."


HEADLINE = SectionKind(
    "S03",
    "results",
    "Results",
    "per input a forest plot, a table and a key finding",
    build,
    _fallback,
    terminal="all",
)
