"""Rows and columns of ``cells.csv``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bench_framework.model.metrics import (
    CPU,
    INSTRUCTIONS,
    METRICS,
    PEAK_RSS,
    SYSTEM_COUNTERS,
    WALL,
)
from bench_framework.store.columns import Column, listed
from bench_framework.store.source import declared_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench_framework.model.judgement import Summary
    from bench_framework.model.run import Block
    from bench_framework.store.source import Configuration, Source

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class CellRow:
    """A cell with its summaries and blocks."""

    at: Configuration
    summaries: dict[str, Summary]
    """Summary of each metric, by name."""
    blocks: Sequence[Block]
    """Blocks of the cell, warm-ups included."""
    wall: Summary | None
    cpu: Summary | None
    peak: Summary | None

    @property
    def source(self) -> Source:
        """Data of the record."""
        return self.at.source

    @property
    def state(self) -> str:
        """State of the cell."""
        return self.at.state.state if self.at.state else "not-started"

    @property
    def rounds(self) -> int:
        """Number of complete measured rounds."""
        return self.at.state.rounds if self.at.state else 0

    @property
    def runs(self) -> int:
        """Number of measured or imported runs."""
        if self.at.command:
            return self.at.command.runs or 0
        return sum(len(b.wall_s) for b in self.blocks if b.status == "ok" and not b.warmup)

    @property
    def runs_failed(self) -> int:
        """Number of rounds, or of imported runs, in which the cell failed."""
        if self.at.command:
            return self.at.command.failed
        return sum(b.status in {"failed", "timeout"} and not b.warmup for b in self.blocks)

    @property
    def wall_s(self) -> float:
        """Median wall time in seconds, 0 if it is unknown."""
        return self.wall.median if self.wall else 0.0

    @property
    def input_bytes(self) -> int:
        """Size of the input, 0 if it is unknown."""
        return (self.at.prepared and self.at.prepared.size_bytes) or 0

    @property
    def cores_used(self) -> float | None:
        """CPU time ÷ wall time."""
        return self.cpu.median / self.wall_s if self.cpu and self.wall_s > 0 else None

    @property
    def throughput(self) -> float | None:
        """Input size ÷ wall time in MiB/s."""
        size = self.input_bytes
        return size / MIB / self.wall_s if size and self.wall_s > 0 else None

    @property
    def rss_pct(self) -> float | None:
        """Median peak memory in percent of the input's size."""
        return 100 * self.peak.median / self.input_bytes if self.peak and self.input_bytes else None

    @property
    def output_ok(self) -> bool | None:
        """True if all answers equal the baseline's, `None` without answers."""
        answers = [block.status != "other-output" for block in self.blocks if block.answer]
        return all(answers) if answers else None

    @property
    def flags(self) -> str:
        """Warnings about times and memory, joined by semicolons."""
        summaries = (self.wall, self.cpu, self.peak)
        return ";".join(sorted({w for summary in summaries if summary for w in summary.warnings}))

    @property
    def counted_runs(self) -> int | None:
        """Largest number of runs of a system counter."""
        counts = (self.summaries[m].n_runs for m in SYSTEM_COUNTERS if m in self.summaries)
        return max(counts, default=None)

    @property
    def instructions_spread(self) -> float | None:
        """Spread of the counts of instructions in percent."""
        counts = self.summaries.get(INSTRUCTIONS)
        return 100 * (counts.max / counts.min - 1) if counts and counts.min > 0 else None


def cell_rows(source: Source) -> Iterator[CellRow]:
    """Yield one row per cell, in plan order. It requires the judgement."""
    assert source.judgement is not None
    summaries: dict[str, dict[str, Summary]] = {key: {} for key in source.cells}
    for summary in source.judgement.summaries:
        summaries[summary.cell_id][summary.metric] = summary
    blocks: dict[str, list[Block]] = {key: [] for key in source.cells}
    for block in source.contents.blocks:
        blocks[block.cell_id].append(block)
    for key, at in source.cells.items():
        main = (summaries[key].get(metric) for metric in (WALL, CPU, PEAK_RSS))
        yield CellRow(at, summaries[key], blocks[key], *main)


def cell_columns(source: Source) -> tuple[Column, ...]:
    """Return all columns of a record."""
    return (
        *listed("identity", "cell"),
        *source.axis_columns,
        *source.effective_columns("at", "state", "effective"),
        *listed("cells"),
        *(
            Column(
                name,
                "number",
                f"median of: {METRICS[name].about}",
                ("summaries", name, "median"),
                unit=METRICS[name].unit,
            )
            for name in SYSTEM_COUNTERS
        ),
        *listed("cells-tail"),
        *declared_columns(source.plan.metrics, median=True),
    )
