"""The comparisons of a plan, which are fixed before the start."""

from collections.abc import Iterable, Iterator
from typing import Final

from bench_framework.model.plan.declarations import Hypothesis, NamedContrast
from bench_framework.model.plan.plan import Cell, Hole, Plan, Role
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason, ReasonCode

MOST_NAMED: Final = 12
"""Benchmarks that a remark names."""


def baseline_pairs(plan: Plan, input_id: str) -> tuple[tuple[Cell, Cell], ...]:
    """Return the candidates of an input, each with its (first) baseline."""
    baseline = plan.baseline_cell(input_id)
    candidates = (cell for cell in plan.cells_of(input_id) if cell.role is Role.CANDIDATE)
    return tuple((cell, baseline) for cell in candidates) if baseline is not None else ()


def reference_pairs(plan: Plan, input_id: str) -> tuple[tuple[Cell, Cell], ...]:
    """Return the pairs of candidate and further reference, each pair of cells once.

    The pair of a further reference and the first baseline is a headline comparison and is not
    repeated here in the opposite direction. Two further references are paired only once.
    """
    cells = [cell for cell in plan.cells_of(input_id) if cell.role is Role.CANDIDATE]
    pairs: list[tuple[Cell, Cell]] = []
    for place, variant_id in enumerate(plan.further_baselines):
        reference = next((cell for cell in cells if cell.variant_id == variant_id), None)
        if reference is not None:
            earlier = plan.further_baselines[: place + 1]
            pairs += [(cell, reference) for cell in cells if cell.variant_id not in earlier]
    return tuple(pairs)


def contrast_cells(plan: Plan, input_id: str) -> tuple[tuple[NamedContrast, Cell, Cell], ...]:
    """Return the named contrasts of an input, each with its candidate and its reference."""
    cells = _compared_cells(plan, input_id)
    return tuple(
        (contrast, cells[contrast.variant_id], cells[contrast.reference_id])
        for contrast in plan.contrasts
        if input_id in contrast.input_ids
        and contrast.metric in plan.judge.metrics
        and {contrast.variant_id, contrast.reference_id} <= cells.keys()
    )


def hypothesis_cells(plan: Plan, input_id: str) -> tuple[tuple[Hypothesis, Cell, Cell], ...]:
    """Return the hypotheses of an input, each with its candidate and its reference."""
    cells = _compared_cells(plan, input_id)
    return tuple(
        (h, cells[h.variant_id], cells[h.reference_id])
        for h in plan.hypotheses
        if {h.variant_id, h.reference_id} <= cells.keys()
    )


def contrast_pairs(plan: Plan, input_id: str) -> tuple[tuple[Cell, Cell, Metric], ...]:
    """Return the pairs of named contrasts and hypotheses without a baseline, each pair once."""
    baseline = plan.baseline_cell(input_id)
    further = {frozenset(pair) for pair in reference_pairs(plan, input_id)}
    pairs: dict[tuple[frozenset[Cell], Metric], tuple[Cell, Cell, Metric]] = {}
    requested = [(cell, ref, c.metric) for c, cell, ref in contrast_cells(plan, input_id)]
    requested += [
        (cell, ref, h.metric or plan.judge.headline)
        for h, cell, ref in hypothesis_cells(plan, input_id)
    ]
    for cell, reference, metric in requested:
        both = frozenset((cell, reference))
        if baseline not in both and both not in further:
            pairs.setdefault((both, metric), (cell, reference, metric))
    return tuple(pairs.values())


def _compared_cells(plan: Plan, input_id: str) -> dict[str, Cell]:
    """Return variant id → cell of the cells of an input that are compared."""
    return {cell.variant_id: cell for cell in plan.compared_cells(input_id)}


def comparisons_planned(plan: Plan) -> int:
    """Return the number M of comparisons: candidate × reference × metric × input, and named contrasts."""
    candidates = sum(len(baseline_pairs(plan, item.id)) for item in plan.inputs)
    further = sum(len(reference_pairs(plan, item.id)) for item in plan.inputs)
    contrasts = sum(
        metric in plan.judge.sampled
        for item in plan.inputs
        for _, _, metric in contrast_pairs(plan, item.id)
    )
    return (candidates + further) * len(plan.judge.sampled) + contrasts


def lone_benches(holes: Iterable[Hole]) -> Iterator[Reason]:
    """Yield for each side that lacks benchmarks their number, the side and the first names."""
    names: dict[str, dict[str, None]] = {}
    for hole in holes:
        if hole.reason.code is ReasonCode.BENCH_ON_ONE_SIDE:
            names.setdefault(str(hole.reason.detail), {})[hole.values[-1][1]] = None
    for side, lone in names.items():
        listed = (*[*lone][:MOST_NAMED], *(("…",) if len(lone) > MOST_NAMED else ()))
        detail = (len(lone), side, Reason(ReasonCode.LIST, listed))
        yield Reason(ReasonCode.LONE_BENCHES, detail)
