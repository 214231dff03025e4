"""Hypotheses are supported, not supported or not tested. Projections state their assumption."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from bench_framework.features.experiments.compute import hypothesis_tests
from bench_framework.features.judge import judge
from bench_framework.model.plan.declarations import DerivedRow, Hypothesis, NamedCell
from bench_framework.model.plan.plan import Plan
from bench_framework.model.reasons import CONTROL_DIFFERS, ONE_PROGRAM, Reason, message
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.verdict import Verdict
from bench_framework.text.reasons import phrase
from tests.build import make_comparison
from tests.unit.judging.conftest import Study

SPEEDS = {"a": 1.0, "quick": 0.8, "alike": 1.0, "slow": 1.3}


def stating(example: Study, *hypotheses: Hypothesis) -> Plan:
    return replace(example.plan, hypotheses=hypotheses)


def hypothesis(example: Study, arm: str, *, before: str = "a", **more: Any) -> Hypothesis:
    ids = {dict(v.values)["arm"]: v.id for v in example.plan.variants}
    return Hypothesis(
        f"{before} costs time", f"arm: {before} → {arm}", ids[arm], ids[before], **more
    )


def judged(example: Study, plan: Plan, spread: float = 0.004) -> Judgement:
    noise = random.Random(8)
    blocks = example.blocks(
        lambda arm, *_: 0.05 * SPEEDS.get(arm, 1.0) * math.exp(noise.gauss(0, spread))
    )
    return judge(plan, blocks, {}, example.inputs(), example.looks())


@pytest.fixture
def example() -> Study:
    return Study(arms=tuple(SPEEDS), sizes=(1,))


def test_without_its_cells_a_hypothesis_is_not_tested(example: Study) -> None:
    lost = replace(hypothesis(example, "quick"), variant_id="0" * 12)
    judgement = judged(example, stating(example, lost))
    (test,) = judgement.hypotheses
    assert (test.status, phrase(test.reason)) == (
        "not tested",
        "this record does not compare the two",
    )
    (text,) = [c.text for c in judgement.claims if c.kind == "hypothesis"]
    assert text.startswith("Hypothesis “a costs time” was not tested: arm: a → quick (")


@pytest.mark.parametrize(
    ("verdict", "reason", "status"),
    [
        (Verdict.INCONCLUSIVE, ONE_PROGRAM, "not tested"),
        (Verdict.OTHER_OUTPUT, message("digest"), "not tested"),
        (Verdict.FAILED, message("exit 1"), "not tested"),
        (Verdict.INCONCLUSIVE, CONTROL_DIFFERS, "not supported"),
        (Verdict.BETTER_SIZE_UNCERTAIN, None, "supported"),
    ],
)
def test_what_cannot_be_compared_tests_nothing(
    example: Study, verdict: Verdict, reason: Reason | None, status: str
) -> None:
    plan = stating(example, hypothesis(example, "quick"))
    cell, reference = example.cell("quick"), example.cell("a")
    pair = make_comparison(cell.id, reference.id, "wall", "headline", verdict, reason)
    (test,) = hypothesis_tests(plan, [pair])
    assert (test.status, test.reason) == (status, reason)


def projecting(example: Study, *rows: DerivedRow) -> Plan:
    ids = {dict(v.values)["arm"]: v.id for v in example.plan.variants}
    cells = (NamedCell("base", ids["a"]), NamedCell("quick", ids["quick"]))
    return replace(example.plan, named=cells, derived=rows)


def test_a_projection_without_its_figures_has_no_sentence(example: Study) -> None:
    plan = projecting(example, DerivedRow("gone", "time(base)", "x"))
    plan = replace(plan, named=(NamedCell("base", "0" * 12),))
    judgement = judged(example, plan)
    assert [row.value for row in judgement.derived if not row.measured] == [None]
    assert not [c for c in judgement.claims if c.subject == "gone"]
