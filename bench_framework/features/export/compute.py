"""The table of an exported record: one row per configuration and metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from bench_framework.compare import cell_state
from bench_framework.model.fingerprint import fingerprint
from bench_framework.model.judgement import Comparison, Judgement, Summary
from bench_framework.model.metrics import METRICS
from bench_framework.model.plan import Plan
from bench_framework.model.run import Host
from bench_framework.store.columns import Column, from_field, listed
from bench_framework.store.source import Source, metrics_of

FAMILIES: Final = ("headline", "memory", "exact")
"""Families of comparisons with the baseline."""


@dataclass(frozen=True, slots=True)
class ExportTable:
    """The rows of an export, with the columns that describe them."""

    columns: tuple[Column, ...]
    """Columns whose value is the entry of a row with their name."""
    rows: Sequence[dict[str, Any]]


def export_table(source: Source, host: Host) -> ExportTable:
    """Return the table of a record with its judgement, in plan order. `host` is its machine."""
    assert source.judgement is not None
    columns = (*listed("identity", "cell"), *source.axis_columns, *listed("export"))
    machine = fingerprint(host).digest if source.contents.imported is None else None
    rows = [
        {column.name: _raw(column.get(row | {"machine": machine})) for column in columns}
        for row in _rows(source, source.judgement)
    ]
    flat = tuple(replace(column, value=(column.name,)) for column in columns)
    return ExportTable(flat, rows)


def _raw(value: Any) -> Any:
    return from_field(value) if isinstance(value, str) else value


def _rows(source: Source, judgement: Judgement) -> Iterator[dict[str, Any]]:
    comparisons: dict[tuple[str, str], Comparison] = {}
    for c in judgement.comparisons:
        if c.family in FAMILIES:
            comparisons.setdefault((c.cell_id, c.metric), c)
    summaries: dict[str, list[Summary]] = {key: [] for key in source.cells}
    for summary in judgement.summaries:
        summaries[summary.cell_id].append(summary)
    units = {
        str(metric["name"]): (str(metric.get("unit", "")), str(metric.get("direction", "none")))
        for build in source.contents.builds
        for metric in metrics_of(build)
    }
    units |= {metric.name: (metric.unit, metric.direction) for metric in source.plan.metrics}
    units |= {kind.name: (kind.unit, kind.direction) for kind in METRICS.values()}
    for key, at in source.cells.items():
        for summary in (*summaries[key], *_of_build(source, key)):
            comparison = comparisons.get((key, summary.metric))
            unit, better = units.get(summary.metric, ("", "none"))
            yield {
                "source": source,
                "at": at,
                "summary": summary,
                "unit": unit,
                "better": better,
                "comparison": comparison,
                "reference": comparison and source.cells[comparison.ref_cell_id],
            }


def _of_build(source: Source, cell_id: str) -> Iterator[Summary]:
    """Yield the exact metrics of the binary of a cell."""
    plan: Plan = source.plan
    builds = {build.id: build for build in source.contents.builds}
    build = cell_state.build_of(plan, plan.cell(cell_id).variant_id, builds)
    for kind in METRICS.values():
        value = cell_state.exact_value(build, kind.name)
        if value is not None:
            rest = (value, None, None, value, None, value, value, None)
            yield Summary(cell_id, kind.name, 0, 0, 0, *rest)
