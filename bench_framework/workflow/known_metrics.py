"""Metrics that a worker was expected to report, held against what it announces, before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bench_framework.errors import MachineError
from bench_framework.model.metrics import METRICS

if TYPE_CHECKING:
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build


def require_known(plan: Plan, builds: Sequence[Build]) -> None:
    """Refuse a judged metric that neither benchctl, nor the scenario, nor any worker of it knows.

    Raises:
        MachineError: BX252, with what the workers announce; or one of them says that no direction of it is better.
    """
    announced: dict[str, str] = {}
    for build in builds:
        said = (build.describe or {}).get("metrics")
        for entry in said if isinstance(said, Sequence) and not isinstance(said, str) else ():
            if isinstance(entry, Mapping) and "name" in entry:
                announced[str(entry["name"])] = str(entry.get("direction", "none"))
    known = {*METRICS, *(metric.name for metric in plan.metrics)}
    for metric in plan.judge.metrics:
        if metric in known or announced.get(metric) in {"lower", "higher"}:
            continue
        told = (
            ", ".join(name for name, way in announced.items() if way in {"lower", "higher"})
            or "none"
        )
        why = (
            "says that neither direction of it is better"
            if metric in announced
            else "announces no such metric"
        )
        raise MachineError(
            f"`{metric}` cannot be judged: the worker {why}",
            code="BX252",
            details=(("it announces", told),),
            effect="nothing was measured",
            help=f"take it out of `judge`, or declare it: metrics: {{{metric}: {{from: worker, direction: lower}}}}",
        )
