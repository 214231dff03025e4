"""The plans that the gate judges and measures, and the levels of its two passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.features.gate.outcome import timed_metrics
from bench_framework.model.declarations import Note
from bench_framework.model.looks import Looks, looks_of
from bench_framework.model.metrics import PEAK_RSS, WALL
from bench_framework.model.plan import Plan, Role
from bench_framework.model.policies import Metric

if TYPE_CHECKING:
    from bench_framework.model.gate import Gating

LEVEL: Final = 0.01
CONFIRMATION_LEVEL: Final = 0.05
FEWEST_CONFIRMING: Final = 18


def strict_plan(plan: Plan) -> Plan:
    """Return the plan with the cells, metrics, margins and level of the gate."""
    chosen = plan.judge.gate.chosen
    narrow = plan if chosen is None else narrowed(plan, frozenset(chosen))
    return judged_by(narrow, timed_metrics(plan.judge.gate), plan.judge.gate.tolerated, LEVEL)


def narrowed(plan: Plan, ids: frozenset[str]) -> Plan:
    """Return the plan with these candidates, and baseline and A/A control of their inputs."""
    inputs = {
        cell.input_id for cell in plan.cells if cell.id in ids and cell.role is Role.CANDIDATE
    }
    cells = tuple(
        cell
        for cell in plan.cells
        if (cell.id in ids and cell.role is Role.CANDIDATE)
        or (cell.input_id in inputs and cell.role in (Role.BASELINE, Role.CONTROL))
    )
    baselines = [cell.variant_id for cell in cells if cell.role is Role.BASELINE]
    variants = {cell.variant_id for cell in cells}
    builds = {v.build.id for v in plan.variants if v.id in variants and v.build is not None}
    return replace(
        plan,
        builds=tuple(build for build in plan.builds if build.id in builds),
        variants=tuple(v for v in plan.variants if v.id in variants),
        inputs=tuple(item for item in plan.inputs if item.id in inputs),
        cells=cells,
        holes=(),
        experiments=(),
        named=(),
        derived=(),
        baseline_id=(*baselines, plan.baseline_id)[0],
    )


def strict_looks(plan: Plan) -> Looks:
    """Return every interim analysis that was possible, for the family of the gate."""
    return looks_of(plan).shared_by(strict_plan(plan).comparisons_planned, LEVEL)


def judged_by(
    plan: Plan, metrics: tuple[Metric, ...], margins: Mapping[Metric, float], level: float
) -> Plan:
    """Return the plan, judged on these metrics with these margins at a level."""
    known = dict(plan.judge.margins) | dict(margins)
    # A judgement needs one metric, even if no timed metric is gated and only memory is judged.
    judged = replace(
        plan.judge, metrics=metrics or (WALL,), margins=tuple(known.items()), level=level
    )
    return replace(plan, judge=judged, further_baselines=(), contrasts=())


def rounds_needed(plan: Plan) -> int | None:
    """Return the rounds that this gate needs for any finding, or `None` if the plan has them."""
    looks = strict_looks(plan)
    return None if looks.decidable or not timed_metrics(plan.judge.gate) else looks.needed


def confirmation_plan(plan: Plan, first: Gating, record_id: str) -> Plan | None:
    """Return the plan of the second measurement, or `None` if no pair is suspicious.

    It contains the suspicious cells with their baseline and control, and as many rounds as the plan
    of the first one allows. Its family consists of these cells and all gated times, because any of
    them can confirm that a cell is worse. It has its own level, because its rounds are new.
    """
    suspicious = first.in_state("suspicious")
    if not suspicious:
        return None
    narrow = narrowed(plan, frozenset(pair.cell_id for pair in suspicious))
    policy, measure = plan.judge.gate, plan.measure
    judged = judged_by(narrow, timed_metrics(policy), policy.tolerated, CONFIRMATION_LEVEL)
    memory = any(pair.metric == PEAK_RSS for pair in suspicious)
    most = max(FEWEST_CONFIRMING, measure.rounds_max)
    note = Note(
        "What this record is",
        f"The gate measured the suspicious pairs of record {record_id} again, in fresh rounds.",
    )
    return replace(
        judged,
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
