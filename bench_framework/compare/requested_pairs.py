"""Pairs that somebody chose after the data were seen, judged as one family: exploratory, and adjusted all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.compare import cache_states, cell_state, interim_analysis, same_programs
from bench_framework.compare import samples as sampling
from bench_framework.compare.refusals import refused
from bench_framework.compare.stage import Stage
from bench_framework.model.looks import looks_of
from bench_framework.model.plan import Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.compare.stage import Request
    from bench_framework.model.judgement import Comparison
    from bench_framework.model.looks import Looks
    from bench_framework.model.plan import Cell, Plan
    from bench_framework.model.policies import Metric
    from bench_framework.model.run import Block, Build, Look

Pair = tuple["Cell", "Cell"]
"""Candidate, reference; both of one input."""


def axis_pairs(plan: Plan, axis: str, kept: frozenset[str]) -> tuple[Pair, ...]:
    """Every cell against the cell that differs from it in one axis alone, where that has the baseline's value.

    Args:
        plan: with a build or run axis of this name.
        axis: whose levels are compared.
        kept: ids of the cells that may take part.
    """
    start = dict(plan.variant(plan.baseline_id).values)[axis]
    cells = [
        c
        for c in plan.cells
        if c.id in kept
        and c.role in (Role.BASELINE, Role.CANDIDATE)
        and plan.variant(c.variant_id).experiment is None
    ]
    place = {(c.input_id, tuple(sorted(plan.variant(c.variant_id).values))): c for c in cells}
    found = []
    for cell in cells:
        values = dict(plan.variant(cell.variant_id).values)
        other = place.get((cell.input_id, tuple(sorted((values | {axis: start}).items()))))
        if other is not None and values[axis] != start:
            found.append((cell, other))
    return tuple(found)


def judge_chosen(
    plan: Plan,
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    taken: Sequence[Look],
    pairs: Sequence[Pair],
    metrics: Sequence[Metric],
) -> tuple[tuple[Comparison, ...], Looks]:
    """Comparisons of these pairs, Holm over all of them, at the looks that were taken; and the schedule with their M.

    Args:
        plan: as measured.
        blocks: of the record.
        builds: by id.
        taken: looks of the record.
        pairs: chosen; the order of the result is metric by metric within each.
        metrics: sampled ones.
    """
    samples = sampling.collect(blocks, cache_states.needed(plan))
    found = cell_state.cell_states(plan, samples, builds, sampling.warm_ups(blocks))
    usable = frozenset(s.cell_id for s in found if s.state == "measured")
    size = max(1, len(pairs) * len(metrics))
    looks = looks_of(plan).shared_by(size, plan.judge.level)
    stages = {
        item.id: Stage(
            plan,
            looks,
            samples,
            tuple(sorted({look.round for look in taken if look.input_id == item.id})),
            max((look.index for look in taken if look.input_id == item.id), default=0),
            usable,
            higher=cell_state.higher_is_better(plan, builds),
            seed=plan.measure.seed,
            same=same_programs.same_cells(plan, builds),
        )
        for item in plan.inputs
    }
    requests: list[Request] = [
        (stages[cell.input_id], (cell, ref, metric)) for cell, ref in pairs for metric in metrics
    ]
    judged = interim_analysis.judge_pairs(requests, "headline", size=size)
    tripped = {item_id for item_id, stage in stages.items() if _tripped(stage, item_id)}
    state_of = {s.cell_id: s for s in found}
    return tuple(
        refused(
            plan,
            interim_analysis.trip((c,))[0] if plan.cell(c.cell_id).input_id in tripped else c,
            state_of,
            samples,
        )
        for c in judged
    ), looks


def _tripped(stage: Stage, input_id: str) -> bool:
    control = interim_analysis.judge_pairs(
        interim_analysis.control_pairs(stage, input_id), "control"
    )
    return any(c.verdict.decided for c in control)
