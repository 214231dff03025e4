"""The comparisons of ``benchctl compare --axis``: levels of one axis, with all else equal.

The user chooses the pairs after seeing the data, so they are one Holm family and exploratory.
"""

from collections.abc import Mapping, Sequence

from bench_framework.compare import interim_analysis
from bench_framework.compare.cell_state import refuse_invalid
from bench_framework.compare.pairs import judge_pairs
from bench_framework.compare.stage import runs_of, stages_of
from bench_framework.model.plan.looks import Looks, looks_of
from bench_framework.model.plan.plan import Cell, Plan
from bench_framework.model.plan.policies import Metric
from bench_framework.model.record.run import Block, Build, Look
from bench_framework.model.result.judgement import Comparison

Pair = tuple[Cell, Cell]
"""(candidate, reference), both on the same input."""


def axis_pairs(plan: Plan, axis: str, included: frozenset[str]) -> tuple[Pair, ...]:
    """Pair each included cell with the one that differs only in an axis and has its baseline value."""
    start = dict(plan.baseline.values)[axis]
    cells = [c for c in plan.cells if c.id in included and c.role.compared]
    cells = [c for c in cells if plan.variant(c.variant_id).experiment is None]
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
    stages = stages_of(plan, plan.judge, runs, looks, taken)
    cell_pairs = [
        cell_pair
        for cell, ref in pairs
        for cell_pair in interim_analysis.pairs_of(
            stages[cell.input_id], ((cell, ref, metric) for metric in metrics)
        )
    ]
    first = stages[plan.inputs[0].id]
    rule = interim_analysis.rule_of(first, "headline", cell_pairs)
    judged = judge_pairs(runs, cell_pairs, rule)
    tripped = {i: interim_analysis.control_differs(stage) for i, stage in stages.items()}
    state_of = {s.cell_id: s for s in runs.states}
    lowered = (
        interim_analysis.make_inconclusive_where_control_differs(
            (c,), tripped[plan.cell(c.cell_id).input_id]
        )
        for c in judged
    )
    return tuple(refuse_invalid(plan, c, state_of, runs.samples) for (c,) in lowered), looks
