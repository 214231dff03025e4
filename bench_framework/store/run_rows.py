"""Rows and columns of ``runs.csv``."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from bench_framework.model import contention
from bench_framework.model.metrics import MEMORY_PARTS, METRICS, PEAK_RSS, RECEIPT_KEYS
from bench_framework.model.run import Block, Receipt
from bench_framework.store.columns import Column, listed, metric_column
from bench_framework.store.source import (
    Configuration,
    Source,
    announced_columns,
    declared_columns,
    metrics_of,
    phase_columns,
)

T = TypeVar("T")
USER_HZ: Final = 100
"""Ticks per second of /proc/stat, which are 100 on every supported platform."""


def _run(at: Configuration, block: Block, seq: int, index: int = 0) -> dict[str, Any]:
    """Return the row of run `seq` of the record, which is run `index` of its block, both from 0."""
    receipt = _item(block.receipts, index)
    count = max(1, len(block.wall_s))  # a block that was interrupted has one row
    counts = dict(receipt.counts) if receipt else {}
    reason = _incomparable_reason(at, block)
    required = block.answer and at.source.plan.answer.differs == "refuse"
    return {
        "source": at.source,
        "at": at,
        "block": block,
        "seq": seq,
        "observation": None,
        "kind": "timed",
        "run": 0 if block.warmup else index + 1,
        "position": block.position,
        "block_runs": count,
        "wall_s": _item(block.wall_s, index),
        "exit_code": _item(block.exit_codes, index),
        "receipt": receipt,
        "reported": receipt is not None,
        "counts": counts,
        "peak_rss": counts.get(PEAK_RSS, block.peak_rss_bytes),
        "worker": _worker_values(at, receipt) if receipt else {},
        # The program printed these metrics in the last run of the block.
        "printed": dict(block.metrics) if index == count - 1 else {},
        "further": _further(at, block.metrics if index == 0 else {}, receipt),
        "cache_state": block.page_cache.state if block.page_cache else "unknown",
        "comparable": reason is None,
        "incomparable_reason": reason,
        "output_ok": block.status != "other-output" if required else None,
        "contended": ";".join(contention.flags(block)),
        "steal_pct": _steal_pct(at.source, block),
    }


def _worker_values(at: Configuration, receipt: Receipt) -> dict[str, float]:
    """Return phases and announced metrics of the worker, by column."""
    values = {f"w_{name}_s": value for name, value in receipt.phases_s.items()}
    for column in at.announced:
        if (name := column.field[-1]) in receipt.metrics:
            values[column.name] = receipt.metrics[name]
    return values


def _further(
    at: Configuration, printed: Mapping[str, float], receipt: Receipt | None
) -> dict[str, float]:
    """Return the metrics that were neither declared nor announced."""
    known = {metric.name for metric in at.source.plan.metrics}
    known |= {str(metric["name"]) for metric in metrics_of(at.binary["build"])}
    reported = receipt.metrics if receipt else {}
    return {name: v for name, v in {**reported, **printed}.items() if name not in known}


def _incomparable_reason(at: Configuration, block: Block) -> str | None:
    """Return the reason why a run may not be used in a comparison, or `None`."""
    if block.status != "ok":
        return block.message or block.status
    if at.state is not None and at.state.state not in {"measured", "not-started"}:
        return at.state.reason or at.state.state
    return "warm-up" if block.warmup else None


def _steal_pct(source: Source, block: Block) -> float | None:
    """Return the CPU time that the hypervisor took, in percent of all cores."""
    host, ticks = source.contents.host, block.sensors.steal_ticks
    if host is None or ticks is None:
        return None
    all_ticks = math.fsum(block.wall_s) * host.cores * USER_HZ
    return 100 * ticks / all_ticks if all_ticks > 0 else None


def _item(values: Sequence[T], index: int) -> T | None:
    return values[index] if index < len(values) else None


def run_rows(source: Source) -> Iterator[dict[str, Any]]:
    """Yield one row per run in the order of execution, then one per run outside timing."""
    order = itertools.count()
    for block in source.contents.blocks:
        for index in range(max(1, len(block.wall_s))):
            yield _run(source.cells[block.cell_id], block, next(order), index)
    for place, o in enumerate(source.contents.observations, len(source.contents.blocks)):
        # The block of a run outside timing has only its start, status and message.
        block = Block(
            seq=place,
            round=0,
            position=0,
            cell_id=o.cell_id,
            warmup=False,
            status=o.status,
            started_at=o.started_at,
            timed_out=o.status == "timeout",
            message=o.message,
        )
        counts = {name: int(value) for name, value in o.values.items()}
        yield _run(source.cells[o.cell_id], block, next(order)) | {
            "observation": o,
            "kind": o.kind,
            "run": o.run,
            "position": None,
            "reported": None,
            "counts": counts,
            "peak_rss": counts.get(PEAK_RSS),
            "cache_state": None,
            "comparable": False,
            "incomparable_reason": "outside timing",
        }


_BEFORE: Final = listed("identity", "runs-head", "cell")
_BLOCK: Final = (
    *listed("runs-block"),
    *(
        metric_column(
            m.name, "integer", f"{m.noun}: {m.about}; from {m.source}", ("counts", m.name)
        )
        for m in map(METRICS.__getitem__, (*RECEIPT_KEYS, *MEMORY_PARTS))
        if m.name != PEAK_RSS
    ),
    *listed("runs-outcome"),
)
_AFTER: Final = listed("runs-tail")
COLUMNS: Final = (*_BEFORE, *_BLOCK, *_AFTER)
"""Columns of every record."""


def run_columns(source: Source) -> tuple[Column, ...]:
    """Return all columns of a record."""
    declared = source.plan.metrics
    phases = sorted({name for receipt in source.receipts for name in receipt.phases_s})
    workers = {column.name: column for column in phase_columns(phases)}
    for build in source.contents.builds:
        for column in announced_columns(build, declared):
            workers.setdefault(column.name, column)
    return (
        *_BEFORE,
        *source.axis_columns,
        *source.effective_columns("receipt", "effective"),
        *_BLOCK,
        *workers.values(),
        *declared_columns(declared),
        *_AFTER,
    )
