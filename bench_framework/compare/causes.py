"""Where the time difference between two configurations is, and which counters differ.

A contrast that is offered as a cause changes one thing. If something else differs as well, the time may
come from either (docs/method.md#two-differences-at-once).
"""

import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, get_args

from bench_framework.compare.samples import Sample
from bench_framework.model.facts.causes import (
    HANDLED,
    LEAST_SHARE,
    Cause,
    CauseEvidence,
    CounterDifference,
    Explained,
    PartKind,
    TimePart,
    TwoDifferences,
)
from bench_framework.model.metrics import (
    CPU,
    FAULT_COST,
    LEAST_BYTES,
    METRICS,
    WAITING,
    WAITS,
    WALL,
)
from bench_framework.model.plan.declarations import CauseCounter, Mechanism
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.planned_comparisons import contrast_cells, hypothesis_cells
from bench_framework.model.plan.policies import Metric
from bench_framework.model.record.run import Block, Observation
from bench_framework.model.result.judgement import Comparison, Judgement, judged_pairs

FACTOR: Final = 2.0
"""A counter differs if one side has more than this factor of the other."""
LEAST_COUNT: Final = 100.0
"""Smallest difference of a count that matters: a few context switches or page faults cost microseconds."""
OUTSIDE: Final = "outside"
START: Final = "start"
"""Phase of a worker before its work, such as the start of an interpreter."""
PROCESSOR_PARTS: Final = ("user", "sys", "waiting")
MOST: Final = 0.5
"""Parts of the time have most of a difference if their share is larger."""
SURPLUS: Final = 1.02
"""Largest ratio of the sum of all phases to the elapsed time at which they are parts of it. Phases of
several threads are summed, and overlap."""
LEAST_WAITING_S: Final = 0.005
"""Smallest difference of the waiting that is split: what is waited for is sampled about every millisecond."""
FAULTS: Final = "minor_faults"
Pairs = list[tuple[float, float]]
"""The values of candidate and reference by round."""
Values = Mapping[str, float]
"""Metric → value."""
Untimed = Mapping[str, Values]
"""Cell id → values of a run outside timing."""
NOTHING: Final[Untimed] = {}
Part = tuple[str, PartKind, Pairs]
"""Name and kind of a part of the time, and its values."""


class _Pair(NamedTuple):
    """Two configurations that a contrast or a hypothesis compares. Without a mechanism, it is no cause."""

    name: str
    candidate: Cell
    reference: Cell
    metric: Metric
    mechanism: Mechanism | None


def causes(
    plan: Plan,
    samples: Mapping[str, Sample],
    comparisons: Sequence[Comparison],
    observed: Iterable[Observation] = (),
) -> tuple[Cause, ...]:
    """Return the contrasts and hypotheses whose times differ significantly, with the evidence."""
    differing, judged = [], judged_pairs(comparisons)
    untimed = untimed_values(observed)
    for item in plan.inputs:
        for pair in _pairs(plan, item.id):
            ids = pair.candidate.id, pair.reference.id
            comparison = judged[pair.metric].get(ids)
            if comparison is None or not comparison.verdict.decided:
                continue
            candidate, reference = (samples.get(cell_id, Sample(cell_id)) for cell_id in ids)
            evidence = evidence_of(candidate, reference, pair.metric, untimed)
            if evidence is None:
                continue
            second = second_difference(evidence, pair.mechanism, pair.name)
            differing.append(
                Cause(
                    input_id=item.id,
                    name=pair.name,
                    offered=pair.mechanism is not None,
                    evidence=evidence,
                    second=second,
                )
            )
    return tuple(differing)


def _pairs(plan: Plan, input_id: str) -> Iterator[_Pair]:
    """Yield the contrasts and the hypotheses. A contrast of the pair of a hypothesis is offered as a cause, too."""
    hypotheses = [
        _Pair(h.text, cell, reference, h.metric or plan.judge.headline, h.mechanism)
        for h, cell, reference in hypothesis_cells(plan, input_id)
    ]
    tested = {(frozenset((h.candidate, h.reference)), h.metric): h.mechanism for h in hypotheses}
    for contrast, cell, reference in contrast_cells(plan, input_id):
        mechanism = contrast.mechanism or tested.get(
            (frozenset((cell, reference)), contrast.metric)
        )
        yield _Pair(contrast.name, cell, reference, contrast.metric, mechanism)
    yield from hypotheses


