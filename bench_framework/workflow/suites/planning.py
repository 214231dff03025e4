"""The plan of a suite: its scenarios, their shares of the error rate, and the division of its budget."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench_framework.errors import UsageError
from bench_framework.execution.budget import TimeBudget
from bench_framework.features.gate.question import can_decide
from bench_framework.features.suite import decisions, first_budget, level_of, with_shares
from bench_framework.model.documents.plan import PlannedMember, SuitePlanDocument, fields_of
from bench_framework.model.phrases import PhraseCode
from bench_framework.model.plan.looks import RoundLimit
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import DEFAULT_BUDGET_S
from bench_framework.model.reasons import Reason
from bench_framework.text.numbers import format_clock
from bench_framework.text.reasons import phrase, phrase_of
from bench_framework.units import parse_duration
from bench_framework.workflow.run_options import RunOptions, plan_run, require_decidable
from bench_framework.workflow.scenarios.suite_files import require_names, suite_files
from bench_framework.workflow.setup.benches import with_time_limit
from bench_framework.workflow.setup.forecast import Forecast, forecast_document, forecast_plan
from bench_framework.workflow.suites.affected import reasons_to_skip


@dataclass(frozen=True, slots=True)
class Member:
    """A scenario of a suite.

    Attributes:
        plan: its plan with its share of the error rate, and without a share of the budget.
        need_s: its planned duration: that of its rounds, else its own budget.
        least_s: duration of the rounds that a verdict needs; 0 if a round was never timed.
        decisions: comparisons and budgets among which the error rate is divided.
        skipped: why it is not measured; `None` if it is.
    """

    file: str
    plan: Plan
    forecast: Forecast
    need_s: float
    least_s: float
    decisions: int
    skipped: Reason | None = None

    @property
    def counted_need_s(self) -> float:
        """Its planned duration; 0 if it is skipped."""
        return 0.0 if self.skipped else self.need_s


@dataclass(frozen=True, slots=True)
class SuitePlan:
    """The scenarios of a suite in their order, and the time for all of them, `None` for that of each."""

    members: tuple[Member, ...]
    budget_s: float | None
    gated: bool

    @property
    def decisions(self) -> int:
        """The number of comparisons and budgets of the suite."""
        return sum(member.decisions for member in self.members if not member.skipped)

    @property
    def level(self) -> float:
        """The error rate of the suite."""
        measured = (member.plan for member in self.members if not member.skipped)
        return math.fsum(level_of(plan, gated=self.gated) for plan in measured)

    def budgets(self) -> list[float]:
        """Return the time of each scenario if each uses all of it."""
        if self.budget_s is None:
            return [member.counted_need_s for member in self.members]
        left, budgets = self.budget_s, list[float]()
        for place in range(len(self.members)):
            budgets.append(self.budget_of(place, left))
            left -= budgets[-1]
        return budgets

    def budget_of(self, place: int, left_s: float) -> float:
        """Return the time of a scenario, of the time that is left for it and the following ones."""
        rest = self.members[place:]
        return first_budget(left_s, [m.counted_need_s for m in rest], [m.least_s for m in rest])


def plan_suite(
    names: Sequence[str],
    options: RunOptions,
    budget: str | None = None,
    *,
    gated: bool | None = None,
    skip: bool = False,
    one_revision: bool = False,
) -> SuitePlan:
    """Return the plan of a suite. Without `gated`, it is a gate if it has revisions, or a scenario has a gate.

    With `skip`, scenarios are skipped that the change between the revisions cannot affect. With `one_revision`, base
    and head may be the same commit.

    Raises:
        ScenarioError, UsageError, BuildError, GateError: a scenario cannot be measured, the names form no suite
            (BX138), or the budget is too small; nothing was built or measured.
        MachineError: BX223, a scenario cannot run on this machine.
    """
    budget_s = None if budget is None else seconds_of(budget)
    files = suite_files(names)
    plans = [plan_run(file, options, one_revision=one_revision) for file in files]
    require_names(plans)
    if gated is None:
        gated = any(plan.revisions or plan.judge.gate.given for plan in plans)
    reasons = reasons_to_skip(plans) if skip else [None] * len(plans)
    measured = [plan for plan, reason in zip(plans, reasons, strict=True) if not reason]
    shared = dict(zip([p.name for p in measured], with_shares(measured, gated=gated), strict=True))
    members = []
    for file, unshared, reason in zip(files, plans, reasons, strict=True):
        plan, count = shared.get(unshared.name, unshared), decisions(unshared, gated=gated)
        if gated and not reason:
            require_decidable(plan)
        forecast = forecast_plan(plan, options.results)
        unknown = forecast.guessed or reason
        least = 0.0 if unknown else fewest_rounds(plan) * forecast.round_s
        members.append(Member(file, plan, forecast, _need(forecast), least, count, reason))
    suite = SuitePlan(tuple(members), budget_s, gated)
    _require_time(suite)
    return suite


def seconds_of(budget: str) -> float:
    """Return a budget such as ``20m`` in seconds. Raises `UsageError` (BX100)."""
    try:
        return parse_duration(budget)
    except ValueError as error:
        raise UsageError("BX100.budget-not-a-time", error=error) from error


def with_budget(plan: Plan, budget_s: float) -> Plan:
    """Return a plan with a time limit of whole seconds, and with the override that sets it."""
    seconds = max(1, math.floor(budget_s))
    overrides = (*plan.invocation.overrides, f"measure.budget={seconds}s")
    invocation = replace(plan.invocation, overrides=overrides)
    return replace(with_time_limit(plan, float(seconds)), invocation=invocation)


def fewest_rounds(plan: Plan) -> int:
    """Return the smallest number of rounds with a verdict, with the warm-up rounds before them."""
    measure = plan.measure
    fewest = TimeBudget(plan, 0.0, can_decide).fewest_rounds(RoundLimit(0))
    return (
        max(fewest, measure.rounds_min if measure.until != "rounds" else 0) + measure.warmup_rounds
    )


def _need(forecast: Forecast) -> float:
    budget_s = forecast.plan.measure.budget_s
    if not forecast.guessed:
        return forecast.run_s
    return DEFAULT_BUDGET_S if budget_s is None else budget_s


def _require_time(suite: SuitePlan) -> None:
    least = math.fsum(member.least_s for member in suite.members)
    if suite.budget_s is None or least <= suite.budget_s:
        return
    details = [
        (m.plan.name, phrase_of(PhraseCode.AT_LEAST, m.least_s)) for m in suite.members if m.least_s
    ]
    raise UsageError(
        "BX138.too-little-time",
        details=tuple(details),
        budget=format_clock(suite.budget_s),
        least=format_clock(least),
        enough=math.ceil(least / 60),
    )


def suite_plan_document(suite: SuitePlan) -> SuitePlanDocument:
    """Return the JSON document of `benchctl plan --json` for several scenarios."""
    budgets = suite.budgets()
    return SuitePlanDocument(
        budget_s=suite.budget_s,
        run_s=math.fsum(budgets),
        level=suite.level,
        comparisons=suite.decisions,
        scenarios=tuple(
            PlannedMember(
                **fields_of(forecast_document(member.forecast)),
                file=member.file,
                budget_s=budget,
                least_s=member.least_s or None,
                level=None if member.skipped else level_of(member.plan, gated=suite.gated),
                skipped=phrase(member.skipped) or None,
            )
            for member, budget in zip(suite.members, budgets, strict=True)
        ),
    )
