"""Failures in the record of a gate that are not those of a comparison or of a budget.

A record in which something failed is never passed: a configuration that is not gated can fail, and so can
a single run or metric of one whose comparisons are judged.
"""

from collections.abc import Iterator

from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.result.gate import Failure, Gating
from bench_framework.store.journal import Contents


def other_failures(plan: Plan, contents: Contents, gating: Gating) -> tuple[Failure, ...]:
    """Return the first failure of each cell that `gating` does not show, in the order of the record."""
    failed = gating.in_state("failed")
    covered = {id_ for pair in failed for id_ in (pair.cell_id, pair.comparison.ref_cell_id)}
    covered |= {budget.cell_id for budget in gating.budgets if budget.state == "failed"}
    gated = {id_ for pair in gating.pairs for id_ in (pair.cell_id, pair.comparison.ref_cell_id)}
    gated |= {budget.cell_id for budget in gating.budgets}
    first: dict[str | None, Reason] = {}
    for item in plan.inputs:  # the copy of the baseline fails with it
        control, baseline = plan.control_cell(item.id), plan.baseline_cell(item.id)
        if control is not None and baseline is not None:
            covered |= {control.id} if baseline.id in covered else set()
            gated |= {control.id} if baseline.id in gated else set()
    for cell_id, reason in _failures(plan, contents):
        if cell_id not in covered:
            first.setdefault(cell_id, reason)
    return tuple(Failure(cell_id, cell_id in gated, reason) for cell_id, reason in first.items())


def _failures(plan: Plan, contents: Contents) -> Iterator[tuple[str | None, Reason]]:
    """Yield each failure with its cell."""
    broken = {build.id: build for build in contents.builds if not build.ok}
    for cell in plan.cells:
        build = broken.get(plan.build_id(cell))
        if build is not None and cell.role is not Role.CONTROL:
            yield cell.id, build.failure
    for event in contents.events:
        if event.severity == "error":
            yield event.cell_id, Reason(ReasonCode.ERROR, (event.code, event.message))
