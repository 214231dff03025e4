"""Pairs that a user requests after seeing the data: one Holm family, exploratory."""

from collections.abc import Mapping, Sequence

from bench_framework.compare import interim_analysis
from bench_framework.compare.cell_state import refuse_invalid
from bench_framework.compare.stage import Request, runs_of, stage_of
from bench_framework.model.judgement import Comparison
from bench_framework.model.looks import Looks, looks_of
from bench_framework.model.plan import Cell, Plan
from bench_framework.model.policies import Metric
from bench_framework.model.run import Block, Build, Look

Pair = tuple["Cell", "Cell"]
"""(candidate, reference), both on the same input."""


def axis_pairs(plan: Plan, axis: str, included: frozenset[str]) -> tuple[Pair, ...]:
    """Pair each included cell with the one that differs only in an axis and has its baseline value."""
    start = dict(plan.variant(plan.baseline_id).values)[axis]
    cells = [
        c
        for c in plan.cells
        if c.id in included and c.role.compared and plan.variant(c.variant_id).experiment is None
    ]
    place = {(c.input_id, tuple(sorted(plan.variant(c.variant_id).values))): c for c in cells}
    pairs = []
    for cell in cells:
        values = dict(plan.variant(cell.variant_id).values)
        other = place.get((cell.input_id, tuple(sorted((values | {axis: start}).items()))))
        if other is not None and values[axis] != start:
            pairs.append((cell, other))
    return tuple(pairs)


def judge_requested(
    plan: Plan,
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    taken: Sequence[Look],
    pairs: Sequence[Pair],
    metrics: Sequence[Metric],
) -> tuple[tuple[Comparison, ...], Looks]:
    """Judge the requested pairs as one family, at the interim analyses that were taken.

    The comparisons are returned by pair, then by metric, with the schedule for their family size M.
    """
    runs = runs_of(plan, blocks, builds)
    size = max(1, len(pairs) * len(metrics))
    looks = looks_of(plan).shared_by(size, plan.judge.level)
    stages = {item.id: stage_of(runs, looks, taken, item.id) for item in plan.inputs}
    requests: list[Request] = [
        (stages[cell.input_id], (cell, ref, metric)) for cell, ref in pairs for metric in metrics
    ]
    judged = interim_analysis.judge_pairs(requests, "headline", size=size)
    tripped = {
        item_id: interim_analysis.control_differs(stage, item_id)
        for item_id, stage in stages.items()
    }
    state_of = {s.cell_id: s for s in runs.states}
    return tuple(
        refuse_invalid(
            plan,
            interim_analysis.trip((c,), tripped[plan.cell(c.cell_id).input_id])[0],
            state_of,
            runs.samples,
        )
        for c in judged
    ), looks
