"""Refusal of comparisons: a cell failed, gave another answer, ran in another mode, or ran once.

See `docs/method.md#what-is-refused`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from bench_framework.compare import exact_metrics
from bench_framework.compare import samples as sampling
from bench_framework.model.plan import Role
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench_framework.compare.samples import Sample
    from bench_framework.model.judgement import CellState, Comparison
    from bench_framework.model.plan import Plan

_REFUSALS: Final = {
    "failed": Verdict.FAILED,
    "other-output": Verdict.OTHER_OUTPUT,
    "not-comparable": Verdict.NOT_COMPARABLE,
    "not-started": Verdict.INCONCLUSIVE,
}


def refuse_invalid(
    plan: Plan,
    comparison: Comparison,
    state_of: Mapping[str, CellState],
    samples: Mapping[str, Sample],
) -> Comparison:
    """Return a comparison as refused if one of its cells cannot be compared, or as a single run.

    Args:
        plan: the plan.
        comparison: the comparison by its values alone.
        state_of: cell id → state.
        samples: cell id → sample.
    """
    state, reference = state_of[comparison.cell_id], state_of[comparison.ref_cell_id]
    if state.state != "measured":
        return replace(comparison, verdict=_REFUSALS[state.state], reason=state.reason)
    if reference.state != "measured":
        name = "the baseline"
        if (ref := plan.cell(comparison.ref_cell_id)).role is Role.CANDIDATE:
            name = f"the reference {ref.label}"
        reason = f"{name}: {reference.reason}"
        return replace(comparison, verdict=Verdict.NOT_COMPARABLE, reason=reason)
    runs = sampling.runs_within(samples[comparison.cell_id], samples[comparison.cell_id].runs)
    if runs == 1 and plan.measure.rounds_max == 1 and comparison.family != "exact":
        return replace(
            comparison, verdict=Verdict.SINGLE_RUN, reason="", shown=None, typical=None, floor=None
        )
    ours, theirs = (samples[c].blocks for c in (comparison.cell_id, comparison.ref_cell_id))
    return exact_metrics.refuse_incomplete(comparison, ours, theirs, sampling.VOID_SHARE)
