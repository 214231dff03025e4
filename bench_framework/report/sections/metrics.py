"""Section "Other metrics": user and system time, faults, context switches, storage, declared metrics."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bench_framework.model.metrics import (
    COUNTED,
    CPU,
    INSTRUCTIONS,
    METRICS,
    PEAK_RSS,
    SYSTEM_COUNTERS,
    WALL,
)
from bench_framework.model.plan.plan import Cell as PlanCell, Input, Role
from bench_framework.report.blocks import Block, Cell, Column, Row, Table
from bench_framework.report.claim_blocks import claim_bullets
from bench_framework.report.context import ReportData
from bench_framework.report.main_table import mark
from bench_framework.report.sections.kind import SectionKind, per_input
from bench_framework.report.table_cells import titled
from bench_framework.text.names import capital
from bench_framework.text.numbers import (
    DASH,
    column_size,
    format_percent,
    metric_unit,
    shortest,
    significant,
)
from bench_framework.units import THIN_SPACE

REPORTED: Final = frozenset({None, WALL, CPU, PEAK_RSS})
"""Metrics whose comparisons are in other sections."""
OUTSIDE: Final = (
    "Page faults, context switches and storage I/O of programs that do not report them were "
    "counted outside timing, in one run of each variant. No verdict depends on them."
)
HOW_COUNTED: Final = (
    "Instructions: user code only, counted outside timing ({tool}). They do not include I/O, locks "
    "and waiting."
)
MOST_COLUMNS: Final = 11
"""Most columns of a table on A4, in addition to variant and rounds."""
MOST_DECLARED: Final = 9
"""Most columns of a table of declared metrics."""


_UNIT_SUFFIX: Final = re.compile(r"_(s|ms|us|ns|bytes|pct)$")
_PERCENTILE: Final = re.compile(r"(?<=_)p(\d+)(?=_|$)")
_DIRECTIONS: Final = {
    "higher": "larger is better",
    "lower": "smaller is better",
    "none": "not judged",
}
_SOURCES: Final = {
    "stdout": "stdout",
    "answer": "the answer file",
    "worker": "the worker",
    "harness": "the harness of the benchmark",
}


@dataclass(frozen=True, slots=True)
class _MetricColumn:
    """A column of the table: a metric, its title with the unit, and the factor into the unit."""

    metric: str
    title: str
    scale: float
    drop: int


def build(data: ReportData) -> tuple[Block, ...]:
    """Return the tables per input, then sentences about deterministic and declared metrics."""

    def parts(item: Input, name: str) -> Iterator[Block]:
        if cells := data.measured(item.id):
            yield from _tables(data, item, cells, name)
            claims = data.claims("comparison", item=item)
            yield from claim_bullets(c for c in claims if c.metric not in REPORTED)

    return per_input(data, "metrics", parts)


def _tables(data: ReportData, item: Input, cells: Sequence[PlanCell], name: str) -> list[Table]:
    """Return one table, or several where one would be too wide for paper."""
    columns = _columns(data, cells)
    where = data.on_input(item, ", input ")
    caption = f"Other metrics by variant{where}: median over n rounds."
    declared = [c for c in columns if c.metric not in METRICS]
    shared = [c for c in columns if c.metric in METRICS]
    if len(columns) <= MOST_COLUMNS:
        declared, shared = [], columns
    tables = [_table(data, cells, shared, f"{name}-table", caption)] if shared else []
    parts = -(-len(declared) // MOST_DECLARED)
    each = -(-len(declared) // max(1, parts))
    for part in range(parts):
        count = f", {part + 1} of {parts}" if parts > 1 else ""
        caption = f"Metrics of worker and scenario by variant{where}{count}: median over n rounds."
        columns = declared[part * each : (part + 1) * each]
        tables.append(_table(data, cells, columns, f"{name}-own-{part + 1}", caption))
    if tables:
        legend, note = _legend(data, cells), _note(data, cells)
        tables[-1] = replace(tables[-1], legend=legend, note=note)
    return tables


def _table(
    data: ReportData,
    cells: Sequence[PlanCell],
    columns: Sequence[_MetricColumn],
    name: str,
    caption: str,
) -> Table:
    measured = [Column(c.title, "right", drop=c.drop) for c in columns]
    heads = (Column("Variant"), *measured, Column("n", "right", drop=1))
    rows = tuple(
        Row.build(
            data.label(cell.id),
            *(_measured(data, cell, column) for column in columns),
            str(wall.n_rounds) if (wall := data.summary(cell.id, WALL)) else DASH,
            baseline=cell.role is Role.BASELINE,
        )
        for cell in cells
    )
    return Table(name, caption, heads, rows)


def _columns(data: ReportData, cells: Sequence[PlanCell]) -> list[_MetricColumn]:
    columns = []
    alike = _alike(data, cells)
    for metric in ("user", "sys", *_declared(data, cells), *COUNTED, *SYSTEM_COUNTERS):
        sizes = [s.median for s in data.summaries(cells, metric)]
        if not sizes or metric in alike or (metric in SYSTEM_COUNTERS and not any(sizes)):
            continue
        judged = metric == INSTRUCTIONS or data.comparison(cells[-1].id, metric) is not None
        if metric in COUNTED and not judged and len(set(sizes)) == 1:
            continue
        size = max(sizes)
        if data.unit_of(metric) == "bytes":
            size = column_size(size, sizes, data.plan.unit_family)
        unit, scale = _unit(data, metric, size)
        drop = 6 if metric in SYSTEM_COUNTERS else 5 if metric in {"user", "sys"} else 2
        drop = 4 if metric in COUNTED and metric != INSTRUCTIONS else drop
        title = _title(metric, unit=unit)
        heading = title if title.endswith(" per second") else titled(title, unit)
        columns.append(_MetricColumn(metric, heading, scale, drop))
    return columns


def _title(metric: str, *, unit: str) -> str:
    """Return the title of a column. The suffix of a name that repeats the unit is removed."""
    if metric in METRICS:
        return METRICS[metric].heading
    title = (_UNIT_SUFFIX.sub("", metric) if unit else metric).replace("_", " ")
    return capital(title)


def _declared(data: ReportData, cells: Sequence[PlanCell]) -> list[str]:
    """Return the metrics that the scenario declares, then those that a worker reports."""
    declared = [metric.name for metric in data.plan.metrics]
    reported = dict.fromkeys(
        s.metric
        for s in data.judgement.summaries
        if s.metric not in METRICS and s.metric not in declared
    )
    return [*declared, *_by_percentile([m for m in reported if data.summaries(cells, m)])]


def _by_percentile(metrics: list[str]) -> list[str]:
    """Return metrics with percentiles such as ``p50``, ``p99`` and ``p999`` in their order."""
    first = {
        name: n for n, m in reversed([*enumerate(metrics)]) for name in (_PERCENTILE.sub("", m),)
    }

    def key(metric: str) -> tuple[int, float]:
        share = _PERCENTILE.search(metric)
        return first[_PERCENTILE.sub("", metric)], float(f"0.{share[1]}") if share else 1.0

    return sorted(metrics, key=key)


def _alike(data: ReportData, cells: Sequence[PlanCell]) -> dict[str, float]:
    """Return metrics of workers that are equal in every run of every variant, with their value.

    They share one line, because a column of equal values hides those that differ. Metrics that the
    scenario declares keep their columns.
    """
    declared = {metric.name for metric in data.plan.metrics}
    equal: dict[str, float] = {}
    for metric in _declared(data, cells):
        summaries = data.summaries(cells, metric)
        values = {value for s in summaries for value in (s.min, s.max)}
        everywhere = len(summaries) == len(cells) > 1
        if metric not in declared and everywhere and len(values) == 1:
            equal[metric] = values.pop()
    return equal


def _unit(data: ReportData, metric: str, size: float) -> tuple[str, float]:
    return metric_unit(metric, size, data.plan.unit_family, data.unit_of(metric))


def _measured(data: ReportData, cell: PlanCell, column: _MetricColumn) -> Cell:
    """Return the median, and for a compared metric also the mark of its comparison."""
    summary = data.summary(cell.id, column.metric)
    if summary is None:
        return Cell(DASH)
    digits = 4 if column.metric in COUNTED else 3
    scaled = summary.median * column.scale
    if all(v == int(v) for v in (summary.median, summary.min, summary.max)) and column.scale == 1:
        text = str(int(summary.median))
    else:
        text = significant(scaled, digits) if scaled >= 0 else shortest(scaled, 3)
    comparison = data.comparison(cell.id, column.metric)
    if comparison is None or comparison.shown is None or column.metric in {"user", "sys"}:
        return Cell(text, summary.median)
    claim = data.claim_id(cell.id, column.metric)
    return Cell(f"{text} {mark(comparison)}", summary.median, claim, comparison.verdict)


def _legend(data: ReportData, cells: Sequence[PlanCell]) -> tuple[str, ...]:
    lines, zero = [], []
    for kind in (METRICS[m] for m in SYSTEM_COUNTERS if data.summaries(cells, m)):
        if any(s.median for s in data.summaries(cells, kind.name)):
            lines.append(f"{kind.heading}: {kind.about}.")
        else:
            zero.append(kind.noun)
    lines += [f"Zero in every variant: {', '.join(zero)}."] if zero else []
    counted = (METRICS[m] for m in COUNTED if m != INSTRUCTIONS and data.summaries(cells, m))
    lines += [f"{kind.heading}: {kind.about}." for kind in counted]
    equal = _alike(data, cells)
    alike = [_alike_words(data, metric, value) for metric, value in equal.items()]
    lines += [f"The same in every run of every variant: {', '.join(alike)}."] if alike else []
    known = {*equal, *(metric.name for metric in data.plan.metrics)}
    announced = [
        f"{_title(m, unit=data.unit_of(m))}: {about}"
        for m in _declared(data, cells)
        if m not in known and (about := data.announced(m).get("about"))
    ]
    lines += [f"Reported by the worker. {'; '.join(announced)}."] if announced else []
    for metric in data.plan.metrics:
        about = f"{metric.about}; " if metric.about else ""
        source = f"from {_SOURCES[metric.source]}; {_DIRECTIONS[metric.direction]}"
        lines.append(f"{capital(metric.name.replace('_', ' '))}: {about}{source}.")
    return tuple(lines)


def _alike_words(data: ReportData, metric: str, value: float) -> str:
    """Return a text such as ``"files 256"``."""
    unit, scale = _unit(data, metric, value)
    scaled = value * scale
    figure = str(int(scaled)) if scaled == int(scaled) else significant(scaled, 3)
    return f"{metric.replace('_', ' ')} {figure}{THIN_SPACE + unit if unit else ''}"


def _note(data: ReportData, cells: Sequence[PlanCell]) -> str:
    """Return notes about how the metrics were counted."""
    notes = []
    if any(not s.n_rounds for m in SYSTEM_COUNTERS for s in data.summaries(cells, m)):
        notes.append(OUTSIDE)
    counted = data.summaries(cells, INSTRUCTIONS)
    if counted and data.plan.instructions is not None:
        spread = max(s.max / s.min - 1 for s in counted)
        agreement = f"within {format_percent(spread, digits=2)} of each other"
        agreement = agreement if spread else "the same count every time"
        runs = max(s.n_runs for s in counted)
        times = f"{runs} repetitions, {agreement}" if runs > 1 else "once"
        notes.append(HOW_COUNTED.format(tool=f"{data.plan.instructions.tool}, {times}"))
    return " ".join(notes)


OTHER_METRICS = SectionKind(
    "S28",
    "metrics",
    "Other metrics",
    "user and system time, faults, context switches, storage, instructions, metrics of scenario and worker",
    build,
)
