"""The budgets of a gate: absolute limits of cells.

A cell is over its budget, which is an absolute bound, if the whole confidence interval is above it. The
interval is the distribution-free interval of the median over rounds, at the level 1 − α/(m·J) for m
cells with budgets and J interim analyses. It assumes independent rounds and does not cover variation
between days, because an absolute time belongs to its machine.
"""

import statistics
from collections.abc import Mapping, Sequence

from bench_framework.compare import cell_state, exact_metrics, medians
from bench_framework.compare.stage import runs_of
from bench_framework.model.metrics import COUNTED, is_exact
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import Budget, Metric
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Build, Observation
from bench_framework.model.result.gate import BudgetFinding, BudgetState
from bench_framework.store.journal import Contents


def judge_budgets(
    plan: Plan, contents: Contents, builds: Mapping[str, Build], *, looks: int
) -> tuple[BudgetFinding, ...]:
    """Return the finding on each budget, cell by cell, for at most `looks` interim analyses."""
    cases = [(cell_id, budget) for budget in plan.judge.gate.budgets for cell_id in budget.cell_ids]
    if not cases:
        return ()
    runs = runs_of(plan, contents.blocks, builds)
    broken = {s.cell_id: s.reason for s in runs.states if s.state != "measured"}
    level = 1 - plan.judge.gate.level / (len(cases) * max(1, looks))
    findings = []
    for cell_id, budget in cases:
        if cell_id in broken:
            reason = broken[cell_id]
            findings.append(
                BudgetFinding(cell_id, budget, "failed", None, None, None, level, reason=reason)
            )
        elif is_exact(budget.metric):
            values = _exact_values(plan, cell_id, budget.metric, builds, contents.observations)
            bounds = (values[0], values[-1]) if values else None
            findings.append(_finding(plan, cell_id, budget, 1.0, values, bounds))
        else:
            sample = runs.samples.get(cell_id)
            values = sorted(sample.values(budget.metric).values()) if sample is not None else []
            bounds = medians.median_interval(values, level)
            findings.append(_finding(plan, cell_id, budget, level, values, bounds))
    return tuple(findings)


def _exact_values(
    plan: Plan,
    cell_id: str,
    metric: Metric,
    builds: Mapping[str, Build],
    observed: Sequence[Observation],
) -> list[float]:
    """Return the deterministic values of a cell in ascending order. There may be several counts."""
    if metric in COUNTED:
        return sorted(exact_metrics.counts_of(observed, cell_id, metric))
    build = builds.get(plan.build_id(plan.cell(cell_id)))
    value = cell_state.exact_value(build, metric)
    return [value] if value is not None else []


def _finding(
    plan: Plan,
    cell_id: str,
    budget: Budget,
    level: float,
    values: Sequence[float],
    bounds: tuple[float, float] | None,
) -> BudgetFinding:
    if bounds is None:
        reason = Reason(ReasonCode.NOT_MEASURED)
        if values:
            reason = Reason(ReasonCode.TOO_FEW_FOR_INTERVAL, (len(values), level))
        return BudgetFinding(cell_id, budget, "not-judged", None, None, None, level, reason=reason)
    value, (lo, hi) = statistics.median(values), bounds
    state: BudgetState = "not-judged"
    if lo > budget.most or hi <= budget.most:
        state = "over" if lo > budget.most else "kept"
    return BudgetFinding(cell_id, budget, state, value, lo, hi, level, plan.unit_of(budget.metric))
