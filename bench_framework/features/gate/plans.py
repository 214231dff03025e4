"""The plans of the gate's two passes, and the policies by which they are judged."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bench_framework.features.gate.outcome import timed_metrics
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan.declarations import Note
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import JudgePolicy, Metric
from bench_framework.model.result.gate import CONFIRMATION_LEVEL, Gating
from bench_framework.text.write import render

FEWEST_CONFIRMING: Final = 18
"""Least limit of rounds of a second pass, and its fewest rounds if memory is measured."""


def narrowed(plan: Plan, ids: frozenset[str]) -> Plan:
    """Return the plan with these candidates, and baseline and A/A control of their inputs."""
    chosen = {c.id: c.input_id for c in plan.cells if c.id in ids and c.role is Role.CANDIDATE}
    inputs, of_inputs = set(chosen.values()), (Role.BASELINE, Role.CONTROL)
    cells = tuple(
        cell
        for cell in plan.cells
        if cell.id in chosen or (cell.input_id in inputs and cell.role in of_inputs)
    )
    baselines = [cell.variant_id for cell in cells if cell.role is Role.BASELINE]
    used = {cell.variant_id for cell in cells}
    variants = tuple(v for v in plan.variants if v.id in used)
    builds = {v.build.id for v in variants if v.build is not None}
    return replace(
        plan,
        builds=tuple(build for build in plan.builds if build.id in builds),
        variants=variants,
        inputs=tuple(item for item in plan.inputs if item.id in inputs),
        cells=cells,
        holes=(),
        experiments=(),
        named=(),
        derived=(),
        baseline_id=(*baselines, plan.baseline_id)[0],
    )


def policy_of(
    policy: JudgePolicy, metrics: tuple[Metric, ...], margins: Mapping[Metric, float], level: float
) -> JudgePolicy:
    """Return a policy with the metrics, margins and level of a pass of the gate."""
    known = dict(policy.margins) | dict(margins)
    # A judgement needs one metric, even if no timed metric is gated and only memory is judged.
    return replace(policy, metrics=metrics or (WALL,), margins=tuple(known.items()), level=level)


def repetition(first: Gating) -> str:
    """Return the pairs that are measured again as a phrase."""
    suspicious = len(first.in_state("suspicious"))
    return render("repetition", suspicious, len(first.to_repeat) - suspicious)


def confirmation_plan(plan: Plan, first: Gating, record_id: str) -> Plan | None:
    """Return the plan of the second measurement, or `None` if no pair is measured again.

    It contains the cells of these pairs with their baseline and control, and as many rounds as the plan
    of the first one allows. Its family consists of these cells and all gated times, because any of
    them can confirm that a cell is worse. It has its own level, because its rounds are new.
    """
    repeated = first.to_repeat
    if not repeated:
        return None
    narrow = narrowed(plan, frozenset(pair.cell_id for pair in repeated))
    policy, measure = plan.judge.gate, plan.measure.in_one_session
    metrics = timed_metrics(policy)
    judged = policy_of(plan.judge, metrics, policy.tolerated, CONFIRMATION_LEVEL)
    memory = any(pair.metric == PEAK_RSS for pair in repeated)
    most = max(FEWEST_CONFIRMING, measure.rounds_max)
    note = Note(
        render("second_measurement_title"),
        render("second_measurement", repetition(first), record_id),
    )
    return replace(
        narrow,
        judge=judged,
        further_baselines=(),
        contrasts=(),
        notes=(*plan.notes, note),
        instructions=None,
        profile=None,
        confirms=record_id,
        measure=replace(
            measure,
            rounds_min=FEWEST_CONFIRMING if memory else measure.rounds_min,
            rounds_max=most,
            until="conclusive",
            precision=None,
            strategy="fixed",
            seed=measure.seed + 1,
        ),
    )
