"""The rules that stop the measuring of an input, and their combination."""

from dataclasses import dataclass, field, replace

import pytest

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.extensions.bisect.compute import SideRule
from bench_framework.features.gate.measuring import GateRule
from bench_framework.features.stop_rules import All, FixedRule, ReportRule, stop_rule_of
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.reasons import LAST_LOOK, Reason, ReasonCode
from bench_framework.model.result.interim import LookOutcome
from tests.unit.judging.conftest import Study, analysis, gate_policy, log_normal_timing, timing

OPEN, DONE = Reason(ReasonCode.STILL_OPEN), Reason(ReasonCode.CONCLUSIVE)


@dataclass
class Scripted:
    """A rule with a given outcome that counts its analyses."""

    stop: bool
    settled: tuple[str, ...] | None = ()
    trailing: tuple[str, ...] = ()
    analyses: list[Analysis] = field(default_factory=list)

    def look(self, at: Analysis) -> LookOutcome:
        self.analyses.append(at)
        reason = DONE if self.stop else OPEN
        return LookOutcome(self.stop, reason, (), self.trailing, self.settled)


@pytest.fixture
def any_analysis() -> Analysis:
    return analysis(Study(), timing({}), 0)


@pytest.mark.parametrize(
    ("first", "second", "stop", "reason"),
    [(True, True, True, DONE), (True, False, False, OPEN), (False, True, False, OPEN)],
)
def test_an_input_stops_if_every_rule_says_so(
    any_analysis: Analysis, *, first: bool, second: bool, stop: bool, reason: Reason
) -> None:
    outcome = All((Scripted(first, ("x",)), Scripted(second))).look(any_analysis)
    assert (outcome.stop, outcome.reason) == (stop, reason)


def test_a_cell_is_settled_if_every_rule_says_so(any_analysis: Analysis) -> None:
    rules = (Scripted(False, ("x", "y", "z")), Scripted(False, ("z", "y")), Scripted(False, None))
    assert All(rules).look(any_analysis).settled == ("y", "z")


def test_the_first_rule_drops_cells_from_a_race(any_analysis: Analysis) -> None:
    rules = (Scripted(True, trailing=("slow",)), Scripted(False, None, ("other",)))
    assert All(rules).look(any_analysis).trailing == ("slow",)


def test_a_rule_is_not_asked_if_an_earlier_one_continues_with_every_cell(
    any_analysis: Analysis,
) -> None:
    second = Scripted(True)
    assert not All((Scripted(False), second)).look(any_analysis).stop
    assert second.analyses == []


def test_the_report_settles_the_cells_with_a_verdict() -> None:
    example = Study(arms=("a", "slow", "near"), rounds=200, measure=MeasurePolicy(rounds_max=200))
    wall = timing({"slow": 0.5, "near": 0.045}, 0.06, 4)
    assert ReportRule().look(analysis(example, wall, 0)).settled == (example.cell("slow").id,)


def test_until_rounds_stops_only_at_the_end() -> None:
    example = Study(measure=MeasurePolicy(until="rounds"))
    (last,) = looks_of(example.plan).rounds
    clear = timing({"b": 0.5}, 0.01)
    outcome = FixedRule().look(analysis(example, clear, 0))
    assert (last, outcome.stop, outcome.reason) == (40, True, LAST_LOOK)
    longer = replace(example, measure=MeasurePolicy(rounds_max=40))
    early = FixedRule().look(analysis(longer, clear, 0))
    assert (early.stop, early.reason.code) == (False, ReasonCode.ALL_ROUNDS)
    assert early.verdicts[0].verdict.worse


def test_the_gate_goes_on_where_the_report_is_conclusive() -> None:
    """+2.5 % is significant for the report only, because the gate has a stricter level."""
    example = Study(policy=gate_policy(wall=0.01))
    at = analysis(example, log_normal_timing({"b": 1.025}, spread=0.03, seed=3), 2)
    assert ReportRule().look(at).stop
    assert not GateRule().look(at).stop
    assert not All((ReportRule(), GateRule())).look(at).stop


def test_a_gate_of_memory_alone_stops_after_thirty_rounds_and_one_of_size_at_once() -> None:
    def stops(index: int, **policy: float) -> tuple[int, bool]:
        example = Study(
            measure=MeasurePolicy(rounds_max=100), policy=gate_policy(**policy), rounds=100
        )
        at = analysis(example, timing({}), index)
        return at.round, GateRule().look(at).stop

    assert [stops(index, peak_rss=0.05) for index in (0, 2, 3)] == [
        (12, False),
        (27, False),
        (40, True),
    ]
    assert stops(0, binary_size=0.05) == (12, True)


def test_the_gate_settles_no_cell_of_a_race() -> None:
    race = MeasurePolicy(strategy="race")
    example = Study(measure=race, policy=gate_policy(wall=0.01))
    assert GateRule().look(analysis(example, timing({"b": 0.5}, 0.01), 0)).settled is None


def test_the_side_of_a_commit_stops_a_step_and_no_cell_leaves() -> None:
    example = Study(arms=("candidate", "good", "bad"))
    at = analysis(example, timing({"bad": 0.5}, 0.003), 0)
    outcome = SideRule("regression").look(at)
    assert (outcome.stop, outcome.reason.code) == (True, ReasonCode.SIDE_DECIDED)
    assert (outcome.trailing, outcome.settled) == ((), ())


def test_the_rule_of_a_run() -> None:
    plain, gated = Study().plan, Study(policy=gate_policy(wall=0.01)).plan
    fixed = Study(measure=MeasurePolicy(until="rounds")).plan
    assert stop_rule_of(plain, gated=False, only_gate=False) == ReportRule()
    assert stop_rule_of(fixed, gated=False, only_gate=False) == FixedRule()
    assert stop_rule_of(gated, gated=False, only_gate=False) == All((ReportRule(), GateRule()))
    assert stop_rule_of(fixed, gated=True, only_gate=False) == All((FixedRule(), GateRule()))
    assert stop_rule_of(plain, gated=True, only_gate=True) == GateRule()
    for given in ({"peak_rss": 0.5}, {"binary_size": 0.01}, {"instructions": 0.01, "wall": 0.01}):
        other = Study(policy=gate_policy(**given)).plan
        assert stop_rule_of(other, gated=True, only_gate=True) == GateRule()
    # A gate of counts is known at once: its further rounds decide the times of the report.
    timeless = Study(policy=gate_policy(instructions=0.01)).plan
    both = All((ReportRule(), GateRule()))
    assert stop_rule_of(timeless, gated=True, only_gate=True) == both
    again = replace(timeless, confirms="20260101T0000Z")
    assert stop_rule_of(again, gated=True, only_gate=True) == GateRule()
