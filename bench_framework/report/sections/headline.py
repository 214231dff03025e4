"""Section "Results": every variant against the baseline, per input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import (
    Block,
    Details,
    Fallback,
    Figure,
    Heading,
    KeyFinding,
)
from bench_framework.report.claim_blocks import key_claim, sentence
from bench_framework.report.forest import forest
from bench_framework.report.grid import grid
from bench_framework.report.headline_table import headline_table
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.model.plan import Input
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return heading, forest plot, table and key finding per input."""
    blocks: list[Block] = []
    for number, item in enumerate(data.plan.inputs):
        name = f"results-{number + 1}"
        if len(data.plan.inputs) > 1:
            blocks.append(Heading(f"Input {data.input_name(item)}", name))
        blocks.extend(_input_blocks(data, item, name))
    return tuple(blocks)


def _input_blocks(data: ReportData, item: Input, name: str) -> tuple[Block, ...]:
    if not any(data.summary(cell.id, data.metric) for cell in data.arms(item.id)):
        return (Fallback(f"Nothing was measured{data.on_input(item, ' on ')}."),)
    table = headline_table(data, item, name)
    blocks: list[Block] = []
    figure: Figure | None = forest(data, item, name, table)
    if figure is not None:
        blocks.append(figure)
    blocks.append(table)
    claim = key_claim(data, item)
    if claim is not None:
        blocks.append(KeyFinding(sentence(claim)))
    fields = grid(data, item, table)
    if fields is not None:
        blocks.append(Details(f"Heat map: {fields.title}", (fields,)))
    return tuple(blocks)


def _fallback(data: ReportData) -> str:
    return "" if data.plan.inputs else "The plan contains no input."


HEADLINE = SectionKind(
    "S03",
    "results",
    "Results",
    "per input a forest plot, a table and a key finding",
    build,
    _fallback,
)
