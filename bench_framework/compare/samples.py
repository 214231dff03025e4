"""Samples: one value per cell, metric and round, and pairs. No numpy, for the live display."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from bench_framework.model.metrics import OF_A_BLOCK
from bench_framework.model.plan.plan import CacheState
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Block

VOID_SHARE: Final = 0.05
"""A cell with a larger share of failed rounds has failed (`docs/method.md#schedule`)."""
UNVERIFIED_SHARE: Final = 0.2
"""A cell with a larger share of void rounds is not compared, although few of them failed. Nor is a control used."""


@dataclass(frozen=True, slots=True)
class Sample:
    """All measured values of one cell.

    Attributes:
        series: metric → round → value of the block in that round, in the unit of the metric.
            Void rounds are absent.
        runs: round → number of runs in its block; void rounds are absent.
        void: rounds in which the cell failed or timed out, or whose page cache was not verified
            as requested.
        blocks: all blocks, including those of void rounds, in order of execution, without warm-up.
        incomplete: metrics that more than 5 % of the rounds lack, with the reason. They are not
            compared, because the missing runs may be the slow ones (`docs/method.md#declared-metrics`).
    """

    cell_id: str
    series: Mapping[Metric, Mapping[int, float]] = field(default_factory=dict)
    runs: Mapping[int, int] = field(default_factory=dict)
    void: frozenset[int] = frozenset()
    blocks: tuple[Block, ...] = ()
    incomplete: Mapping[Metric, Reason] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """Return the number of rounds, including void ones."""
        return len(self.runs) + len(self.void)

    def values(self, metric: Metric) -> Mapping[int, float]:
        """Return round → value of a metric; empty if it was not measured."""
        return self.series.get(metric, {})


@dataclass(frozen=True, slots=True)
class Pair:
    """The values of two cells on one metric over their n common rounds, in round order.

    All values are positive. `control` has n values if the A/A control is a copy of the reference
    and was measured, otherwise none.
    """

    rounds: tuple[int, ...]
    candidate: tuple[float, ...]
    reference: tuple[float, ...]
    control: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.rounds)

    @property
    def runs(self) -> int:
        """Return the number of values in each round."""
        return 3 if self.control else 2

    def until(self, last: int) -> "Pair":
        """Return the pair without the rounds after `last`."""
        n = sum(1 for number in self.rounds if number <= last)
        return Pair(self.rounds[:n], self.candidate[:n], self.reference[:n], self.control[:n])


def used(block: Block) -> bool:
    """Return whether a block counts: not a warm-up, and not in a round that was interrupted."""
    return not block.warmup and block.status != "skipped"


def collect(
    blocks: Iterable[Block], caches: Mapping[str, CacheState] = MappingProxyType({})
) -> dict[str, Sample]:
    """Return cell id → sample for every cell with at least one block that counts.

    If a cell has two blocks in one round, because the round was run again after an interruption,
    the later one counts.

    `caches` has the page-cache state that must be verified for each run of a cell
    (`cell_state.needed_caches`).
    """
    by_cell: dict[str, dict[int, Block]] = {}
    for block in sorted(filter(used, blocks), key=lambda b: b.seq):
        by_cell.setdefault(block.cell_id, {})[block.round] = block
    return {
        cell: _sample(cell, [rounds[r] for r in sorted(rounds)], caches.get(cell))
        for cell, rounds in by_cell.items()
    }


def warm_ups(blocks: Iterable[Block]) -> dict[str, tuple[Block, ...]]:
    """Return cell id → warm-up blocks in order, which contain the reason of an early failure."""
    by_cell: dict[str, list[Block]] = {}
    for block in sorted(blocks, key=lambda b: b.seq):
        if block.warmup and block.status != "skipped":
            by_cell.setdefault(block.cell_id, []).append(block)
    return {cell: tuple(warm_up) for cell, warm_up in by_cell.items()}


def cache_unverified(block: Block, cache: CacheState | None) -> bool:
    """Return whether the page-cache state that a block needs was not verified."""
    return cache is not None and (block.page_cache is None or block.page_cache.state != cache)


def _sample(cell_id: str, blocks: Sequence[Block], cache: CacheState | None = None) -> Sample:
    good = [b for b in blocks if not b.void and not cache_unverified(b, cache)]
    declared = {name for b in good for r in b.receipts for name in r.metrics} | {
        n for b in good for n in b.metrics
    }
    series: dict[Metric, dict[int, float]] = {}
    for name in (*OF_A_BLOCK, *sorted(declared)):
        values = {b.round: v for b in good if (v := b.metric(name)) is not None}
        if values:
            series[name] = values
    return Sample(
        cell_id=cell_id,
        series=series,
        runs={b.round: max(1, len(b.wall_s)) for b in good},
        void=frozenset(b.round for b in blocks) - {b.round for b in good},
        blocks=tuple(blocks),
        incomplete=dict(_incomplete(blocks)),
    )


def _incomplete(blocks: Sequence[Block]) -> Iterator[tuple[Metric, Reason]]:
    for metric in sorted({name for block in blocks for name in block.missing}):
        lacking = [block for block in blocks if metric in block.missing]
        if len(lacking) > VOID_SHARE * len(blocks):
            parts = metric, len(lacking), len(blocks), lacking[0].missing[metric]
            yield metric, Reason(ReasonCode.UNREADABLE_METRIC, parts)


def pair(
    candidate: Mapping[int, float],
    reference: Mapping[int, float],
    control: Mapping[int, float] | None = None,
    *,
    higher: bool = False,
) -> Pair:
    """Pair two series over their common rounds, and those of the control if it has most of them.

    Rounds in which either value is not positive are left out, because their ratio has no
    logarithm. This rule is symmetric in the two sides, so that exchanged labels remain valid.

    If more than 20 % of the common rounds lack the control, it is not used; otherwise these rounds
    are left out. With `higher`, the values are inverted, so that a ratio below 1 is always an
    improvement (`docs/method.md#declared-metrics`).
    """
    sides = [candidate, reference]
    rounds = _common_rounds(sides)
    if control is not None:
        with_control = _common_rounds([*sides, control])
        if len(rounds) - len(with_control) <= UNVERIFIED_SHARE * len(rounds):
            sides, rounds = [*sides, control], with_control
    columns = [tuple(1 / side[r] if higher else side[r] for r in rounds) for side in sides]
    return Pair(rounds, *columns)


def _common_rounds(sides: Sequence[Mapping[int, float]]) -> tuple[int, ...]:
    return tuple(r for r in sorted(sides[0]) if all(side.get(r, 0.0) > 0 for side in sides))


def runs_within(sample: Sample, rounds: Iterable[int]) -> int:
    """Return the number of runs of a cell in these rounds."""
    return sum(sample.runs.get(r, 0) for r in rounds)
