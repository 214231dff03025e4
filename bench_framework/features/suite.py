"""The error rate and the time budget of a suite: several scenarios that one command measures.

Each scenario gets a share of the error rate before anything is measured: α·m/M for m of the M comparisons of
the suite. So each comparison begins at α/M, as the first step of Holm's procedure over the whole suite would, and
Holm's procedure continues within the scenario. By the union bound, α is the error rate of the suite
(docs/method.md#suites).
"""

from collections.abc import Sequence
from dataclasses import replace

from bench_framework.features.gate.question import question_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.planned_comparisons import comparisons_planned


def decisions(plan: Plan, *, gated: bool) -> int:
    """Return the number of decisions of a scenario that the error rate covers, at least 1.

    They are the comparisons by rounds, and the budgets of a gate.
    """
    if not gated:
        return max(1, comparisons_planned(plan))
    budgets = sum(len(budget.cell_ids) for budget in plan.judge.gate.budgets)
    return question_of(plan).looks.family + budgets


def with_shares(plans: Sequence[Plan], *, gated: bool) -> tuple[Plan, ...]:
    """Return the plans with their shares of the error rate: that of the gate, or that of the report."""
    counts = [decisions(plan, gated=gated) for plan in plans]
    return tuple(
        _at_share(plan, count / sum(counts), gated=gated)
        for plan, count in zip(plans, counts, strict=True)
    )


def _at_share(plan: Plan, share: float, *, gated: bool) -> Plan:
    policy = plan.judge
    if gated:
        gate = replace(policy.gate, level=policy.gate.level * share)
        return replace(plan, judge=replace(policy, gate=gate))
    return replace(plan, judge=replace(policy, level=policy.level * share))


def level_of(plan: Plan, *, gated: bool) -> float:
    """Return the share of the error rate that a plan has."""
    return plan.judge.gate.level if gated else plan.judge.level


def first_budget(left_s: float, needs_s: Sequence[float], least_s: Sequence[float]) -> float:
    """Return the time of the first of the remaining scenarios, of the time that is left for all of them.

    Each gets its least time, and a share of the rest by its planned time, `needs_s`. Time that a scenario does not use
    is left for the following ones.
    """
    rest = max(0.0, left_s - sum(least_s))
    return least_s[0] + rest * needs_s[0] / (sum(needs_s) or 1.0)
