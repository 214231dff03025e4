"""Rules that stop the measuring of an input at an interim analysis, and the rule of a run."""

from dataclasses import dataclass, replace
from typing import Protocol

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.gate.measuring import GateRule
from bench_framework.features.gate.outcome import timed_metrics
from bench_framework.features.judge import finished_cells
from bench_framework.model.metrics import COUNTED
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import LAST_LOOK, Reason, ReasonCode
from bench_framework.model.record.run import Look
from bench_framework.model.result.interim import LookOutcome


class StopRule(Protocol):
    """A rule that says whether an input needs further rounds, and which of its cells do not."""

    def look(self, at: Analysis) -> LookOutcome:
        """Return the decision after an interim analysis."""


@dataclass(frozen=True, slots=True)
class FixedRule:
    """The rule of ``until: rounds``: an input stops after its last round."""

    def look(self, at: Analysis) -> LookOutcome:
        """Return the decision; in a race, cells that are worse than another one still leave."""
        last = at.index >= looks_of(at.plan).count - 1
        return replace(
            at.report, stop=last, reason=LAST_LOOK if last else Reason(ReasonCode.ALL_ROUNDS)
        )


@dataclass(frozen=True, slots=True)
class ReportRule:
    """The rule of a report: its comparisons are conclusive, or further rounds cannot make them so."""

    def look(self, at: Analysis) -> LookOutcome:
        """Return the decision; cells that an inconclusive effect contains are not settled."""
        outcome = at.report
        if not outcome.settled or at.plan.measure.strategy != "fixed":
            return outcome
        now = Look(at.input_id, at.index, at.round, stopped=False, idle=outcome.settled)
        return replace(
            outcome, settled=finished_cells(at.plan, at.blocks, at.builds, at.taken, now)
        )


@dataclass(frozen=True, slots=True)
class All:
    """A combination of rules: an input stops, or a cell is settled, if every rule says so.

    A rule is asked only if those before it would stop the input or let a cell leave. The first rule
    decides which cells are dropped from a race.
    """

    rules: tuple[StopRule, ...]

    def look(self, at: Analysis) -> LookOutcome:
        """Return the common decision, with the reason of the first rule that wants further rounds."""
        first, *others = self.rules
        common = first.look(at)
        for rule in others:
            if not (common.stop or common.settled):
                break
            other = rule.look(at)
            settled = common.settled
            if other.settled is not None:
                settled = tuple(c for c in common.settled or () if c in other.settled)
            reason = other.reason if common.stop and not other.stop else common.reason
            common = replace(
                common, stop=common.stop and other.stop, reason=reason, settled=settled
            )
        return common


def stop_rule_of(plan: Plan, *, gated: bool, only_gate: bool, decides: bool = False) -> StopRule:
    """Return the rule of a run.

    A run is `gated` if the gate was requested. With `only_gate`, the report needs no conclusive
    results, unless the gate judges counts and no time: then further rounds are for the report. Otherwise
    a scenario with a gate is measured until report and gate are conclusive. A gate that `decides` goes on
    until it is known whether to keep the change.
    """
    report: StopRule = FixedRule() if plan.measure.until == "rounds" else ReportRule()
    policy = plan.judge.gate
    counts = any(metric in COUNTED for metric in policy.tolerated) and not timed_metrics(policy)
    if only_gate and (plan.confirms or not counts):
        return GateRule(decides)
    if gated or policy.given:
        return All((report, GateRule(decides)))
    return report
