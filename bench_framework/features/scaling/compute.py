"""Scaling exponents between neighbouring input sizes (docs/method.md#scaling)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from bench_framework.compare import paired_test
from bench_framework.compare import samples as sampling
from bench_framework.compare.samples import Sample
from bench_framework.model.judgement import Scaling
from bench_framework.model.metrics import WALL
from bench_framework.model.plan import Input, Plan
from bench_framework.model.policies import Metric
from bench_framework.model.run import PreparedInput
from bench_framework.stats import intervals
from bench_framework.stats.portable_math import log

LEVEL: Final = 0.95
LINEAR: Final = (0.95, 1.05)
FEWEST_SIZES: Final = 3
FEWEST_ROUNDS: Final = 6
"""The smallest number of rounds for a 95 % interval."""
GrowthWord = Literal["linear", "sub-linear", "super-linear", "not resolved"]
Sized = tuple[int, "Input"]


def exponents(
    plan: Plan,
    samples: Mapping[str, Sample],
    inputs: Sequence[PreparedInput],
    usable: frozenset[str],
    metrics: Iterable[Metric] = (WALL,),
) -> tuple[Scaling, ...]:
    """Return the exponents between neighbouring sizes of one family and seed, by variant."""
    exponents = []
    for ladder in ladders(plan, inputs):
        for variant in plan.variants:
            for metric in metrics:
                cells = _cells(plan, variant.id, samples, usable)
                exponents += _climb(ladder, variant.id, metric, samples, cells)
    return tuple(exponents)


def ladders(plan: Plan, inputs: Sequence[PreparedInput]) -> tuple[tuple[Sized, ...], ...]:
    """Return groups of at least two inputs that differ only in size, smallest first."""
    prepared = {item.input_id: item for item in inputs}
    sized_axes = {a.name for a in plan.axes if any(v.size_bytes is not None for v in a.values)}
    groups: dict[tuple[object, ...], dict[int, Input]] = {}
    for item in plan.inputs:
        prepared_input = prepared.get(item.id)
        size = (
            prepared_input.size_bytes
            if prepared_input
            else (item.dataset.size_bytes if item.dataset else None)
        )
        family = (
            prepared_input.family
            if prepared_input
            else (item.dataset.family if item.dataset else None)
        )
        seed = (
            prepared_input.seed if prepared_input else (item.dataset.seed if item.dataset else None)
        )
        if not size or family is None:
            continue
        rest = tuple((name, value) for name, value in item.values if name not in sized_axes)
        groups.setdefault((family, seed, rest), {}).setdefault(size, item)
    return tuple(tuple(sorted(g.items())) for g in groups.values() if len(g) > 1)


def _cells(
    plan: Plan, variant_id: str, samples: Mapping[str, Sample], usable: frozenset[str]
) -> dict[str, str]:
    """Return input id → id of the variant's cell, for usable cells."""
    return {
        c.input_id: c.id
        for c in plan.cells
        if c.variant_id == variant_id and c.role != "control" and c.id in usable and c.id in samples
    }


def _climb(
    ladder: Sequence[Sized],
    variant_id: str,
    metric: Metric,
    samples: Mapping[str, Sample],
    cells: Mapping[str, str],
) -> list[Scaling]:
    steps = [(size, item) for size, item in ladder if item.id in cells]
    exponents = []
    for (small, lower), (large, upper) in itertools.pairwise(steps):
        pair = sampling.pair(
            samples[cells[upper.id]].values(metric), samples[cells[lower.id]].values(metric)
        )
        if len(pair) < FEWEST_ROUNDS:
            continue
        x, y = paired_test.logs(pair)
        bounds = intervals.typical((x - y) / log(large / small), LEVEL)
        word = growth_word(bounds.lo, bounds.hi) if len(steps) >= FEWEST_SIZES else "not resolved"
        exponents.append(
            Scaling(
                variant_id,
                metric,
                lower.id,
                upper.id,
                bounds.estimate,
                bounds.lo,
                bounds.hi,
                bounds.level,
                word,
            )
        )
    return exponents


def growth_word(lo: float, hi: float) -> GrowthWord:
    """Classify an exponent: linear if its interval is within [0.95, 1.05]."""
    if LINEAR[0] <= lo and hi <= LINEAR[1]:
        return "linear"
    if hi < LINEAR[0]:
        return "sub-linear"
    return "super-linear" if lo > LINEAR[1] else "not resolved"
