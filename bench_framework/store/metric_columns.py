"""Columns of kernel counters, instructions, declared metrics and block details."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from bench_framework.model.metrics import INSTRUCTIONS, METRICS, SYSTEM_COUNTERS, column_of
from bench_framework.store.columns import Column, metrics_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from bench_framework.model.judgement import Summary
    from bench_framework.model.metrics import DeclaredMetric
    from bench_framework.model.observation import Observation
    from bench_framework.model.run import Block, Build

Row = dict[str, Any]

RUNS: Final = (
    Column(
        "kind",
        "string",
        "timed (by hyperfine), or untimed: observed (by the kernel), instructions",
    ),
    Column("tool", "string", "tool that counted, in an untimed run", nullable=True),
    Column("instructions", "number", METRICS[INSTRUCTIONS].about, nullable=True, unit="count"),
)
BLOCK_RUNS: Final = (
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
    Column("answer_count", "integer", "number of items that the run counted", nullable=True),
    Column("answer_distinct", "integer", "number of distinct items", nullable=True),
    Column(
        "answer_source", "string", "source of the answer: worker, stdout, file, none", nullable=True
    ),
    Column(
        "cache_why",
        "string",
        "reason if the cache was not in the requested state",
        nullable=True,
    ),
    Column(
        "steal_ticks", "integer", "ticks that the hypervisor took during the block", nullable=True
    ),
    Column("notes", "string", "notes of the worker on this run, as JSON", nullable=True),
    Column(
        "missing",
        "string",
        "declared metrics that could not be read, with the reason, as JSON",
        nullable=True,
    ),
    Column(
        "further_metrics",
        "string",
        "metrics that were neither declared nor announced, as JSON",
        nullable=True,
    ),
)
CELLS: Final = (
    Column("user_s", "number", "median of the user CPU time", nullable=True, unit="s"),
    Column("sys_s", "number", "median of the system CPU time", nullable=True, unit="s"),
    *(
        Column(
            name,
            "number",
            f"median of: {METRICS[name].about}",
            nullable=True,
            unit=METRICS[name].unit,
        )
        for name in SYSTEM_COUNTERS
    ),
    Column(
        "counted_runs",
        "integer",
        "counted runs; 1 for an untimed run",
        nullable=True,
    ),
    Column("instructions", "number", METRICS[INSTRUCTIONS].about, nullable=True, unit="count"),
    Column("instructions_runs", "integer", "repetitions of the count", nullable=True),
    Column(
        "instructions_spread_pct",
        "number",
        "largest count ÷ smallest count − 1",
        nullable=True,
        unit="pct",
    ),
)


def declared_columns(
    declared: Iterable[DeclaredMetric], *, median: bool = False
) -> tuple[Column, ...]:
    """Return the column ``w_NAME_UNIT`` of each declared metric."""
    return tuple(
        Column(
            column_of(metric.name, metric.unit),
            "number",
            ("median of: " if median else "") + (metric.about or f"metric {metric.name}"),
            nullable=True,
            unit=metric.unit,
        )
        for metric in declared
    )


def declared_part(declared: Iterable[DeclaredMetric], block: Block, index: int) -> Row:
    """Return the declared metrics of run `index` of a block. Only the last run has printed ones."""
    receipt = block.receipts[index].metrics if index < len(block.receipts) else {}
    printed = block.metrics if index == max(1, len(block.wall_s)) - 1 else {}
    return {
        column_of(metric.name, metric.unit): (
            receipt if metric.source == "worker" else printed
        ).get(metric.name)
        for metric in declared
    }


def observed_rows(
    observations: Iterable[Observation], fixed: Mapping[str, Row], blocks: int, seq: int
) -> Iterator[Row]:
    """Yield one row of ``runs.csv`` per untimed run, which is in no comparison of times.

    Args:
        observations: observations in the order of execution.
        fixed: common values of all rows of a cell, by cell id.
        blocks: number of blocks before them.
        seq: number of runs before them.
    """
    for number, found in enumerate(observations):
        yield {
            **fixed[found.cell_id],
            "round": 0,
            "block": blocks + number,
            "run": found.run,
            "seq": seq + number,
            "warmup": False,
            "block_runs": 1,
            "started_at": found.started_at,
            "timed_out": found.status == "timeout",
            "status": found.status,
            "comparable": False,
            "incomparable_reason": "outside timing",
            "message": found.message,
            "kind": found.kind,
            "tool": found.tool,
            **{name: int(value) for name, value in found.values.items()},
        }


def cell_part(
    cell_id: str, summaries: Mapping[tuple[str, str], Summary], declared: Sequence[DeclaredMetric]
) -> Row:
    """Return these columns of ``cells.csv`` for one cell."""
    own = {metric: summary for (cell, metric), summary in summaries.items() if cell == cell_id}
    row: Row = {name: own[name].median for name in SYSTEM_COUNTERS if name in own}
    row |= {f"{name}_s": own[name].median for name in ("user", "sys") if name in own}
    counted = [own[name].n_runs for name in SYSTEM_COUNTERS if name in own]
    row["counted_runs"] = max(counted) if counted else None
    if (found := own.get(INSTRUCTIONS)) is not None:
        row |= {"instructions": found.median, "instructions_runs": found.n_runs}
        row["instructions_spread_pct"] = (
            100 * (found.max / found.min - 1) if found.min > 0 else None
        )
    for metric in declared:
        if metric.name in own:
            row[column_of(metric.name, metric.unit)] = own[metric.name].median
    return row


def block_part(
    block: Block, index: int, build: Build | None, declared: Iterable[DeclaredMetric]
) -> dict[str, Any]:
    """Return these columns for run `index` of a block.

    Args:
        block: block of the run.
        index: index of the run in the block, from 0.
        build: build of the cell, for the metrics that its worker announces.
        declared: declared metrics of the scenario. They have separate columns, like those that the
            worker announces.
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
