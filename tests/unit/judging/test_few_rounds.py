"""Records with fewer rounds than the label test needs: a paired t test."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench_framework.compare.verdict import TOO_FEW
from bench_framework.features.gate import compute as gate
from bench_framework.model.facts.summary import Confidence
from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.plan.looks import RoundLimit, allows_few_rounds, limited, looks_of
from bench_framework.model.plan.plan import Plan, Role
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.verdict import Verdict
from bench_framework.stats import paired_t
from tests.build import require
from tests.unit.judging.conftest import Study, gate_policy, timing

BUDGET = MeasurePolicy(rounds_max=1000, by_budget=True, budget_s=30.0)


def few(rounds: int) -> Study:
    """Return a study of a plan whose budget allows a few rounds."""
    limit = limited(Study(measure=BUDGET).plan, RoundLimit(rounds, by_t=True, control=False))
    return Study(rounds=rounds, control=False, measure=limit.measure)


def test_the_mean_log_ratio_has_the_interval_of_a_paired_t_test() -> None:
    rng = np.random.default_rng(5)
    a, b = np.exp(rng.normal(0, 0.02, (2, 4)))
    contrast = require(paired_t.compare(b.tolist(), a.tolist()))
    expected = stats.ttest_rel(np.log(b), np.log(a))
    assert contrast.p == pytest.approx(expected.pvalue, rel=1e-9)
    interval, bounds = contrast.interval(0.95), np.exp(expected.confidence_interval(0.95))
    assert (interval.lo, interval.hi) == pytest.approx(tuple(bounds), rel=1e-9)


@pytest.mark.parametrize("ratios", [[1.1, 1.2], [1.25, 1.25, 1.25]])
def test_two_rounds_or_equal_ratios_have_no_interval(ratios: list[float]) -> None:
    assert paired_t.compare(ratios, [1.0] * len(ratios)) is None


def test_four_rounds_of_quiet_programs_have_a_verdict() -> None:
    slower = few(4)
    judged = slower.judge(slower.blocks(timing({"b": 1.03}, spread=0.001)))
    comparison = slower.comparison(judged, "b")
    assert (comparison.verdict, comparison.statistic) == (Verdict.WORSE, "paired-t")
    assert comparison.rounds == 4
    assert judged.status != "exploratory"
    assert {e.code for e in judged.events} >= {"BX345"}
    assert "BX340" not in {e.code for e in judged.events}


def test_four_rounds_of_noisy_programs_have_an_interval_and_no_verdict() -> None:
    noisy = few(4)
    judged = noisy.judge(noisy.blocks(timing({}, spread=0.1)))
    comparison = noisy.comparison(judged, "b")
    assert comparison.verdict is Verdict.INCONCLUSIVE
    [fact] = [c.fact for c in judged.claims if isinstance(c.fact, Confidence)]
    [without] = fact.refused
    assert without.reason == Reason(ReasonCode.NO_DIFFERENCE)
    interval = require(comparison.shown)
    assert interval.bounded
    assert interval.lo < 1 < interval.hi


def test_two_rounds_have_no_verdict() -> None:
    """The programs became slower after the warm-up, so that the budget ended after two rounds."""
    plan = few(4)
    stopped = replace(plan, rounds=2)
    judged = stopped.judge(stopped.blocks(timing({"b": 2.0})))
    comparison = stopped.comparison(judged, "b")
    [fact] = [c.fact for c in judged.claims if isinstance(c.fact, Confidence)]
    assert {without.reason for without in fact.refused} == {None}
    assert (comparison.verdict, comparison.reason) == (Verdict.INCONCLUSIVE, TOO_FEW)


def test_a_short_limit_has_one_look_one_warm_up_round_and_no_control() -> None:
    def has_control(plan: Plan) -> bool:
        return any(cell.role is Role.CONTROL for cell in plan.cells)

    plan = Study(measure=BUDGET).plan
    lean = limited(plan, RoundLimit(8, control=False))
    looks = looks_of(lean)
    assert (looks.rounds, looks.by_t, looks.decidable) == ((8,), False, True)
    assert lean.measure.warmup_rounds == 1
    assert has_control(plan)
    assert not has_control(lean)
    few_rounds = looks_of(limited(plan, RoundLimit(4, by_t=True)))
    assert (few_rounds.rounds, few_rounds.by_t, few_rounds.decidable) == ((4,), True, True)


def test_a_gate_does_not_judge_few_rounds() -> None:
    """The t test shows that the candidate is slower, and its level does not hold for a gate."""
    slower = few(4)
    blocks = slower.blocks(timing({"b": 1.5}, spread=0.001))
    assert slower.comparison(slower.judge(blocks), "b").verdict is Verdict.WORSE
    gating = gate.first_pass(slower.plan, slower.contents(blocks))
    assert {p.state for p in gating.pairs if p.metric == "wall"} == {"not-judged"}


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        ({}, True),
        ({"judge": gate_policy(wall=0.05)}, False),
        ({"invocation": Invocation(gate=True)}, False),
        ({"measure": replace(BUDGET, by_budget=False)}, False),
        ({"measure": replace(BUDGET, strategy="race")}, False),
        ({"measure": replace(BUDGET, until="rounds")}, False),
    ],
)
def test_gates_races_and_plans_with_another_limit_have_the_label_test_only(
    changes: dict[str, Any], *, allowed: bool
) -> None:
    assert allows_few_rounds(replace(Study(measure=BUDGET).plan, **changes)) is allowed


@pytest.mark.parametrize(
    ("ratios", "reason"),
    [([1.5] * 4, ReasonCode.EQUAL_RATIOS), ([1.1, 2.2], ReasonCode.TOO_FEW_FOR_ANY_VERDICT)],
)
def test_ratios_without_a_spread_have_their_own_reason(
    ratios: list[float], reason: ReasonCode
) -> None:
    def wall(arm: str, _: str, number: int) -> float:
        return number * (ratios[number - 1] if arm == "b" else 1.0)

    example = replace(few(4), rounds=len(ratios))
    comparison = example.comparison(example.judge(example.blocks(wall)), "b")
    assert require(comparison.reason).code is reason
