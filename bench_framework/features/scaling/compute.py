"""Scaling exponents between neighbouring input sizes, and crossovers.

Exponents: see docs/method.md#scaling. A crossover is the input size at which two variants are
equally fast. It is reported only if the verdicts at two sizes have opposite directions. Between
sizes the log ratio is interpolated linearly over the log size. The interval contains every size at
which a signed-rank test of the interpolated ratios does not reject zero. See
docs/method.md#crossover.
"""

import bisect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from bench_framework.compare import samples as sampling
from bench_framework.compare.contrasts import FEWEST_ROUNDS, ContrastData
from bench_framework.compare.samples import Sample
from bench_framework.compare.verdict import table
from bench_framework.model.facts.records import LINEAR, GrowthWord
from bench_framework.model.metrics import WALL
from bench_framework.model.plan.plan import Cell, Input, Plan, Role
from bench_framework.model.plan.policies import Metric
from bench_framework.model.record.run import PreparedInput
from bench_framework.model.result.judgement import Comparison, Scaling
from bench_framework.model.result.structure import Crossing
from bench_framework.model.verdict import Verdict
from bench_framework.stats import intervals
from bench_framework.stats.portable_math import drop_unstable_digits, exp, find_root, log
from bench_framework.stats.signed_rank import Floats

LEVEL: Final = 0.95
FEWEST_SIZES: Final = 3
"""The smallest number of sizes for which the scaling is classified."""
Sized = tuple[int, Input]
"""An input with its size in bytes."""


def exponents(
    plan: Plan,
    samples: Mapping[str, Sample],
    inputs: Sequence[PreparedInput],
    usable: frozenset[str],
    metrics: Iterable[Metric] = (WALL,),
) -> tuple[Scaling, ...]:
    """Return the exponents between neighbouring sizes of one family and seed, by variant."""
    cells = {
        (c.variant_id, c.input_id): samples[c.id]
        for c in plan.cells
        if c.role is not Role.CONTROL and c.id in usable
    }
    exponents: list[Scaling] = []
    for ladder, variant in itertools.product(ladders(plan, inputs), plan.variants):
        steps = [(size, i.id, s) for size, i in ladder if (s := cells.get((variant.id, i.id)))]
        for metric in metrics:
            exponents += _climb(variant.id, metric, steps)
    return tuple(exponents)


def ladders(plan: Plan, inputs: Sequence[PreparedInput]) -> tuple[tuple[Sized, ...], ...]:
    """Return groups of at least two inputs that differ only in size, smallest first."""
    prepared = {item.input_id: item for item in inputs}
    sized_axes = {a.name for a in plan.axes if any(v.size_bytes is not None for v in a.values)}
    groups: dict[tuple[object, ...], dict[int, Input]] = {}
    for item in plan.inputs:
        data = prepared.get(item.id) or item.dataset
        if data is None or not data.size_bytes or data.family is None:
            continue
        rest = tuple((name, value) for name, value in item.values if name not in sized_axes)
        groups.setdefault((data.family, data.seed, rest), {}).setdefault(data.size_bytes, item)
    return tuple(tuple(sorted(g.items())) for g in groups.values() if len(g) > 1)


def _climb(
    variant_id: str, metric: Metric, steps: Sequence[tuple[int, str, Sample]]
) -> Iterator[Scaling]:
    """Yield the exponents between neighbouring steps of size, input id and sample."""
    for (small, lower, below), (large, upper, above) in itertools.pairwise(steps):
        pair = sampling.pair(above.values(metric), below.values(metric))
        if len(pair) < FEWEST_ROUNDS:
            continue
        x, y = table(pair).T
        bounds = intervals.typical_with_batches((x - y) / log(large / small), LEVEL)
        word: GrowthWord = "not classified"
        if len(steps) >= FEWEST_SIZES:
            word = growth_word(bounds.lo, bounds.hi)
        figures = bounds.estimate, bounds.lo, bounds.hi, bounds.level
        yield Scaling(variant_id, metric, lower, upper, *figures, word)


def growth_word(lo: float, hi: float) -> GrowthWord:
    """Classify an exponent: linear if its interval is within [0.95, 1.05]."""
    if LINEAR[0] <= lo and hi <= LINEAR[1]:
        return "linear"
    if hi < LINEAR[0]:
        return "sub-linear"
    return "super-linear" if lo > LINEAR[1] else "not resolved"


GRID: Final = 24
"""The number of grid points between two neighbouring sizes, before a bound is refined."""
PRECISION: Final = 1e-4
"""The precision of a bound in log size: a hundredth of a percent."""


