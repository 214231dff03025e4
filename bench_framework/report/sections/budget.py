"""Section "What bounds the work": rates of single stages, and values derived from them."""

import statistics
from typing import Final

from bench_framework.compare.derived_values import limit_shares
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Input, Role
from bench_framework.model.result.judgement import Derived
from bench_framework.report.blocks import Block, Cell, Column, Facts, Row, Table, left
from bench_framework.report.charts.bars import bars
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.context import ReportData
from bench_framework.report.sections.kind import SectionKind
from bench_framework.report.table_cells import CI, value_cell
from bench_framework.text.numbers import (
    DASH,
    percent,
    show_plain,
    show_ratio,
    significant,
    size_unit,
    time_unit,
)

MOST_PHASES: Final = 7
"""Largest number of phases in the table. runs.csv has all."""
_JUDGED: Final = (
    "; a compared pair has the ratio and the CI of the table that compares it, adjusted for all "
    "comparisons there"
)


def build(data: ReportData) -> tuple[Block, ...]:
    """Return one table per input with measured rates and derived values, then sentences."""
    blocks: list[Block] = []
    for item in data.plan.inputs:
        rows = [row for row in data.judgement.derived if row.input_id == item.id]
        if not any(row.value is not None for row in rows):
            continue
        measured = [row for row in rows if not row.assuming]
        table = _table(data, item, measured)
        parts = (bars(data, item, measured, table), table, _phases(data, item))
        blocks += [part for part in parts if part is not None]
        projected = {row.name.replace("_", " ") for row in rows if row.assuming}  # only sentences
        claims = data.claims("derived", item=item)
        blocks += claim_bullets(c for c in claims if c.subject in projected)
    return tuple(blocks)


def _table(data: ReportData, item: Input, rows: list[Derived]) -> Table:
    rates = [row.value for row in rows if row.unit == "bytes/s" and row.value is not None]
    # One unit per table: of the smallest rate, so that none is printed as 0.
    unit, scale = size_unit(min(rates), data.plan.unit_family) if rates else ("", 1.0)
    columns = (
        Column("Name"),
        Column("Value", "decimal"),
        *left(CI, "Unit"),
        Column("From", prose=True),
        Column("Method", drop=2, prose=True),
        Column("n", "right", drop=1),
    )
    caption = (
        f"What bounds the work{data.on_input(item, ', input ')}: each value is the median over rounds with an "
        "unadjusted 95 % CI"
        f"{_JUDGED if any(row.judged for row in rows) else ''}. "
        "Rates are bytes handled by whole runs, from start to end of the process."
    )
    table_rows = tuple(_row(data, item, row, (f"{unit}/s", scale)) for row in rows)
    anchor = f"budget-{data.plan.inputs.index(item)}"
    missing = [row.name.replace("_", " ") for row in rows if row.value is None]
    legend = (f"No round has all measurements for: {', '.join(missing)}.",) if missing else ()
    return Table(anchor, caption, columns, table_rows, legend, sortable=False)


def _row(data: ReportData, item: Input, row: Derived, rate: tuple[str, float]) -> Row:
    cell = data.plan.cell(row.cell_ids[0]) if row.measured and row.cell_ids else None
    source, role = row.formula, "compared pair" if row.judged else "derived"
    if cell is not None:
        source, role = data.label(cell.id), cell.role.value
        role = "" if cell.role is Role.CANDIDATE else role
    name = row.name.replace("_", " ")
    claim = next((c.id for c in data.claims("derived", item=item) if c.subject == name), None)
    unit, scale = rate if row.unit == "bytes/s" else ("", 1.0)
    if row.unit == "s" and row.value is not None:
        unit, scale = time_unit(row.value)
    return Row.build(
        name,
        *_figure(row, scale, claim, data.plan.judge.margin_of(WALL)),
        unit,
        Cell(source, code=cell is None),
        role,
        str(row.rounds) if row.rounds else DASH,
        baseline=cell is not None and cell.role is Role.BASELINE,
    )


def _figure(row: Derived, scale: float, claim: str | None, margin: float) -> tuple[Cell, Cell]:
    if row.value is None:
        return Cell(DASH), Cell("")
    if row.lo is None or row.hi is None:
        return Cell(significant(row.value * scale, 3), row.value, claim), Cell("")
    text = show_plain(row.value * scale, row.lo * scale, row.hi * scale)
    if row.judged and not row.lo <= 1 <= row.hi:
        text = show_ratio(row.value, row.lo, row.hi, margin)
    return Cell(text.estimate, row.value, claim), Cell(text.bounds, row.lo, claim)


