"""The cost of a race, and the winner over each dropped cell, from comparisons alone."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from bench_framework.compare.samples import Sample
from bench_framework.model.judgement import BestGroup, Comparison
from bench_framework.model.plan import Plan
from bench_framework.model.race import Lost, Race
from bench_framework.model.run import Look


def race_of(
    plan: Plan,
    samples: Mapping[str, Sample],
    looks: Sequence[Look],
    best: Sequence[BestGroup],
    headline: Sequence[Comparison],
) -> Race | None:
    """Return the race of a record, or `None` if its strategy is not a race."""
    if plan.measure.strategy != "race":
        return None
    left = {cell_id for look in looks for cell_id in look.dropped}
    comparisons = [*best_pairs(best), *headline]
    groups = {cell_id for group in best for cell_id in group.cell_ids}
    order = [cell.id for cell in plan.cells]
    lost = []
    for cell_id in (c for c in order if c in left and c in samples):
        winners = {c.ref_cell_id for c in comparisons if c.cell_id == cell_id and c.verdict.worse}
        ranked = sorted(winners, key=lambda c: (c not in groups, order.index(c)))
        beaten = any(cell_id in look.trailing for look in looks)
        lost.append(
            Lost(cell_id, samples[cell_id].rounds, beaten, ranked[0] if ranked and beaten else None)
        )
    most = plan.measure.rounds_max
    if plan.measure.budget_s is not None:  # the budget may not have allowed so many
        most = max((sample.rounds for sample in samples.values()), default=0)
    per_block = [list(samples[cell.id].runs.values()) for cell in plan.cells if cell.id in samples]
    # The runs in each block of a cell are fixed after the warm-up.
    fixed = sum(most * round(statistics.median(runs or [1])) for runs in per_block)
    runs = sum(map(sum, per_block))
    return Race(runs, fixed, most, tuple(lost))


def best_pairs(best: Sequence[BestGroup]) -> tuple[Comparison, ...]:
    """Return every pair of the best groups' families, in both orders."""
    return tuple(c for group in best for pair in group.comparisons for c in (pair, pair.mirrored()))
