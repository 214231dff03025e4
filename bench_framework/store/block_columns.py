"""What ``runs.csv`` holds of a block beside its figures, so that the blocks can be read from it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from bench_framework.store.columns import Column, metrics_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench_framework.model.metrics import DeclaredMetric
    from bench_framework.model.run import Block, Build

RUNS: Final = (
    Column("position", "integer", "place of the block within its round, from 0", nullable=True),
    Column("reported", "boolean", "whether the worker reported this run", nullable=True),
    Column(
        "handled_bytes",
        "integer",
        "bytes that the run handled, as the worker reports",
        nullable=True,
        unit="bytes",
    ),
    Column(
        "block_peak_rss_bytes",
        "integer",
        "largest resident set of the block",
        nullable=True,
        unit="bytes",
    ),
    Column("answer_count", "integer", "things that the run counted", nullable=True),
    Column("answer_distinct", "integer", "different ones among them", nullable=True),
    Column(
        "answer_source", "string", "who gave the answer: worker, stdout, file, none", nullable=True
    ),
    Column(
        "cache_why",
        "string",
        "why the cache was not in the state that was asked for",
        nullable=True,
    ),
    Column(
        "steal_ticks", "integer", "ticks that the hypervisor took during the block", nullable=True
    ),
    Column("notes", "string", "what the worker remarked on this run, as JSON", nullable=True),
    Column(
        "missing",
        "string",
        "declared metrics that could not be read, and why, as JSON",
        nullable=True,
    ),
    Column(
        "further_metrics",
        "string",
        "numbers that nobody declared or announced, as JSON",
        nullable=True,
    ),
)


def part(
    block: Block, index: int, build: Build | None, declared: Iterable[DeclaredMetric]
) -> dict[str, Any]:
    """These columns for run `index` of a block.

    Args:
        block: the run's.
        index: from 0.
        build: the binary that it ran, for the metrics that its worker announces.
        declared: the scenario's metrics; they and those announced have columns of their own.
    """
    receipt = block.receipts[index] if index < len(block.receipts) else None
    answer, cache = block.answer, block.page_cache
    known = {metric.name for metric in declared}
    known |= {str(metric["name"]) for metric in (metrics_of(build) if build else ())}
    own = {**(receipt.metrics if receipt else {}), **(block.metrics if index == 0 else {})}
    return {
        "position": block.position,
        "reported": receipt is not None,
        "handled_bytes": receipt.bytes if receipt else None,
        "block_peak_rss_bytes": block.peak_rss_bytes,
        "answer_count": answer.count if answer else None,
        "answer_distinct": answer.distinct if answer else None,
        "answer_source": answer.source if answer else None,
        "cache_why": (cache.why or None) if cache else None,
        "notes": _json(list(receipt.notes)) if receipt and receipt.notes else None,
        "missing": _json(dict(block.missing)) if block.missing else None,
        "further_metrics": _json(own_ones) if (own_ones := _without(own, known)) else None,
    }


def _without(values: dict[str, float], known: set[str]) -> dict[str, float]:
    return {name: value for name, value in values.items() if name not in known}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
