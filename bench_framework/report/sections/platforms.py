"""S17: where it was measured, and where the author wants to know it and nobody did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench_framework.report.blocks import Block, Bullets, Cell, Column, Row, Sentence, Table
from bench_framework.report.sections.kind import SectionKind, left_out
from bench_framework.report.sections.summary import leading_input
from bench_framework.report.sentences import key_claim, sentence

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


HERE: Final = "Linux"
"""The platform that benchctl measures on; it refuses every other one."""


def build(data: ReportData) -> tuple[Block, ...]:
    """This machine with its answer; then the platforms that are only named."""
    if not data.plan.platforms:
        return ()
    others = [name for name in data.plan.platforms if name != HERE]
    item = leading_input(data)
    claim = key_claim(data, item) if item is not None else None
    columns = (
        Column("Platform"), Column("Measured here"), Column("Effective mode"), Column("Result"),
    )  # fmt: skip
    platform = f"{data.host.os}, Linux {data.host.kernel}, {data.host.cpu}"
    row = Row((Cell(platform), Cell("yes"), Cell(_effective(data)), Cell(data.judgement.status)))
    caption = "Platforms: a result holds for the one that it was measured on."
    lines = [sentence(claim)] if claim is not None else []
    lines += [Sentence(f"Not measured: {', '.join(others)}.")] if others else []
    table = Table("platforms-table", caption, columns, (row,), sortable=False)
    return (table, Bullets(tuple(lines))) if lines else (table,)


def _effective(data: ReportData) -> str:
    """Modes that workers report to have run in place of what was asked for."""
    asked = {cell.id: dict((*data.variant_of(cell).values,)) for cell in data.plan.cells}
    fallen = {
        f"{axis}: {asked[s.cell_id][axis]} → {value}"
        for s in data.judgement.states
        for axis, value in s.effective.items()
        if axis in asked.get(s.cell_id, {}) and asked[s.cell_id][axis] != value
    }
    if fallen:
        return "; ".join(sorted(fallen))
    told = any(state.effective for state in data.judgement.states)
    return "as asked for" if told else "not reported by the program"


PLATFORMS = SectionKind(
    "S17",
    "platforms",
    "Platforms",
    "`platforms` in the scenario",
    build,
    left_out,
    "The scenario names no platforms; this one machine is described at the end of the page.",
)