def second_difference(
    evidence: CauseEvidence, mechanism: Mechanism | None, name: str
) -> TwoDifferences | None:
    """Return what differs in addition to what a change names, or `None` if nothing does.

    Parts of the time are checked only if the change names one of their kind: a phase, or processor time. Phases of
    several threads overlap and are no parts.
    """
    if mechanism is None:
        return None
    counters = tuple(c for c in evidence.counters if c.metric not in mechanism.counters)
    parts = _unnamed_parts(evidence, mechanism)
    if not parts and not counters:
        return None
    share = sum(map(evidence.share, parts))
    return TwoDifferences(name=name, parts=parts, share=share, counters=counters)


def _unnamed_parts(evidence: CauseEvidence, mechanism: Mechanism) -> tuple[TimePart, ...]:
    """Return the parts that a change does not name, if they have most of the difference together."""
    of_change, others = list[TimePart](), list[TimePart]()
    for part in evidence.parts:
        processor = part.kind in PROCESSOR_PARTS
        if any((name in PROCESSOR_PARTS) is processor for name in mechanism.phases):
            (of_change if part.name in mechanism.phases else others).append(part)
    others = [part for part in others if evidence.share(part) >= LEAST_SHARE]
    share, rest = (sum(map(evidence.share, parts)) for parts in (others, of_change))
    return tuple(others) if share > max(MOST, rest) else ()


def two_differences(
    judgement: Judgement, cell_id: str, ref_cell_id: str, metric: Metric
) -> TwoDifferences | None:
    """Return what else differs between two configurations that are compared as a cause and its effect.

    `None` also means that the scenario does not offer the pair as a cause, or that it does not differ.
    """
    for cause in judgement.causes:
        pair = *cause.evidence.cells, cause.evidence.metric
        if cause.second is not None and pair == (cell_id, ref_cell_id, metric):
            return cause.second
    return None


def untimed_values(observed: Iterable[Observation]) -> Untimed:
    """Return what the run of each configuration outside timing gave."""
    return {o.cell_id: o.values for o in observed if o.kind == "observed"}


def evidence_of(
    candidate: Sample, reference: Sample, metric: Metric = WALL, untimed: Untimed = NOTHING
) -> CauseEvidence | None:
    """Return the evidence for a cause of the time difference between two configurations.

    The differences are those within rounds. If the worker of both sides reports phases that do not
    overlap, these are the parts of the time; otherwise those of a whole run are user time, system time and, if
    neither side used more than one core, waiting. The time of the client of a server has no parts. CPU time has
    the parts user time and system time. The time outside the work has the parts `start`, if it is a phase, and
    the rest.

    Args:
        candidate: samples of the configuration with the change.
        reference: samples of the configuration without it.
        metric: the time that differs.
        untimed: values of a run outside timing by configuration.

    Returns:
        `None` if the metric is no time of a run, or if no round has it on both sides.
    """
    if not _is_time(metric):
        return None
    times, walls = (_common(candidate, reference, name) for name in (metric, WALL))
    walls = {number: pair for number, pair in walls.items() if number in times}
    if not walls:
        return None
    timed = [
        TimePart(
            name=name,
            kind=kind,
            value=statistics.median(mine for mine, _ in pairs),
            reference=statistics.median(other for _, other in pairs),
            difference=_difference(pairs),
        )
        for name, kind, pairs in _parts(candidate, reference, walls, metric)
    ]
    counters = _counters(candidate, reference)
    sides = tuple(untimed.get(sample.cell_id, {}) for sample in (candidate, reference))
    costs = [side[FAULT_COST] for side in sides if FAULT_COST in side]
    fault_cost = statistics.fmean(costs) if costs else None
    explained: list[Explained] = []
    for part in timed:
        if part.kind == "waiting":
            explained += _waits(part, *sides)
        elif part.kind == "sys" and fault_cost is not None:
            faults = [
                timed_count
                if (timed_count := _count(sample, FAULTS)) is not None
                else side.get(FAULTS)
                for sample, side in zip((candidate, reference), sides, strict=True)
            ]
            explained += _faults(part, faults, fault_cost)
    return CauseEvidence(
        cell_id=candidate.cell_id,
        ref_cell_id=reference.cell_id,
        metric=metric,
        rounds=len(walls),
        difference=_difference([*times.values()]),
        parts=tuple(sorted(timed, key=lambda part: -abs(part.difference))),
        counters=tuple(sorted(counters, key=lambda counter: -counter.factor)),
        explained=tuple(explained),
        fault_cost=fault_cost,
    )


