"""Judgement of cells against absolute bounds (budgets).

A cell is over its budget if the whole confidence interval is above the budget. The interval is the
distribution-free interval of the median over rounds, at the level 1 − 1 %/(m·J) for m cells with
budgets and J interim analyses. It assumes independent rounds and does not cover variation between
days, because an absolute time belongs to its machine.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import Final

from bench_framework.compare import cell_state, exact_metrics, medians
from bench_framework.compare import samples as sampling
from bench_framework.compare.samples import Sample
from bench_framework.model import words
from bench_framework.model.gate import BudgetFinding, BudgetState
from bench_framework.model.metrics import METRICS, is_exact
from bench_framework.model.plan import Plan
from bench_framework.model.policies import Budget, Metric
from bench_framework.model.run import Block, Build, Observation
from bench_framework.units import format_duration, format_size

LEVEL: Final = 0.01
"""The family-wise error rate of all budgets of a gate."""
_DIGITS: Final = 4


def judge_budgets(
    plan: Plan,
    blocks: Sequence[Block],
    builds: Mapping[str, Build],
    observed: Sequence[Observation],
    *,
    looks: int,
) -> tuple[BudgetFinding, ...]:
    """Return the finding on each budget, cell by cell, for at most `looks` interim analyses."""
    cases = [(cell_id, budget) for budget in plan.judge.gate.budgets for cell_id in budget.cell_ids]
    if not cases:
        return ()
    samples = sampling.collect(blocks)
    states = cell_state.cell_states(plan, samples, builds, sampling.warm_ups(blocks))
    broken = {s.cell_id: s.reason for s in states if s.state != "measured"}
    level = 1 - LEVEL / (len(cases) * max(1, looks))
    findings = []
    for cell_id, budget in cases:
        if cell_id in broken:
            findings.append(_finding(plan, cell_id, budget, "failed", None, level, broken[cell_id]))
        elif is_exact(budget.metric):
            values = _exact(plan, cell_id, budget.metric, builds, observed)
            findings.append(_of_values(plan, cell_id, budget, values))
        else:
            findings.append(_of_rounds(plan, cell_id, budget, samples.get(cell_id), level))
    return tuple(findings)


def _exact(
    plan: Plan,
    cell_id: str,
    metric: Metric,
    builds: Mapping[str, Build],
    observed: Sequence[Observation],
) -> list[float]:
    """Return the deterministic values that are known of a cell. There may be several counts."""
    if metric == exact_metrics.INSTRUCTIONS:
        return exact_metrics.counts_of(observed, cell_id)
    value = cell_state.exact_value(
        cell_state.build_of(plan, plan.cell(cell_id).variant_id, builds), metric
    )
    return [value] if value is not None else []


def _of_values(plan: Plan, cell_id: str, budget: Budget, values: Sequence[float]) -> BudgetFinding:
    if not values:
        return _finding(plan, cell_id, budget, "not-judged", None, 1.0, "it is not known")
    bounds = (statistics.median(values), min(values), max(values))
    return _finding(plan, cell_id, budget, _state(bounds, budget), bounds, 1.0)


def _of_rounds(
    plan: Plan, cell_id: str, budget: Budget, sample: Sample | None, level: float
) -> BudgetFinding:
    ranked = sorted(sample.values(budget.metric).values()) if sample is not None else []
    if not ranked:
        return _finding(plan, cell_id, budget, "not-judged", None, level, "it was not measured")
    interval = medians.median_interval(ranked, level)
    if interval is None:
        reason = f"{len(ranked)} rounds are too few for an interval at {level * 100:.4g} %"
        return _finding(plan, cell_id, budget, "not-judged", None, level, reason)
    bounds = (statistics.median(ranked), *interval)
    return _finding(plan, cell_id, budget, _state(bounds, budget), bounds, level)


def _state(bounds: tuple[float, float, float], budget: Budget) -> BudgetState:
    _, lo, hi = bounds
    if lo > budget.most:
        return "over"
    return "kept" if hi <= budget.most else "not-judged"


def _finding(
    plan: Plan,
    cell_id: str,
    budget: Budget,
    state: BudgetState,
    bounds: tuple[float, float, float] | None,
    level: float,
    reason: str = "",
) -> BudgetFinding:
    """Return the finding with its sentence; `bounds` are the value, lower and upper bound."""
    outcome = {
        "over": f"above its budget of {budget.text}",
        "kept": f"within its budget of {budget.text}",
        "not-judged": f"could not judge whether it keeps its budget of {budget.text}",
        "failed": f"its budget of {budget.text} was not judged",
    }[state]
    if bounds is None:
        return BudgetFinding(
            cell_id,
            budget,
            state,
            None,
            None,
            None,
            level,
            f"{outcome}: {reason}" if reason else outcome,
        )
    value, lo, hi = bounds
    figures = [_format_value(plan, budget.metric, number) for number in (value, lo, hi)]
    between = "" if lo == hi else f" [{figures[1]}, {figures[2]}]"
    text = f"{words.noun(budget.metric)} {figures[0]}{between}: {outcome}"
    if state == "not-judged":
        text += ", which is within the interval"
    return BudgetFinding(cell_id, budget, state, value, lo, hi, level, text)


def _format_value(plan: Plan, metric: Metric, value: float) -> str:
    declared = {m.name: m.unit for m in plan.metrics}
    unit = METRICS[metric].unit if metric in METRICS else declared.get(metric, "count")
    if unit == "s":
        return format_duration(value, digits=_DIGITS)
    return format_size(value, digits=_DIGITS) if unit == "bytes" else f"{value:.10g}"
