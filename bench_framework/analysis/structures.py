"""What the axes do, of a whole record: effects, contributions, crossings and fronts together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bench_framework.analysis import before_after, contributions, crossover, effects, front
from bench_framework.analysis.medians import EXACT_METRICS
from bench_framework.model.structure import Structure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.analysis.contrasts import Measured
    from bench_framework.model.judgement import BestGroup, Comparison, Summary
    from bench_framework.model.run import Build


def structure(
    at: Measured,
    comparisons: Sequence[Comparison],
    best: Sequence[BestGroup],
    summaries: Sequence[Summary],
    builds: Mapping[str, Build],
) -> Structure:
    """Everything of this part; a headline metric that is the same in every run has no effects by round."""
    found = front.fronts(at.plan, summaries, builds, at.usable)
    pairs = before_after.replacements(at, [*comparisons, *(c for g in best for c in g.comparisons)])
    if at.metric in EXACT_METRICS:
        return Structure(fronts=found, replacements=pairs)
    told = {
        (c.cell_id, c.ref_cell_id): c for c in comparisons if c.family == "headline" and c.metric == at.metric
    }  # fmt: skip
    at = replace(at, told=told)
    factorials, own, effect_family = effects.effects(at)
    tables, contribution_family = contributions.contributions(at)
    return Structure(
        factorials, own, tables, crossover.crossings(at, comparisons), found, pairs, effect_family, contribution_family
    )  # fmt: skip
