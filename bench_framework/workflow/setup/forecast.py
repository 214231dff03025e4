"""Forecast of a plan: duration, disk space and detectable differences, without building or running it.

Existing binaries are asked for their capabilities. Those of missing binaries are unknown.
"""

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_framework.errors import MeasureError
from bench_framework.execution.machine.host import cache_root, environment, free_bytes
from bench_framework.model.documents.plan import (
    PlanDocument,
    PlannedBuild,
    PlannedCell,
    PlannedHole,
    SessionCount,
)
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.looks import Looks, RoundLimit, limit_of_rounds, limited, looks_of
from bench_framework.model.plan.plan import Dataset, Plan
from bench_framework.model.reasons import Reason
from bench_framework.model.record.description import Description
from bench_framework.text.reasons import phrase
from bench_framework.workflow.setup import time_estimates
from bench_framework.workflow.setup.capability import leave_out
from bench_framework.workflow.setup.time_estimates import UNTIMED_S, EarlierRecord, Resolution


@dataclass(frozen=True, slots=True)
class BuildForecast:
    """A build, the number of variants that share it, and its last build on this machine."""

    spec: BuildSpec
    variants: int
    cached: bool
    build_s: float | None
    """Seconds of its last build; `None` if unknown."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The content of `benchctl plan`. Times are in seconds.

    Attributes:
        looks: schedule; without `rounds` it is that of the largest number of rounds of any plan.
        rounds: number of rounds per input, as many as the plan and its budget allow; `None` if it
            is not known before the warm-up.
        run_s: maximum duration of all rounds.
        round_s: duration of a round of every input.
        benches: labels of the benchmarks of the newest record of the scenario.
    """

    plan: Plan
    looks: Looks
    builds: tuple[BuildForecast, ...]
    datasets: tuple[tuple[Dataset, bool], ...]
    rounds: int | None
    run_s: float
    round_s: float
    basis: Mapping[Reason, int]
    resolution: Resolution
    disk_needed: int
    disk_free: int
    benches: tuple[str, ...] = ()

    @property
    def blocks(self) -> int | None:
        """Number of hyperfine calls, `None` if it is not known before the warm-up."""
        if self.rounds is None:
            return None
        return len(self.plan.cells) * (self.rounds + self.plan.measure.warmups_total)

    @property
    def guessed(self) -> bool:
        """True if the time of any cell is guessed, because there is no earlier record."""
        return time_estimates.GUESSED in self.basis


def forecast_plan(plan: Plan, results: Path) -> Forecast:
    """Return the forecast of a plan. Raises `MachineError`, BX223: it cannot run on this machine."""
    plan = leave_out(plan, _descriptions(plan))
    datasets = _datasets(plan)
    records = time_estimates.earlier_records(plan.name, results)
    per_round, basis = time_estimates.block_times(plan, records)
    per_round += UNTIMED_S * len(plan.cells)
    warmup, budget = plan.measure.warmup_rounds, plan.measure.budget_s
    affordable = math.inf
    if time_estimates.GUESSED not in basis:
        if budget is not None:
            affordable = max(0.0, budget / per_round - warmup)
        if plan.measure.by_budget:
            plan = limited(plan, RoundLimit(limit_of_rounds(plan, affordable)))
        if plan.measure.sessions > 1:  # all have the same number of rounds
            affordable = math.inf
    looks, rounds, resolution = looks_of(plan), None, Resolution()
    if not plan.measure.by_budget:  # otherwise the warm-up decides
        rounds = math.ceil(min(affordable, plan.measure.rounds_max))
        resolution = time_estimates.resolution(plan, looks, records, rounds)
    measure = plan.measure
    run_s = per_round * (measure.rounds_max + measure.warmups_total)
    limit = measure.time_limit_s
    if budget is not None and measure.sessions_min is not None:  # so many are measured in any case
        limit = max(budget, run_s * measure.sessions_min / measure.sessions)
    return Forecast(
        plan=plan,
        looks=looks,
        builds=_builds(plan, records),
        datasets=datasets,
        rounds=rounds,
        run_s=min(run_s, limit),
        round_s=per_round,
        basis=basis,
        resolution=resolution,
        disk_needed=sum(d.size_bytes or 0 for d, there in datasets if not there),
        disk_free=free_bytes(results),
        benches=_benches(plan, records),
    )


