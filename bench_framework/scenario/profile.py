"""The `profile` of a scenario as a plan carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench_framework.model.profile import Bucket, ProfilePolicy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_framework.model.plan import Variant
    from bench_framework.scenario.definition import Scenario
    from bench_framework.scenario.schema.profile import ProfilePart


def profile_policy(scenario: Scenario, variants: Sequence[Variant], baseline_id: str) -> ProfilePolicy | None:
    """What is profiled of the variants that are measured; `None` where the scenario says nothing of it."""
    part = scenario.spec.profile
    if part is None:
        return None
    return ProfilePolicy(
        variant_ids=tuple(v.id for v in variants if _chosen(part, v, baseline_id)),
        after_run=part.when == "after-run",
        runs=part.runs,
        frequency_hz=part.frequency,
        sampler=part.sampler,
        unwinding=part.stacks,
        timeout_s=part.timeout,
        buckets=tuple(Bucket(name, pattern) for name, pattern in part.buckets.items()),
    )


def _chosen(part: ProfilePart, variant: Variant, baseline_id: str) -> bool:
    if part.variants == "all":
        return True
    if part.variants == "baseline":
        return variant.id == baseline_id
    return variant.experiment is None and any(_has(variant, wanted) for wanted in part.variants)


def _has(variant: Variant, wanted: Mapping[str, str] | str) -> bool:
    return not isinstance(wanted, str) and wanted.items() <= dict(variant.values).items()
