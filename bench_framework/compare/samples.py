"""From blocks to series: one value per cell, metric and round, and pairs over common rounds.

Plain Python: the live display imports this too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from bench_framework.model.metrics import OF_A_BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bench_framework.model.plan import CacheState
    from bench_framework.model.policies import Metric
    from bench_framework.model.run import Block

VOID_SHARE: Final = 0.05
"""A cell with a larger share of void rounds has failed (METHOD 1)."""
VOIDING: Final = frozenset({"failed", "timeout"})


@dataclass(frozen=True, slots=True)
class Sample:
    """All that one cell gave: block values by round.

    Attributes:
        cell_id: whose values these are.
        series: metric → round → block value (seconds or bytes); void rounds are absent.
        runs: round → number of runs in its block.
        void: rounds in which the cell failed or timed out, or began with another page cache than it had to.
        blocks: the blocks behind the series, in order of execution; warm-up left out.
    """

    cell_id: str
    series: Mapping[Metric, Mapping[int, float]] = field(default_factory=dict)
    runs: Mapping[int, int] = field(default_factory=dict)
    void: frozenset[int] = frozenset()
    blocks: tuple[Block, ...] = ()

    @property
    def rounds(self) -> int:
        """Rounds begun, the void ones among them."""
        return len(self.runs) + len(self.void)

    @property
    def failed(self) -> bool:
        """Whether more than 5 % of the rounds are void."""
        return bool(self.void) and len(self.void) > VOID_SHARE * self.rounds

    def of(self, metric: Metric) -> Mapping[int, float]:
        """Round → value of a metric; empty where it was not measured."""
        return self.series.get(metric, {})


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cells over the rounds that both have, in round order. Positive values only."""

    rounds: tuple[int, ...]
    candidate: tuple[float, ...]
    reference: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.rounds)

    def until(self, last: int) -> Pair:
        """The pair as it stood after round `last`."""
        n = sum(1 for number in self.rounds if number <= last)
        return Pair(self.rounds[:n], self.candidate[:n], self.reference[:n])

    def mirrored(self) -> Pair:
        """The same rounds with the two sides exchanged."""
        return Pair(self.rounds, self.reference, self.candidate)


def used(block: Block) -> bool:
    """Whether a block may enter any judgement: no warm-up, and its round was not cut."""
    return not block.warmup and block.status != "skipped"


def collect(
    blocks: Iterable[Block], caches: Mapping[str, CacheState] = MappingProxyType({})
) -> dict[str, Sample]:
    """Cell id → sample, for every cell with at least one usable block.

    A round that holds both a void and a good block of one cell (it was run again after an
    interruption) keeps the later one.

    Args:
        blocks: of a record.
        caches: cell id → page cache with which each of its runs must be seen to begin (`cache_states.needed`).
    """
    by_cell: dict[str, dict[int, Block]] = {}
    for block in sorted(filter(used, blocks), key=lambda b: b.seq):
        by_cell.setdefault(block.cell_id, {})[block.round] = block
    return {
        cell: _sample(cell, [rounds[r] for r in sorted(rounds)], caches.get(cell))
        for cell, rounds in by_cell.items()
    }


def warm_ups(blocks: Iterable[Block]) -> dict[str, tuple[Block, ...]]:
    """Cell id → its warm-up blocks, in order of execution: what became of a cell that was given up in them."""
    found: dict[str, list[Block]] = {}
    for block in sorted(blocks, key=lambda b: b.seq):
        if block.warmup and block.status != "skipped":
            found.setdefault(block.cell_id, []).append(block)
    return {cell: tuple(own) for cell, own in found.items()}


def unseen(block: Block, cache: CacheState | None) -> bool:
    """Whether a block was not seen to begin with the page cache that it had to begin with."""
    return cache is not None and (block.page_cache is None or block.page_cache.state != cache)


def _sample(cell_id: str, blocks: Sequence[Block], cache: CacheState | None = None) -> Sample:
    good = [b for b in blocks if b.status not in VOIDING and not unseen(b, cache)]
    own = {name for b in good for r in b.receipts for name in r.metrics} | {
        n for b in good for n in b.metrics
    }
    series: dict[Metric, dict[int, float]] = {}
    for name in (*OF_A_BLOCK, *sorted(own)):
        values = {b.round: v for b in good if (v := b.metric(name)) is not None}
        if values:
            series[name] = values
    return Sample(
        cell_id=cell_id,
        series=series,
        runs={b.round: max(1, len(b.wall_s)) for b in good},
        void=frozenset(b.round for b in blocks) - {b.round for b in good},
        blocks=tuple(blocks),
    )


def pair(
    candidate: Mapping[int, float], reference: Mapping[int, float], *, higher: bool = False
) -> Pair:
    """Two series over their common rounds.

    Rounds in which either value is not above zero are left out: a ratio has no logarithm there,
    and the rule is symmetric in the two sides, so that label swaps stay valid.

    Args:
        candidate: round → value.
        reference: round → value.
        higher: the metric is better when larger; its values are inverted, so that a ratio below 1
            is always an improvement (REPORTS 1.3).
    """
    rounds = tuple(
        r for r in sorted(candidate) if r in reference and candidate[r] > 0 and reference[r] > 0
    )
    ours, theirs = [candidate[r] for r in rounds], [reference[r] for r in rounds]
    if higher:
        ours, theirs = [1 / v for v in ours], [1 / v for v in theirs]
    return Pair(rounds, tuple(ours), tuple(theirs))


def runs_within(sample: Sample, rounds: Iterable[int]) -> int:
    """Runs of a cell over these rounds."""
    return sum(sample.runs.get(r, 0) for r in rounds)
