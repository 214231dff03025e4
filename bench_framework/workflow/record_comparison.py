"""Two records against each other, through the cells that did not change between them (R12)."""

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
"""What two records can be compared on: times through anchors, sizes of binaries as they are."""
BRIDGED_METRICS: Final = METRICS[:3]
"""Those that are shown unless others are asked for."""


@dataclass(frozen=True, slots=True)
class BridgedRecords:
    """What follows from two records, and the document that prints it."""

    bridge: Bridge
    document: Document


def compare_records(
    results: Path, earlier: str, later: str, *, metrics: tuple[Metric, ...] = BRIDGED_METRICS
) -> BridgedRecords:
    """Hold a later record against an earlier one. Nothing is written, and the result is exploratory.

    Args:
        results: folder of the records.
        earlier: record A, whose cells are the references; as `finding.resolve` takes it.
        later: record B.
        metrics: of `METRICS`.

    Raises:
        UsageError: BX107, a metric that two records cannot be compared on; BX121, one record given twice.
        RecordError: BX455, one of them holds imported figures.
    """
    from bench_framework.features.record_comparison.compute import bridge
    from bench_framework.features.record_comparison.section import document
    from bench_framework.store import finding, records

    unknown = [metric for metric in metrics if metric not in METRICS]
    if unknown or not metrics:
        raise UsageError(
            f"two records are not compared on {', '.join(unknown) or 'nothing'}",
            code="BX107",
            help=f"metrics: {', '.join(METRICS)}",
        )
    folders = [finding.resolve_measured(results, name) for name in (earlier, later)]
    if folders[0].resolve() == folders[1].resolve():
        raise UsageError(
            f"{earlier} and {later} are one record",
            code="BX121",
            help="give two records; `benchctl compare RECORD` compares within one",
        )
    with (
        records.Record.open(folders[0]) as first,
        records.Record.open(folders[1]) as second,
        corrupt_records.blamed(folders[0]),
        corrupt_records.blamed(folders[1]),
    ):
        made = bridge(_side(first), _side(second), metrics)
        plan = second.plan
        return BridgedRecords(made, document(made, plan.name, plan.question, plan.unit_family))


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