def _benches(plan: Plan, records: Sequence[EarlierRecord]) -> tuple[str, ...]:
    if plan.benches is None:
        return ()
    mine = (record.plan.inputs for record in records if record.plan.name == plan.name)
    labels = (tuple(item.label for item in inputs if item.bench) for inputs in mine)
    return next(filter(None, labels), ())


def forecast_document(forecast: Forecast) -> PlanDocument:
    """Return the JSON document of `benchctl plan --json`."""
    plan = forecast.plan
    return PlanDocument(
        scenario=plan.name,
        scenario_sha256=plan.scenario_sha256,
        variants=tuple(variant.label for variant in plan.variants),
        inputs=tuple(item.label for item in plan.inputs),
        cells=tuple(PlannedCell(c.id, c.label, c.role) for c in plan.cells),
        holes=tuple(PlannedHole(dict(h.values), h.reason, h.rule) for h in plan.holes),
        builds=tuple(PlannedBuild(b.spec.id, b.variants, b.cached) for b in forecast.builds),
        rounds=forecast.rounds,
        sessions=SessionCount(plan.measure.fewest_sessions, plan.measure.sessions),
        looks=forecast.looks.rounds if forecast.rounds else None,
        rounds_needed=forecast.looks.needed,
        comparisons=forecast.looks.family,
        blocks=forecast.blocks,
        run_s=forecast.run_s,
        basis={phrase(source): n for source, n in forecast.basis.items()},
        resolution=dict(forecast.resolution.by_metric),
        resolution_record=forecast.resolution.record or None,
        disk_needed_bytes=forecast.disk_needed,
        disk_free_bytes=forecast.disk_free,
    )


def _datasets(plan: Plan) -> tuple[tuple[Dataset, bool], ...]:
    from bench_framework.execution.inputs import datasets

    env = environment()
    folder = datasets.data_dir(plan.data_dir, env)
    unique = dict.fromkeys(item.dataset for item in plan.inputs if item.dataset is not None)
    return tuple((dataset, datasets.is_present(dataset, folder, env)) for dataset in unique)


def _descriptions(plan: Plan) -> dict[str, Description]:
    """Return the descriptions of existing binaries, which do no work for that, by build id."""
    if not plan.answer.contract:
        return {}
    from bench_framework.execution import process
    from bench_framework.execution.build import binaries
    from bench_framework.execution.inputs import datasets

    env = environment()
    place = datasets.workplace(plan, env)
    descriptions: dict[str, Description] = {}
    with process.Launcher() as launcher:
        for spec in plan.builds:
            binary = time_estimates.built_binary(spec, cache_root(env))
            if binary is not None:
                with contextlib.suppress(MeasureError):
                    descriptions[spec.id] = binaries.describe([str(binary)], launcher, env, place)
    return descriptions


def _builds(plan: Plan, records: Sequence[EarlierRecord]) -> tuple[BuildForecast, ...]:
    known = next((record.builds for record in records if record.plan.name == plan.name), {})
    forecasts = []
    for spec in dict.fromkeys(spec.program for spec in plan.builds):
        if spec.installed:
            continue
        sharing = sum(1 for v in plan.variants if v.build is not None and v.build.program == spec)
        last = known.get(spec.id)
        # Only cargo knows if sources have changed since the last build; `run` asks it.
        there = time_estimates.built_binary(spec, cache_root()) is not None
        forecasts.append(BuildForecast(spec, sharing, there, last.build_s if last else None))
    return tuple(forecasts)
