"""Section "Memory": peak RSS against the baseline and against the input."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

from bench_framework.model.judgement import ONE_PROGRAM
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan import Cell as PlanCell
from bench_framework.model.plan import Input, Role
from bench_framework.model.words import verdict_text
from bench_framework.report.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Heading,
    KeyFinding,
    Point,
    Row,
    Table,
)
from bench_framework.report.claim_blocks import key_claim, sentence
from bench_framework.report.counts import ADJUSTED_CI, counts_of, memory_family
from bench_framework.report.numbers import (
    DASH,
    column_decimals,
    column_size,
    margin_text,
    measured_decimals,
    show_comparison,
    show_measured,
    show_size,
    significant,
)
from bench_framework.report.sections.kind import SectionKind
from bench_framework.units import THIN_SPACE, format_duration, size_unit

if TYPE_CHECKING:
    from bench_framework.model.judgement import Claim
    from bench_framework.report.context import ReportData

MAPPED = "mmap"
MAPPED_NOTE = "includes mapped file pages"


def build(data: ReportData) -> tuple[Block, ...]:
    """Return plot, table and key finding per input."""
    blocks: list[Block] = []
    parts = _Parts(data)
    for number, item in enumerate(data.plan.inputs):
        cells = [
            c
            for c in data.arms(item.id)
            if data.summary(c.id, PEAK_RSS) and data.state(c.id).state == "measured"
        ]
        if not cells:
            continue
        name = f"memory-{number + 1}"
        if len(data.plan.inputs) > 1:
            blocks.append(Heading(f"Input {data.input_name(item)}", name))
        figure = _figure(data, item, cells, name)
        if figure is not None:
            blocks.append(figure)
        blocks.append(_table(data, item, cells, parts, name))
        finding = _finding(data, item)
        if finding is not None:
            blocks.append(KeyFinding(sentence(finding)))
    return tuple(blocks)


def _finding(data: ReportData, item: Input) -> Claim | None:
    """Return the memory claim of the leading variant, else the first conclusive one."""
    main = key_claim(data, item)
    leading = data.claim_of(main.cells[0], PEAK_RSS) if main is not None and main.cells else None
    settled = [
        c
        for c in data.claims("memory", item=item)
        if c.verdict is not None and c.verdict.settled and c.values.get("reason") != ONE_PROGRAM
    ]
    if leading is not None and leading.verdict is not None and leading.verdict.settled:
        return leading
    return settled[0] if settled else None


class _Parts:
    """Medians of the anonymous bytes that the workers reported, per configuration."""

    def __init__(self, data: ReportData) -> None:
        anonymous: defaultdict[str, list[int]] = defaultdict(list)
        for block in data.measured_blocks:
            for receipt in block.receipts:
                if "anon_bytes" in receipt.counts:
                    anonymous[block.cell_id].append(receipt.counts["anon_bytes"])
        self.anonymous = {cell: statistics.median(values) for cell, values in anonymous.items()}


def _table(data: ReportData, item: Input, cells: list[PlanCell], parts: _Parts, name: str) -> Table:
    baseline = data.plan.baseline_cell(item.id)
    reference = data.summary(baseline.id, PEAK_RSS) if baseline else None
    medians = {c.id: s.median for c in cells if (s := data.summary(c.id, PEAK_RSS)) is not None}
    preferred = reference.median if reference else max(medians.values())
    unit = size_unit(
        column_size(preferred, medians.values(), data.plan.unit_family), data.plan.unit_family
    )
    ordered = sorted(cells, key=lambda c: medians[c.id])
    summaries = (data.summary(c.id, PEAK_RSS) for c in cells)
    most = column_decimals(measured_decimals(s.median, s.lo, s.hi, unit[1]) for s in summaries if s)
    rows = tuple(_row(data, item, cell, parts, (unit[1], most)) for cell in ordered)
    columns = (
        Column("Variant"),
        Column(f"Peak RSS, {unit[0]}", "decimal"),
        Column("vs baseline", "decimal"),
        Column(ADJUSTED_CI, drop=4),
        Column("Verdict"),
        Column("% of input", "right", drop=2),
        Column(f"Anonymous, {unit[0]}", "decimal", drop=3),
        Column("n", "right", drop=1),
        Column("Notes", drop=5, prose=True),
    )
    size = data.input_bytes(item.id)
    of_input = f" of {show_size(size, data.plan.unit_family)}" if size else ""
    margin = margin_text(data.plan.judge.margin_of(PEAK_RSS))
    caption = (
        f"Peak resident memory by variant{data.on_input(item, ', input ')}{of_input}: median over runs; margin "
        f"{margin}; {memory_family(data)}; {counts_of(data, item).text()}."
    )
    legend = (
        "Anonymous: RssAnon at the end of a run, as reported by the worker; — if not reported.",
    )
    return Table(name + "-table", caption, columns, rows, legend if parts.anonymous else ())


def _row(
    data: ReportData, item: Input, cell: PlanCell, parts: _Parts, form: tuple[float, int]
) -> Row:
    scale, most = form
    summary = data.summary(cell.id, PEAK_RSS)
    variant = data.variant_of(cell)
    baseline = cell.role is Role.BASELINE
    comparison = None if baseline else data.comparison(cell.id, PEAK_RSS)
    verdict = comparison.verdict if comparison else None
    claim = data.claim_id(cell.id, PEAK_RSS)
    interval = comparison.shown if comparison else None
    text = show_comparison(comparison) if comparison else None
    peak = summary.median if summary else 0.0
    size = data.input_bytes(item.id)
    anonymous = parts.anonymous.get(cell.id)
    note = MAPPED_NOTE if _is_mapped(data, cell) else ""
    reason = comparison.reason if comparison else ""
    cells = (
        Cell(variant.label),
        Cell(show_measured(peak, summary.lo, summary.hi, scale, most), peak)
        if summary
        else Cell(DASH),
        Cell("baseline", 1.0)
        if baseline
        else Cell(text.estimate, interval.ratio, claim)
        if text and interval
        else Cell(DASH),
        Cell(text.bounds, interval.lo, claim) if text and interval else Cell(""),
        Cell(verdict_text(verdict, PEAK_RSS), verdict.value, None, verdict)
        if verdict
        else Cell(""),
        Cell(f"{significant(100 * peak / size, 2)}{THIN_SPACE}%", peak / size)
        if size
        else Cell(DASH),
        Cell(significant(anonymous * scale, 3), anonymous) if anonymous is not None else Cell(DASH),
        Cell(_replication(data, cell)),
        Cell("; ".join(part for part in (note, reason) if part)),
    )
    return Row(cells, verdict, strong=False, baseline=baseline, reason=reason)


def _is_mapped(data: ReportData, cell: PlanCell) -> bool:
    """Return whether the input was memory-mapped, in the requested or the actual mode.

    RssFile at the end of a run does not show it, because the mapping is gone by then.
    """
    requested = [value for _, value in data.variant_of(cell).values]
    return any(
        MAPPED in value.split("-")
        for value in (*requested, *data.state(cell.id).effective.values())
    )


def _replication(data: ReportData, cell: PlanCell) -> str:
    summary = data.summary(cell.id, PEAK_RSS)
    if summary is None or not summary.n_rounds:
        return DASH
    return f"{summary.n_rounds}×{max(1, round(summary.n_runs / summary.n_rounds))}"


def _figure(data: ReportData, item: Input, cells: list[PlanCell], name: str) -> Figure | None:
    points = []
    for cell in cells:
        if cell.role.separate:  # it does different work
            continue
        time, peak = data.summary(cell.id, WALL), data.summary(cell.id, PEAK_RSS)
        if time is None or peak is None or peak.median <= 0:
            continue
        points.append(
            Point(
                data.label(cell.id),
                time.median,
                peak.median,
                time.lo,
                time.hi,
                peak.lo,
                peak.hi,
                text=f"{format_duration(time.median)}, {show_size(peak.median, data.plan.unit_family)}",
                baseline=cell.role is Role.BASELINE,
            )
        )
    if len(points) < 2:  # noqa: PLR2004 -- one point shows no trade
        return None
    rows = tuple(
        Row(
            (
                Cell(p.label),
                Cell(format_duration(p.x), p.x),
                Cell(show_size(p.y, data.plan.unit_family), p.y),
            ),
            baseline=p.baseline,
        )
        for p in points
    )
    table = Table(
        name + "-plot-data",
        "Data of the plot",
        (Column("Variant"), Column("Time", "right"), Column("Peak RSS", "right")),
        rows,
        sortable=False,
    )
    desc = (
        f"Peak memory against time{data.on_input(item, ' on ')}: medians with 95 % CIs, logarithmic "
        "axes. Step line: Pareto front of time and memory."
    )
    return Figure(
        name + "-plot",
        "memory-time",
        f"Pareto front of time and memory{data.on_input(item, ', input ')}",
        desc,
        tuple(points),
        table,
        (("x", "time"), ("y", "peak RSS"), ("family", data.plan.unit_family)),
    )


MEMORY = SectionKind(
    "S06",
    "memory",
    "Memory",
    "peak RSS against baseline and input; Pareto front of time and memory",
    build,
    "Memory was not measured.",
)