def crossings(at: ContrastData, comparisons: Sequence[Comparison]) -> tuple[Crossing, ...]:
    """Return every crossover over sizes of one family and seed, variant by variant.

    The judged comparisons with the baseline determine where there is a crossover.
    """
    verdicts = {
        c.cell_id: c.verdict
        for c in comparisons
        if c.family == "headline" and c.metric == at.metric
    }
    return tuple(
        crossing
        for ladder, variant in itertools.product(ladders(at.plan, at.inputs), at.plan.variants)
        for crossing in _of_variant(at, variant.id, ladder, verdicts)
    )


def _of_variant(
    at: ContrastData, variant_id: str, ladder: Sequence[Sized], verdicts: Mapping[str, Verdict]
) -> Iterator[Crossing]:
    pairs = []
    for size, item in ladder:
        cells, baseline = at.plan.cells_of(item.id), at.plan.baseline_cell(item.id)
        candidates = (c for c in cells if c.role is Role.CANDIDATE and c.variant_id == variant_id)
        candidate = next(candidates, None)
        if candidate and baseline and {candidate.id, baseline.id} <= at.usable:
            pairs.append((size, candidate, baseline))
    if len(pairs) < FEWEST_SIZES:
        return
    ways = [
        (place, verdict.better)
        for place, (_, cell, _) in enumerate(pairs)
        if (verdict := verdicts.get(cell.id)) is not None and verdict.decided
    ]
    for (low, before), (high, after) in itertools.pairwise(ways):
        if before != after:
            yield _crossing(at, pairs[low : high + 1])


def _crossing(at: ContrastData, pairs: Sequence[tuple[int, Cell, Cell]]) -> Crossing:
    ratios = []
    for _, candidate, baseline in pairs:
        rounds, logs = at.logs([candidate.id, baseline.id], candidate.input_id)
        values = logs[candidate.id].values - logs[baseline.id].values
        ratios.append(dict(zip(rounds, values, strict=True)))
    common = [r for r in ratios[0] if all(r in by_round for by_round in ratios)]
    level = 1 - at.plan.judge.level / max(1, at.looks.count)
    place = None
    if len(common) >= FEWEST_ROUNDS:
        by_size = np.array([[by_round[r] for by_round in ratios] for r in common])
        place = turning([log(size) for size, _, _ in pairs], by_size, level)
    first, last = pairs[0], pairs[-1]
    return Crossing(
        cell_ids=(first[1].id, first[2].id, last[1].id, last[2].id),
        variant_id=first[1].variant_id,
        ref_variant_id=first[2].variant_id,
        metric=at.metric,
        below_input_id=first[1].input_id,
        above_input_id=last[1].input_id,
        size_bytes=exp(place[0]) if place else None,
        lo_bytes=exp(place[1]) if place else None,
        hi_bytes=exp(place[2]) if place else None,
        level=level,
        rounds=len(common),
    )


def turning(
    places: Sequence[float], ratios: Floats, level: float
) -> tuple[float, float, float] | None:
    """Return the place at which the interpolated typical log ratio is zero, with its interval.

    `places` has at least two log sizes, ascending, and `ratios` the log ratios, of shape (rounds,
    sizes). The result has estimate and bounds in log size. It is `None` if the intervals of the
    typical ratios of the two ends are not on opposite sides of zero: no place can be interpolated.
    """

    def bounds(place: float) -> intervals.Bounds:
        return intervals.typical_with_batches(interpolated(places, ratios, place), level)

    first, last = bounds(places[0]), bounds(places[-1])
    if not (first.lo > 0 > last.hi or first.hi < 0 < last.lo):
        return None
    estimate = drop_unstable_digits(
        find_root(lambda x: bounds(x).estimate, places[0], places[-1], PRECISION / 10)
    )
    grid = np.linspace(places[0], places[-1], (GRID * (len(places) - 1)) + 1).tolist()
    bisect.insort(grid, estimate)
    inside = [x for x in grid if _open(bounds(x)) or x == estimate]
    low, high = grid[grid.index(inside[0]) - 1], grid[grid.index(inside[-1]) + 1]
    return estimate, _edge(bounds, low, inside[0]), _edge(bounds, high, inside[-1])


def interpolated(places: Sequence[float], ratios: Floats, place: float) -> Floats:
    """Return the log ratios at a place between sizes, interpolated linearly in each round."""
    above = min(max(bisect.bisect_left(places, place), 1), len(places) - 1)
    weight = (place - places[above - 1]) / (places[above] - places[above - 1])
    values: Floats = (1 - weight) * ratios[:, above - 1] + weight * ratios[:, above]
    return values


def _open(bounds: intervals.Bounds) -> bool:
    return bounds.lo <= 0 <= bounds.hi


def _edge(bounds: Callable[[float], intervals.Bounds], outside: float, inside: float) -> float:
    """Return the last rejected place before an accepted one, rounded outward to the precision."""
    while abs(outside - inside) > PRECISION:
        middle = (outside + inside) / 2
        if _open(bounds(middle)):
            inside = middle
        else:
            outside = middle
    return outside
