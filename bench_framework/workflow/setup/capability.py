"""Variants that this machine cannot run, or runs below what it offers, as the worker reports."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench_framework.errors import MachineError
from bench_framework.model.metrics import METRICS
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.plan.plan import Hole, Plan, Role
from bench_framework.model.plan.policies import Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.description import (
    Description,
    Setting,
    announced_metrics,
    settings_with,
)
from bench_framework.model.record.run import Build, Event
from bench_framework.text.errors import new_event
from bench_framework.text.reasons import phrase
from bench_framework.units import counted


def leave_out(plan: Plan, descriptions: Mapping[str, Description]) -> Plan:
    """Return the plan without the variants that this machine cannot run; each becomes a hole with its reason.

    The descriptions are by build id, or "program" for a program that is not built. A variant
    without one is kept.

    Raises `MachineError` (BX223): the baseline or all candidates cannot run here.
    """
    reasons: dict[str, Reason] = {}
    for variant, (axis, value, reason) in settings_with("unavailable", plan, descriptions):
        unavailable = Reason(ReasonCode.UNAVAILABLE, reason, f"{axis}={value}")
        reasons.setdefault(variant.id, unavailable)
    if not reasons:
        return plan
    if plan.baseline_id in reasons:
        raise MachineError(
            "BX223.baseline", reason=phrase(reasons[plan.baseline_id]), scenario=plan.scenario_path
        )
    candidates = {cell.variant_id for cell in plan.cells if cell.role is Role.CANDIDATE}
    if candidates and candidates <= reasons.keys():
        details = tuple(("reason", phrase(reason)) for reason in dict.fromkeys(reasons.values()))
        raise MachineError("BX223.candidates", details=details, scenario=plan.scenario_path)
    return _without(plan, reasons)


def narrowed_as(plan: Plan, measured: Plan) -> Plan:
    """Return a plan without the variants that another machine left out when it measured this plan.

    `measured` is the plan of its record. A plan that is not the same in another respect differs from the result.
    """
    runnable, holes = {v.id for v in measured.variants}, measured.holes[len(plan.holes) :]
    reasons = {
        variant.id: hole.reason
        for variant in plan.variants
        if variant.id not in runnable
        for hole in holes
        if hole.values[: len(variant.values)] == variant.values
    }
    return _without(plan, reasons)


def _without(plan: Plan, reasons: Mapping[str, Reason]) -> Plan:
    """Return the plan with holes in place of the variants that have a reason."""
    cells = tuple(cell for cell in plan.cells if cell.variant_id not in reasons)
    holes = [
        Hole(plan.values_of(c), reasons[c.variant_id])
        for c in plan.cells
        if c.variant_id in reasons and c.role is not Role.CONTROL
    ]
    variants = tuple(variant for variant in plan.variants if variant.id not in reasons)
    specs = [variant.build for variant in variants]
    gate = plan.judge.gate.with_cells({cell.id: (cell.id,) for cell in cells})
    return replace(
        plan,
        variants=variants,
        cells=cells,
        holes=(*plan.holes, *holes),
        builds=tuple(spec for spec in plan.builds if spec in specs),
        further_baselines=tuple(v for v in plan.further_baselines if v not in reasons),
        experiments=tuple(e for e in plan.experiments if e.variant_id not in reasons),
        named=tuple(cell for cell in plan.named if cell.variant_id not in reasons),
        judge=replace(plan.judge, gate=gate),
    )


def limits(plan: Plan, descriptions: Mapping[str, Description]) -> tuple[Event, ...]:
    """Return event BX312 for each value that runs below what this machine offers."""
    limited: dict[Setting, list[str]] = {}
    for variant, setting in settings_with("limited", plan, descriptions):
        limited.setdefault(setting, []).append(variant.label)
    return tuple(
        new_event(
            "BX312",
            details=(("variants", ", ".join(labels)),),
            axis=axis,
            value=value,
            reason=reason,
            variants=counted(len(labels), "variant"),
        )
        for (axis, value, reason), labels in limited.items()
    )


def require_known(
    judged: Sequence[Metric], declared: Sequence[DeclaredMetric], builds: Sequence[Build]
) -> None:
    """Refuse a judged metric that neither benchctl, nor the scenario, nor any of its workers knows.

    Raises `MachineError` (BX252): no worker announces the metric, or a worker announces it without
    a direction (lower or higher is better).
    """
    announced = {
        str(entry["name"]): str(entry.get("direction", "none"))
        for build in builds
        for entry in announced_metrics(build)
    }
    usable = [name for name, direction in announced.items() if direction in {"lower", "higher"}]
    known = {*METRICS, *(metric.name for metric in declared), *usable}
    for metric in judged:
        if metric in known:
            continue
        details = (("announced", ", ".join(usable) or "none"),)
        raise MachineError("BX252", details=details, metric=metric, announced=metric in announced)
