"""Where the time difference between two configurations is, and which counters differ.

A contrast that is offered as a cause changes one thing. If a counter differs as well, the time may
come from either.
"""

import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from bench_framework.compare.samples import Sample
from bench_framework.model.facts.causes import (
    CauseEvidence,
    CounterDifference,
    PartKind,
    TimePart,
)
from bench_framework.model.metrics import METRICS, SYSTEM_COUNTERS, WALL
from bench_framework.model.run import Block

FACTOR: Final = 2.0
"""A counter differs if one side has more than this factor of the other."""
LEAST_COUNT: Final = 100.0
"""Smallest difference of a count that matters: a few context switches or page faults cost microseconds."""
LEAST_BYTES: Final = float(1 << 20)
"""Smallest difference in bytes that matters: a program that starts reads files of this size."""
SURPLUS: Final = 1.02
"""Largest ratio of the sum of all phases to the elapsed time at which they are parts of it. Phases of
several threads are summed, and overlap."""
HANDLED: Final = "handled_bytes"
COUNTERS: Final = tuple(name for name in SYSTEM_COUNTERS if METRICS[name].formula is None)
Series = Mapping[int, float]
"""Round → value."""
Pairs = list[tuple[float, float]]
"""The values of candidate and reference by round."""
Part = tuple[str, PartKind, Pairs]
"""Name and kind of a part of the time, and its values."""


def evidence_of(
    candidate: Sample,
    reference: Sample,
) -> CauseEvidence | None:
    """Return the evidence for a cause of the time difference between two configurations.

    The differences are those within rounds. If the worker of both sides reports phases that do not
    overlap, these are the parts of the time; otherwise they are user time, system time and, if neither
    side used more than one core, waiting.

    Args:
        candidate: samples of the configuration with the change.
        reference: samples of the configuration without it.

    Returns:
        `None` if no round has a time of both sides.
    """
    walls = _common(candidate.values(WALL), reference.values(WALL))
    if not walls:
        return None
    parts = _phases(candidate, reference, walls) or _processor_times(candidate, reference, walls)
    timed = [
        TimePart(
            name=name,
            kind=kind,
            value=statistics.median(mine for mine, _ in pairs),
            reference=statistics.median(other for _, other in pairs),
            difference=_difference(pairs),
        )
        for name, kind, pairs in parts
    ]
    counters = _counters(candidate, reference)
    return CauseEvidence(
        cell_id=candidate.cell_id,
        ref_cell_id=reference.cell_id,
        rounds=len(walls),
        difference=_difference([*walls.values()]),
        parts=tuple(sorted(timed, key=lambda part: -abs(part.difference))),
        counters=tuple(sorted(counters, key=lambda counter: -counter.factor)),
    )


def _common(first: Series, second: Series) -> dict[int, tuple[float, float]]:
    return {number: (first[number], second[number]) for number in sorted(first) if number in second}


def _difference(pairs: Sequence[tuple[float, float]]) -> float:
    return statistics.median(mine - other for mine, other in pairs)


def _phases(candidate: Sample, reference: Sample, walls: Mapping[int, object]) -> list[Part]:
    """Return the phases with the time outside of them; nothing if they are no parts of the time."""
    sides = [_phases_by_round(sample, walls) for sample in (candidate, reference)]
    rounds = [number for number in walls if all(number in side for side in sides)]
    if not rounds:
        return []
    outside: list[Series] = []
    for sample, side in zip((candidate, reference), sides, strict=True):
        wall = sample.values(WALL)
        sums = {number: sum(side[number].values()) for number in rounds}
        if statistics.median(sums[n] / wall[n] for n in rounds if wall[n] > 0) > SURPLUS:
            return []
        outside.append({number: wall[number] - sums[number] for number in rounds})
    names = dict.fromkeys(name for side in sides for number in rounds for name in side[number])
    # A phase that one side does not have takes no time there.
    parts: list[Part] = [
        (name, "phase", [(sides[0][n].get(name, 0.0), sides[1][n].get(name, 0.0)) for n in rounds])
        for name in names
    ]
    return [*parts, ("outside", "outside", [*_common(*outside).values()])]


def _phases_by_round(sample: Sample, rounds: Collection[int]) -> dict[int, dict[str, float]]:
    return {
        block.round: phases
        for block in sample.blocks
        if block.round in rounds and block.round in sample.runs and (phases := _phases_of(block))
    }


def _phases_of(block: Block) -> dict[str, float]:
    """Return the phases of a block: medians over its runs."""
    names = dict.fromkeys(name for receipt in block.receipts for name in receipt.phases_s)
    return {
        name: statistics.median(r.phases_s[name] for r in block.receipts if name in r.phases_s)
        for name in names
    }


def _processor_times(
    candidate: Sample, reference: Sample, walls: Mapping[int, tuple[float, float]]
) -> Iterator[Part]:
    """Yield user and system time, and the rest of the elapsed time as waiting if there is one."""
    times = {}
    for name in ("user", "sys"):
        times[name] = _common(candidate.values(name), reference.values(name))
        pairs = [pair for number, pair in times[name].items() if number in walls]
        if pairs:
            yield name, "user" if name == "user" else "sys", pairs
    rounds = [number for number in walls if all(number in series for series in times.values())]
    waiting: Pairs = []
    for number in rounds:
        user, system = times["user"][number], times["sys"][number]
        mine, other = (walls[number][side] - user[side] - system[side] for side in (0, 1))
        waiting.append((mine, other))
    if waiting and all(statistics.median(side) >= 0 for side in zip(*waiting, strict=True)):
        yield "waiting", "waiting", waiting


def _counters(candidate: Sample, reference: Sample) -> Iterator[CounterDifference]:
    """Yield the counters that differ by more than `FACTOR` and by an amount that matters."""
    for metric in (*COUNTERS, HANDLED):
        value, other = (_count(sample, metric) for sample in (candidate, reference))
        if value is None or other is None:
            continue
        in_bytes = metric == HANDLED or METRICS[metric].unit == "bytes"
        least = LEAST_BYTES if in_bytes else LEAST_COUNT
        if max(value, other) > FACTOR * min(value, other) and abs(value - other) >= least:
            yield CounterDifference(metric=metric, value=value, reference=other)


def _count(sample: Sample, metric: str) -> float | None:
    """Return the median of a counter over the rounds; `None` if it was not counted."""
    values = [*sample.values(metric).values()]
    if metric == HANDLED:
        good = (block for block in sample.blocks if block.round in sample.runs)
        values = [float(r.bytes) for b in good for r in b.receipts if r.bytes is not None]
    return statistics.median(values) if values else None
