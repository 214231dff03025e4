"""Analysis of the axes of a record: effects, contributions, crossovers and Pareto fronts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from bench_framework.compare.medians import EXACT_METRICS
from bench_framework.features.ablation import compute as ablation
from bench_framework.features.effects import compute as effects
from bench_framework.features.experiments import before_after
from bench_framework.features.pareto import compute as pareto
from bench_framework.features.scaling import crossover
from bench_framework.model.structure import Structure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.compare.contrasts import Measured
    from bench_framework.model.judgement import BestGroup, Comparison, Summary
    from bench_framework.model.run import Build


def structure(
    at: Measured,
    comparisons: Sequence[Comparison],
    best: Sequence[BestGroup],
    summaries: Sequence[Summary],
    builds: Mapping[str, Build],
) -> Structure:
    """Return effects, contributions, crossovers and Pareto fronts of a record.

    A main metric that is the same in every run has no effects, because these are computed by round.
    """
    every = [*comparisons, *(c for g in best for c in g.comparisons)]
    fronts = pareto.fronts(at.plan, summaries, builds, at.usable, at.same, every)
    pairs = before_after.replacements(at, every)
    way: Literal["lower", "higher"] = "higher" if at.higher else "lower"
    if at.metric in EXACT_METRICS:
        return Structure(fronts=fronts, replacements=pairs, direction=way)
    judged = before_after.judged_pairs(every, at.metric)
    printed = {(r.after_cell_id, r.before_cell_id) for r in pairs}
    reported = {
        ids: c for ids, c in judged.items() if c.family != "best" or printed & {ids, ids[::-1]}
    }
    at = replace(at, reported=reported)
    factorials, axis_effects, effect_family = effects.effects(at)
    tables, contribution_family = ablation.contributions(at)
    return Structure(
        factorials,
        axis_effects,
        tables,
        crossover.crossings(at, comparisons),
        fronts,
        pairs,
        way,
        effect_family,
        contribution_family,
    )
