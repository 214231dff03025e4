"""Check that all judged metrics are known, before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bench_framework.errors import MachineError
from bench_framework.model.metrics import METRICS

if TYPE_CHECKING:
    from bench_framework.model.plan import Plan
    from bench_framework.model.run import Build


def require_known(plan: Plan, builds: Sequence[Build]) -> None:
    """Refuse a judged metric that neither benchctl, nor the scenario, nor any of its workers knows.

    Raises:
        MachineError: BX252, no worker announces the metric, or a worker announces it without a
            direction (lower or higher is better).
    """
    announced: dict[str, str] = {}
    for build in builds:
        metrics = (build.describe or {}).get("metrics")
        if not isinstance(metrics, Sequence) or isinstance(metrics, str):
            continue
        for entry in metrics:
            if isinstance(entry, Mapping) and "name" in entry:
                announced[str(entry["name"])] = str(entry.get("direction", "none"))
    known = {*METRICS, *(metric.name for metric in plan.metrics)}
    for metric in plan.judge.metrics:
        if metric in known or announced.get(metric) in {"lower", "higher"}:
            continue
        usable = [name for name, direction in announced.items() if direction in {"lower", "higher"}]
        reason = (
            "announces it without a direction"
            if metric in announced
            else "announces no such metric"
        )
        raise MachineError(
            f"metric `{metric}` cannot be judged: the worker {reason}",
            code="BX252",
            details=(("announced", ", ".join(usable) or "none"),),
            effect="nothing was measured",
            help=f"remove it from `judge`, or declare it: "
            f"metrics: {{{metric}: {{from: worker, direction: lower}}}}",
        )
