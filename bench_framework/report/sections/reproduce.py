"""Section "Reproduce": commands, inputs and seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.report.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Details,
    Facts,
    Row,
    Table,
    numeric,
)
from bench_framework.report.contrasts import value_cell
from bench_framework.report.numbers import DASH, grouped, show_size
from bench_framework.report.sections.kind import SectionKind

if TYPE_CHECKING:
    from bench_framework.report.context import ReportData


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the commands to run, the inputs, and every timed command."""
    commands = data.commands or (f"benchctl run {data.plan.name}",)
    facts = (
        ("Scenario", f"{data.plan.name}, sha256 {data.plan.scenario_sha256}"),
        ("Record", data.record_id),
        ("Seed of the execution order", str(data.plan.measure.seed)),
    )
    lines = [
        f"# {' '.join(cell.label.splitlines())}\n{data.command(cell)}" for cell in data.plan.cells
    ]
    timed = Details(f"The {len(lines)} timed commands", (Code("\n".join(lines), "sh"),))
    inputs = [_inputs(data)] if data.inputs else []
    return (Code("\n".join(commands), "sh"), Facts(facts), *inputs, timed)


def _inputs(data: ReportData) -> Table:
    rows = []
    for item in data.plan.inputs:
        prepared = data.prepared(item.id)
        if prepared is None:
            continue
        size = prepared.size_bytes
        rows.append(
            Row(
                (
                    Cell(data.input_name(item)),
                    Cell(prepared.family or DASH),
                    Cell(DASH if prepared.seed is None else str(prepared.seed)),
                    value_cell(size, lambda n: f"{grouped(n)}\u202fB"),
                    value_cell(size, lambda n: show_size(n, data.plan.unit_family)),
                    Cell((prepared.sha256 or DASH)[:16], code=prepared.sha256 is not None),
                    Cell(prepared.filesystem or DASH),
                )
            )
        )
    columns = (
        Column("Input"),
        Column("Generator or file"),
        *numeric("Seed", "Bytes", "Size"),
        Column("sha256"),
        Column("Filesystem"),
    )
    return Table("inputs", "Inputs on disk.", columns, tuple(rows), sortable=False)


REPRODUCE = SectionKind(
    "S24",
    "reproduce",
    "Reproduce",
    "commands, inputs, seeds",
    build,
)
