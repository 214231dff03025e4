"""What a plan would cost and what it could decide, without building or running anything.

Binaries that are there already are asked what they can do here; those that are not can tell it only once built.
"""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench_framework.model.looks import Looks, looks_of
from bench_framework.workflow import time_estimates
from bench_framework.workflow.capability import leave_out
from bench_framework.workflow.run_options import RunOptions, plan_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from bench_framework.model.plan import BuildSpec, Dataset, Plan
    from bench_framework.store.journal import Contents
    from bench_framework.workflow.capability import Description
    from bench_framework.workflow.time_estimates import Resolution

UNTIMED_S = 0.012
"""benchctl and hyperfine around a block; `nox -s bench` prints what it is here."""


@dataclass(frozen=True, slots=True)
class BuildForecast:
    """One build: the variants that share it, and whether it was built here before."""

    spec: BuildSpec
    variants: int
    cached: bool
    build_s: float | None
    """Seconds of its last build; `None` if it was never built here."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What `benchctl plan` prints. Times in seconds.

    Attributes:
        run_s: of all rounds, at most.
        basis: where the estimate comes from: cells by source.
        resolution: what differences the plan can decide, by the noise of an earlier record on this host.
    """

    plan: Plan
    looks: Looks
    builds: tuple[BuildForecast, ...]
    datasets: tuple[tuple[Dataset, bool], ...]
    blocks: int
    run_s: float
    basis: Mapping[str, int]
    resolution: Resolution
    disk_needed: int
    disk_free: int

    @property
    def guessed(self) -> bool:
        """Whether the time of any cell is a guess, for want of a record."""
        return time_estimates.GUESSED in self.basis


def forecast_scenario(
    name: str,
    *,
    results: Path,
    only: str | None = None,
    overrides: Sequence[str] = (),
    base: str | None = None,
    head: str | None = None,
) -> Forecast:
    """Expand a scenario, at two revisions if `base` names one, and estimate it from earlier records.

    Raises:
        ScenarioError, UsageError, BuildError, GateError: as `plan_run`.
        MachineError: BX223, what is asked cannot run here.
    """
    plan = plan_run(name, RunOptions(results, only, overrides, base=base, head=head))
    plan = leave_out(plan, _descriptions(plan))
    looks = looks_of(plan)
    datasets = _datasets(plan)
    earlier = _last_record(plan, results)
    found = time_estimates.precedents(plan, results)
    per_round, basis = time_estimates.block_times(plan, found)
    per_round += UNTIMED_S * len(plan.cells)
    rounds = plan.measure.rounds_max + plan.measure.warmup_rounds
    budget = plan.measure.budget_s
    run_s = per_round * rounds
    if budget is not None:
        run_s = min(run_s, budget)
    return Forecast(
        plan=plan,
        looks=looks,
        builds=_builds(plan, earlier),
        datasets=datasets,
        blocks=len(plan.cells) * rounds,
        run_s=run_s,
        basis=basis,
        resolution=time_estimates.resolution(plan, looks, found),
        disk_needed=sum(d.size_bytes or 0 for d, there in datasets if not there),
        disk_free=shutil.disk_usage(_existing(results)).free,
    )


def forecast_document(found: Forecast) -> dict[str, Any]:
    """The forecast as one JSON document, for ``--json``."""
    plan = found.plan
    return {
        "scenario": plan.name,
        "variants": [variant.label for variant in plan.variants],
        "inputs": [item.label for item in plan.inputs],
        "cells": [{"id": c.id, "label": c.label, "role": c.role} for c in plan.cells],
        "holes": [
            {"values": dict(hole.values), "reason": hole.reason, "rule": hole.rule}
            for hole in plan.holes
        ],
        "builds": [
            {"id": b.spec.id, "variants": b.variants, "cached": b.cached} for b in found.builds
        ],
        "looks": list(found.looks.rounds),
        "rounds_needed": found.looks.needed,
        "comparisons": found.looks.family,
        "blocks": found.blocks,
        "run_s": found.run_s,
        "basis": dict(found.basis),
        "resolution": dict(found.resolution.by_metric),
        "resolution_record": found.resolution.record or None,
        "disk_needed_bytes": found.disk_needed,
        "disk_free_bytes": found.disk_free,
    }


def _existing(path: Path) -> Path:
    return next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())


def _datasets(plan: Plan) -> tuple[tuple[Dataset, bool], ...]:
    from bench_framework.execution import datasets, host

    folder = datasets.data_dir(plan, host.environment())
    unique = dict.fromkeys(item.dataset for item in plan.inputs if item.dataset is not None)
    return tuple(
        (dataset, dataset.kind == "file" or datasets.generated_path(dataset, folder).exists())
        for dataset in unique
    )


def _descriptions(plan: Plan) -> dict[str, Description]:
    """What the binaries that were built before say of this machine; they do no work for that."""
    if not plan.answer.contract:
        return {}
    from bench_framework.errors import MeasureError
    from bench_framework.execution import binaries, datasets, host, process

    env = host.environment()
    place = datasets.workplace(plan, env)
    found: dict[str, Description] = {}
    with process.Launcher() as launcher:
        for spec in plan.builds:
            binary = time_estimates.built(spec, host.cache_root(env))
            if binary is not None:
                with contextlib.suppress(MeasureError):
                    found[spec.id] = binaries.describe([str(binary)], launcher, env, place)
    return found


def _builds(plan: Plan, earlier: Contents | None) -> tuple[BuildForecast, ...]:
    from bench_framework.execution.host import cache_root

    known = {build.id: build for build in (earlier.builds if earlier else ())}
    found = []
    for spec in plan.builds:
        sharing = sum(1 for variant in plan.variants if variant.build == spec)
        last = known.get(spec.id)
        # cargo alone knows whether sources have changed since; asking it is `run`'s work.
        there = time_estimates.built(spec, cache_root()) is not None
        found.append(BuildForecast(spec, sharing, there, last.build_s if last else None))
    return tuple(found)


def _last_record(plan: Plan, results: Path) -> Contents | None:
    from bench_framework.errors import RecordError
    from bench_framework.store.finding import find_records

    for folder in reversed(find_records(results, plan.name)[-3:]):
        from bench_framework.store import journal, layout

        try:
            return journal.read_journal(folder / layout.JOURNAL)
        except RecordError:
            continue
    return None
