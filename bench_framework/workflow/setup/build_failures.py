"""The errors of programs that cannot be built."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bench_framework.errors import BuildError
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Build


def build_failure(key: str, build: Build, /, **values: Any) -> BuildError:
    """Return the error of a failed build, with the output of cargo and its log."""
    log = (("log", build.log),) if build.log else ()
    details = (("cargo" if build.log else "build", build.message or "failed"), *log)
    return BuildError(key, details=details, **values)


def require_builds(plan: Plan, builds: Sequence[Build]) -> None:
    """Refuse to go on without two programs to compare. Raises `BuildError`.

    They are the baseline and another variant, or both revisions.
    """
    baseline = plan.baseline
    failed = [b for b in builds if not b.ok and (plan.revisions or b.id == baseline.build_id)]
    if not failed:
        broken = {build.id: build for build in builds if not build.ok}
        others = [variant for variant in plan.variants if variant.id != baseline.id]
        if others and all(variant.build_id in broken for variant in others):
            first, names = broken[others[0].build_id], ", ".join(v.label for v in others)
            raise build_failure("BX220.candidates", first, variants=names)
        return
    if plan.revisions is not None:
        spec = next(spec for spec in plan.builds if spec.id == failed[0].id)
        head = spec.revision == plan.revisions.head
        # The other bench targets of a variant are built for it, too.
        labels = (
            v.label for v in plan.variants if v.build and replace(v.build, bin=spec.bin) == spec
        )
        key = "BX220.head" if head else "BX220.base"
        several = len({v.values[1:] for v in plan.variants}) > 1  # without the axis of revisions
        raise build_failure(key, failed[0], label=next(labels), several=several)
    raise build_failure("BX220.baseline", failed[0], label=baseline.label)
