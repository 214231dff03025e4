"""The input size at which two variants are equally fast.

A crossover is reported only if the verdicts at two sizes have opposite directions. Between sizes
the log ratio is interpolated linearly over the log size. The interval contains every size at which
a signed-rank test of the interpolated ratios does not reject zero. See docs/method.md#crossover.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from bench_framework.compare.contrasts import FEWEST_ROUNDS, Floats, Measured
from bench_framework.features.scaling import compute as scaling
from bench_framework.model.judgement import Comparison
from bench_framework.model.plan import Cell, Role, Variant
from bench_framework.model.structure import Crossing
from bench_framework.model.verdict import Verdict
from bench_framework.stats import intervals
from bench_framework.stats.portable_math import drop_unstable_digits, exp, find_root, log

FEWEST_SIZES: Final = 3
GRID: Final = 24
"""The number of grid points between two neighbouring sizes, before a bound is refined."""
PRECISION: Final = 1e-4
"""The precision of a bound in log size: a hundredth of a percent."""
Sized = tuple[int, str]
"""Size in bytes, and input id."""


def crossings(at: Measured, comparisons: Sequence[Comparison]) -> tuple[Crossing, ...]:
    """Return every crossover over sizes of one family and seed, variant by variant.

    Args:
        at: the record.
        comparisons: judged comparisons. Those with the baseline determine where there is a
            crossover.
    """
    verdicts = {
        c.cell_id: c.verdict
        for c in comparisons
        if c.family == "headline" and c.metric == at.metric
    }
    results: list[Crossing] = []
    for ladder in scaling.ladders(at.plan, at.inputs):
        sizes = [(size, item.id) for size, item in ladder]
        if len(sizes) < FEWEST_SIZES:
            continue
        for variant in at.plan.variants:
            results += _of_variant(at, variant, sizes, verdicts)
    return tuple(results)


def _of_variant(
    at: Measured, variant: Variant, sizes: Sequence[Sized], verdicts: Mapping[str, Verdict]
) -> Iterator[Crossing]:
    pairs = _pairs(at, variant, sizes)
    if len(pairs) < FEWEST_SIZES:
        return
    ways = [
        (place, verdict.better)
        for place, (_, cell, _) in enumerate(pairs)
        if (verdict := verdicts.get(cell.id)) is not None and verdict.decided
    ]
    for (low, before), (high, after) in itertools.pairwise(ways):
        if before != after:
            yield _crossing(at, variant, pairs[low : high + 1])


def _pairs(at: Measured, variant: Variant, sizes: Sequence[Sized]) -> list[tuple[int, Cell, Cell]]:
    """Return size, candidate and baseline for the sizes at which both were measured."""
    pairs = []
    for size, input_id in sizes:
        cells = at.plan.cells_of(input_id)
        candidate = next(
            (c for c in cells if c.variant_id == variant.id and c.role is Role.CANDIDATE), None
        )
        baseline = at.plan.baseline_cell(input_id)
        if (
            candidate is not None
            and baseline is not None
            and {candidate.id, baseline.id} <= at.usable
        ):
            pairs.append((size, candidate, baseline))
    return pairs


def _crossing(at: Measured, variant: Variant, pairs: Sequence[tuple[int, Cell, Cell]]) -> Crossing:
    ratios = []
    for _, candidate, baseline in pairs:
        rounds, logs = at.logs([candidate.id, baseline.id], candidate.input_id)
        ratios.append(dict(zip(rounds, logs[:, 0] - logs[:, 1], strict=True)))
    common = [r for r in ratios[0] if all(r in by_round for by_round in ratios)]
    level = 1 - at.plan.judge.level / max(1, at.looks.count)
    table = np.array([[by_round[r] for by_round in ratios] for r in common]).reshape(
        len(common), len(ratios)
    )
    places = [log(size) for size, _, _ in pairs]
    place = turning(places, table, level) if len(common) >= FEWEST_ROUNDS else None
    first, last = pairs[0], pairs[-1]
    return Crossing(
        cell_ids=(first[1].id, first[2].id, last[1].id, last[2].id),
        variant_id=variant.id,
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

    Args:
        places: log sizes, ascending (at least two).
        ratios: log ratios, shape (rounds, sizes).
        level: level of the interval.

    Returns:
        Estimate and bounds in log size. `None` if the intervals of the typical ratios of the two
            ends are not on opposite sides of zero. No place can be interpolated then.
    """

    def bounds(place: float) -> intervals.Bounds:
        return intervals.typical(interpolated(places, ratios, place), level)

    first, last = bounds(places[0]), bounds(places[-1])
    if not (first.lo > 0 > last.hi or first.hi < 0 < last.lo):
        return None
    estimate = drop_unstable_digits(
        find_root(lambda x: bounds(x).estimate, places[0], places[-1], PRECISION / 10)
    )
    steps = GRID * (len(places) - 1)
    grid = np.linspace(places[0], places[-1], steps + 1).tolist()
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
