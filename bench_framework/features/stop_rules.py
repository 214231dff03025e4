"""The rule that stops the measuring of a run: that of its report, of its gate, or of both."""

from dataclasses import dataclass, replace

from bench_framework.compare.interim_analysis import Analysis, LookOutcome
from bench_framework.compare.stop_rules import All, FixedRule, StopRule
from bench_framework.features.gate.measuring import GateRule
from bench_framework.features.judge import finished_cells
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Look


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


def rule_of(plan: Plan, *, gated: bool, only_gate: bool, decides: bool = False) -> StopRule:
    """Return the rule of a run.

    A run is `gated` if the gate was requested. With `only_gate`, the report needs no conclusive
    results. Otherwise a scenario with a gate is measured until report and gate are conclusive. A gate that
    `decides` goes on until it is known whether to keep the change.
    """
    report: StopRule = FixedRule() if plan.measure.until == "rounds" else ReportRule()
    if only_gate:
        return GateRule(decides)
    if gated or plan.judge.gate.given:
        return All((report, GateRule(decides)))
    return report
