"""Comparison of two records through the cells that did not change (``docs/method.md#two-records``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.errors import UsageError
from bench_framework.model.metrics import CPU, WALL
from bench_framework.workflow import corrupt_records

if TYPE_CHECKING:
    from pathlib import Path

    from bench_framework.features.record_comparison.anchors import Side
    from bench_framework.model.bridge import Bridge
    from bench_framework.model.policies import Metric
    from bench_framework.report import Document
    from bench_framework.store.records import Record

METRICS: Final = (WALL, CPU, "binary_size", "stripped_size")
"""Metrics of a comparison of two records: times relative to unchanged cells, and binary sizes."""
BRIDGED_METRICS: Final = METRICS[:3]
"""Metrics that are compared by default."""


@dataclass(frozen=True, slots=True)
class BridgedRecords:
    """The comparison of two records, and the document that shows it."""

    bridge: Bridge
    document: Document


def compare_records(
    results: Path, earlier: str, later: str, *, metrics: tuple[Metric, ...] = BRIDGED_METRICS
) -> BridgedRecords:
    """Compare a later record with an earlier one. Nothing is written, and the result is exploratory.

    Args:
        results: folder of the records.
        earlier: name of the record whose cells are the references, see `finding.resolve`.
        later: name of the other record.
        metrics: names from `METRICS`.

    Raises:
        UsageError: BX107, a metric that is not in `METRICS`; BX121, the same record twice.
        RecordError: BX455, one of them was imported.
    """
    from bench_framework.features.record_comparison.compute import bridge
    from bench_framework.features.record_comparison.section import document
    from bench_framework.store import finding, records

    unknown = [metric for metric in metrics if metric not in METRICS]
    if unknown or not metrics:
        raise UsageError(
            f"two records cannot be compared by {', '.join(unknown) or 'no metric'}",
            code="BX107",
            help=f"use one or more of {', '.join(METRICS)}",
        )
    folders = [finding.resolve_measured(results, name) for name in (earlier, later)]
    if folders[0].resolve() == folders[1].resolve():
        raise UsageError(
            f"{earlier} and {later} are the same record",
            code="BX121",
            help="give two records, or use `benchctl compare RECORD` for one record",
        )
    with (
        records.Record.open(folders[0]) as first,
        records.Record.open(folders[1]) as second,
        corrupt_records.corruption_reported(folders[0]),
        corrupt_records.corruption_reported(folders[1]),
    ):
        comparison = bridge(_side(first), _side(second), metrics)
        plan = second.plan
        page = document(comparison, plan.name, plan.question, plan.unit_family)
        return BridgedRecords(comparison, page)


def _side(record: Record) -> Side:
    from bench_framework.features.record_comparison.anchors import side
    from bench_framework.workflow.pages import record_host

    contents = record.contents
    return side(
        record.id,
        record.plan,
        contents.blocks,
        contents.builds,
        contents.inputs,
        record_host(record),
        started=contents.header.started_at,
    )
