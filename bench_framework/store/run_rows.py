"""Rows and columns of ``runs.csv``."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

from bench_framework.model import contention
from bench_framework.model.metrics import MEMORY_PARTS, METRICS, PEAK_RSS, RECEIPT_KEYS
from bench_framework.model.run import Block
from bench_framework.store.columns import Column, listed
from bench_framework.store.source import (
    announced_columns,
    declared_columns,
    metrics_of,
    phase_columns,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.model.run import Observation, Receipt
    from bench_framework.store.source import Configuration, Source

T = TypeVar("T")
USER_HZ: Final = 100
"""Ticks per second of /proc/stat, which are 100 on every supported platform."""


@dataclass(frozen=True)
class Run:
    """One row: a run of a block, or a run outside timing."""

    at: Configuration
    block: Block
    """Block of the run. That of a run outside timing has only its start, status and message."""
    seq: int
    """Order of the run within the record, from 0."""
    index: int = 0
    """Index of the run in its block, from 0."""
    observation: Observation | None = None
    """Counters of a run outside timing."""

    @property
    def source(self) -> Source:
        """Data of the record."""
        return self.at.source

    @property
    def kind(self) -> str:
        """``timed``, or the kind of a run outside timing."""
        return self.observation.kind if self.observation else "timed"

    @property
    def run(self) -> int:
        """Number of the run from 1, 0 in a warm-up."""
        if self.observation:
            return self.observation.run
        return 0 if self.block.warmup else self.index + 1

    @property
    def position(self) -> int | None:
        """Position of a timed block within its round."""
        return None if self.observation else self.block.position

    @property
    def block_runs(self) -> int:
        """Number of rows of the block. A block that was interrupted has one."""
        return max(1, len(self.block.wall_s))

    @property
    def wall_s(self) -> float | None:
        """Wall time in seconds."""
        return _item(self.block.wall_s, self.index)

    @property
    def exit_code(self) -> int | None:
        """Exit status."""
        return _item(self.block.exit_codes, self.index)

    @cached_property
    def receipt(self) -> Receipt | None:
        """Report of the worker."""
        return _item(self.block.receipts, self.index)

    @property
    def reported(self) -> bool | None:
        """True if there is a report of the worker, `None` outside timing."""
        return None if self.observation else self.receipt is not None

    @cached_property
    def counts(self) -> dict[str, int]:
        """Built-in metrics that the worker or the kernel counted, by name."""
        if self.observation:
            return {name: int(value) for name, value in self.observation.values.items()}
        return dict(self.receipt.counts) if self.receipt else {}

    @property
    def peak_rss(self) -> int | None:
        """Largest resident set in bytes."""
        return self.counts.get(PEAK_RSS, self.block.peak_rss_bytes)

    @cached_property
    def worker(self) -> dict[str, float]:
        """Phases and announced metrics of the worker, by column."""
        if self.receipt is None:
            return {}
        values = {f"w_{name}_s": value for name, value in self.receipt.phases_s.items()}
        for column in self.at.announced:
            if (name := column.field[-1]) in self.receipt.metrics:
                values[column.name] = self.receipt.metrics[name]
        return values

    @property
    def printed(self) -> dict[str, float]:
        """Metrics that the program printed, for the last run of a block."""
        return dict(self.block.metrics) if self.index == self.block_runs - 1 else {}

    @property
    def further(self) -> dict[str, float]:
        """Metrics that were neither declared nor announced."""
        known = {metric.name for metric in self.source.plan.metrics}
        known |= {str(metric["name"]) for metric in metrics_of(self.at.binary.build)}
        reported = self.receipt.metrics if self.receipt else {}
        printed = self.block.metrics if self.index == 0 else {}
        return {name: v for name, v in {**reported, **printed}.items() if name not in known}

    @property
    def cache_state(self) -> str | None:
        """State of the page cache of a timed block."""
        if self.observation:
            return None
        return self.block.page_cache.state if self.block.page_cache else "unknown"

    @property
    def comparable(self) -> bool:
        """True if the run may be used in a comparison."""
        return self.incomparable_reason is None

    @cached_property
    def incomparable_reason(self) -> str | None:
        """Reason why the run may not be used in a comparison, or `None`."""
        if self.observation:
            return "outside timing"
        if self.block.status != "ok":
            return self.block.message or self.block.status
        state = self.at.state
        if state is not None and state.state not in {"measured", "not-started"}:
            return state.reason or state.state
        return "warm-up" if self.block.warmup else None

    @property
    def output_ok(self) -> bool | None:
        """True if the answer equals the baseline's, `None` without an answer that must."""
        required = self.block.answer and self.source.plan.answer.differs == "refuse"
        return self.block.status != "other-output" if required else None

    @property
    def contended(self) -> str:
        """Flags of disturbance by other load, joined by semicolons."""
        return ";".join(contention.flags(self.block))

    @property
    def steal_pct(self) -> float | None:
        """CPU time that the hypervisor took, in percent of all cores."""
        host, ticks = self.source.contents.host, self.block.sensors.steal_ticks
        wall = math.fsum(self.block.wall_s)
        if host is None or ticks is None or wall <= 0:
            return None
        return 100 * ticks / (wall * host.cores * USER_HZ)


def _item(values: Sequence[T], index: int) -> T | None:
    return values[index] if index < len(values) else None


def run_rows(source: Source) -> Iterator[Run]:
    """Yield one row per run in the order of execution, then one per run outside timing."""
    order = itertools.count()
    for block in source.contents.blocks:
        for index in range(max(1, len(block.wall_s))):
            yield Run(source.cells[block.cell_id], block, next(order), index)
    for place, o in enumerate(source.contents.observations, len(source.contents.blocks)):
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
        yield Run(source.cells[o.cell_id], block, next(order), observation=o)


_BEFORE: Final = listed("identity", "runs-head", "cell")
_BLOCK: Final = (
    *listed("runs-block"),
    *(
        Column(
            name,
            "integer",
            f"{METRICS[name].noun}: {METRICS[name].about}; from {METRICS[name].source}",
            ("counts", name),
            ("counts", name),
            unit=METRICS[name].unit,
        )
        for name in (*RECEIPT_KEYS, *MEMORY_PARTS)
        if name != PEAK_RSS
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