def _waits(part: TimePart, mine: Values, other: Values) -> Iterator[Explained]:
    """Yield what the waiting was for, as shares of the difference of the waiting in untimed runs.

    Nothing is known if these runs differ by another amount than the timed ones, within a factor of two.
    """
    if not {WAITING} <= mine.keys() & other.keys():
        return
    difference = mine[WAITING] - other[WAITING]
    least, most = sorted((part.difference / FACTOR, part.difference * FACTOR))
    if abs(difference) < LEAST_WAITING_S or not least <= difference <= most:
        return
    for metric in WAITS:
        if metric in mine and metric in other:
            share = (mine[metric] - other[metric]) / difference
            yield Explained(part="waiting", metric=metric, share=share)


def _faults(part: TimePart, faults: Sequence[float | None], cost: float) -> Iterator[Explained]:
    """Yield the share of the difference of the system time that additional page faults cost."""
    mine, other = faults
    if mine is not None and other is not None and part.difference:
        share = (mine - other) * cost / part.difference
        yield Explained(part="sys", metric=FAULTS, share=share)


def _parts(
    candidate: Sample, reference: Sample, walls: Mapping[int, tuple[float, float]], metric: Metric
) -> list[Part]:
    """Return the parts of a time. A worker's own clock has no parts outside of its phases."""
    if metric == CPU:
        times = _processor_times(candidate, reference, walls)
        return [part for part in times if part[1] != "waiting"]
    phases = _phases(candidate, reference, walls)
    if metric == WALL:
        # The CPU time of a server is no part of the time of its client.
        blocks = (*candidate.blocks, *reference.blocks)
        of_server = any(block.peak_rss_source == "server" for block in blocks)
        return phases if phases or of_server else [*_processor_times(candidate, reference, walls)]
    if metric != OUTSIDE:
        return [part for part in phases if part[1] == "phase" and part[0] != START]
    start = next((pairs for name, _, pairs in phases if name == START), None)
    whole = [*_common(candidate, reference, metric).values()]
    if start is None or len(start) != len(whole):
        return [(OUTSIDE, "outside", whole)]
    rest = [(a - b, c - d) for (a, c), (b, d) in zip(whole, start, strict=True)]
    return [(START, "phase", start), (OUTSIDE, "outside", rest)]


def _is_time(metric: Metric) -> bool:
    """Return whether a metric is an elapsed time or the CPU time. A worker's times end with ``_s``."""
    kind = METRICS.get(metric)
    return metric.endswith("_s") if kind is None else kind.elapsed or metric == CPU


def _common(candidate: Sample, reference: Sample, metric: Metric) -> dict[int, tuple[float, float]]:
    """Return the values of both sides in the rounds that have both."""
    first, second = candidate.values(metric), reference.values(metric)
    return {number: (first[number], second[number]) for number in sorted(first) if number in second}


def _difference(pairs: Sequence[tuple[float, float]]) -> float:
    return statistics.median(mine - other for mine, other in pairs)


def _phases(candidate: Sample, reference: Sample, walls: Mapping[int, object]) -> list[Part]:
    """Return the phases with the time outside of them; nothing if they are no parts of the time."""
    sides = [_phases_by_round(sample, walls) for sample in (candidate, reference)]
    rounds = [number for number in walls if all(number in side for side in sides)]
    if not rounds:
        return []
    outside: list[list[float]] = []
    for sample, side in zip((candidate, reference), sides, strict=True):
        wall = sample.values(WALL)
        sums = {number: sum(side[number].values()) for number in rounds}
        if statistics.median(sums[n] / wall[n] for n in rounds if wall[n] > 0) > SURPLUS:
            return []
        outside.append([wall[number] - sums[number] for number in rounds])
    names = dict.fromkeys(name for side in sides for number in rounds for name in side[number])
    # A phase that one side does not have takes no time there.
    parts: list[Part] = [
        (name, "phase", [(sides[0][n].get(name, 0.0), sides[1][n].get(name, 0.0)) for n in rounds])
        for name in names
    ]
    return [*parts, (OUTSIDE, "outside", [*zip(*outside, strict=True)])]


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
    times = {name: _common(candidate, reference, name) for name in ("user", "sys")}
    for name, values in times.items():
        pairs = [pair for number, pair in values.items() if number in walls]
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
    for metric in get_args(CauseCounter):
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