def _phases(data: ReportData, item: Input) -> Table | None:
    """Return the times of the phases that workers report, or `None` if they report none."""
    cells = {cell.id: cell for cell in data.arms(item.id)}
    spent: dict[str, dict[str, list[float]]] = {}
    for block in (b for b in data.measured_blocks if b.cell_id in cells):
        for receipt in block.receipts:
            for phase, seconds in receipt.phases_s.items():
                spent.setdefault(block.cell_id, {}).setdefault(phase, []).append(seconds)
    if not spent:
        return None
    medians = {
        cell: {phase: statistics.median(values) for phase, values in phases.items()}
        for cell, phases in spent.items()
    }
    largest: dict[str, float] = {}
    for phase, value in (pair for phases in medians.values() for pair in phases.items()):
        largest[phase] = max(value, largest.get(phase, 0.0))
    ordered = sorted((p for p in largest if largest[p] > 0), key=lambda p: -largest[p])
    longest, others = ordered[:MOST_PHASES], ordered[MOST_PHASES:]
    unit, scale = time_unit(max(largest.values(), default=1.0))
    rows = tuple(
        Row.build(
            data.label(cell_id),
            *(
                value_cell(medians[cell_id].get(phase), lambda value: significant(value * scale, 3))
                for phase in longest
            ),
            str(max(map(len, spent[cell_id].values()))),
            baseline=cells[cell_id].role is Role.BASELINE,
        )
        for cell_id in cells
        if cell_id in medians
    )
    columns = (
        Column("Variant"),
        *(Column(f"{p}, {unit}", "right", drop=max(1, 8 - n)) for n, p in enumerate(longest)),
        Column("n", "right", drop=9),
    )
    caption = (
        f"Time by phase{data.on_input(item, ', input ')}: median over runs, as measured by the "
        "worker. Phases of several threads add up; overlapping phases are each counted in full."
    )
    name = f"phases-{data.plan.inputs.index(item)}"
    legend = (f"Shorter phases, in runs.csv: {', '.join(others)}.",) if others else ()
    return Table(name, caption, columns, rows, legend, sortable=False)


BUDGET = SectionKind(
    "S09",
    "budget",
    "What bounds the work",
    "rates of named configurations, and values derived from them",
    build,
    "the scenario derives no value",
)


def limit(data: ReportData) -> tuple[Block, ...]:
    """Return each expected limit, the share that is achieved, and what is lost, per input."""
    blocks: list[Block] = []
    for item in data.plan.inputs:
        where = data.on_input(item, ", input ")
        for number, shares in enumerate(limit_shares(data.judgement.derived, item.id)):
            best = shares[0]
            names = [s.name.replace("_", " ") for s in shares]
            lost = [
                f"{percent(1 - s.share.value)} by {name}"
                for s, name in zip(shares, names, strict=True)
                if s.share.value and s.share.value < 1
            ]
            limited = best.limit.name.replace("_", " ").removeprefix("limit ")
            achieved = f"{_interval(best.share, 100)}\u202f% of the limit"
            pairs = (
                (
                    f"Expected limit{where}{f' ({limited})' if number else ''}",
                    f"{_rate(data, best.limit)} ({best.limit.formula})",
                ),
                ("Achieved", f"{names[0]}: {_rate(data, best.rate)}, {achieved}"),
                ("Lost", ", ".join(lost) or "nothing"),
            )
            blocks.append(Facts(pairs))
    return tuple(blocks)


def _rate(data: ReportData, row: Derived) -> str:
    unit, scale = size_unit(row.value or 1.0, data.plan.unit_family)
    return f"{_interval(row, scale)} {unit}/s"


def _interval(row: Derived, scale: float) -> str:
    value, lo, hi = row.value or 0.0, row.lo, row.hi
    if lo is None or hi is None:
        return significant(value * scale, 3)
    return str(show_plain(value * scale, lo * scale, hi * scale))


LIMIT = SectionKind(
    "S31",
    "limit",
    "Limit",
    "the limit that the scenario derives, the share that is achieved, and what is lost",
    limit,
)
