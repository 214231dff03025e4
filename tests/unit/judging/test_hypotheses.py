"""Hypotheses are supported, not supported or not tested. Projections state their assumption."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from bench_framework.features.experiments.compute import hypothesis_tests
from bench_framework.features.judge import judge
from bench_framework.model.declarations import DerivedRow, Hypothesis, NamedCell
from bench_framework.model.judgement import Comparison, Judgement
from bench_framework.model.looks import comparisons_planned
from bench_framework.model.plan import Plan
from bench_framework.model.reasons import CONTROL_DIFFERS, ONE_PROGRAM, Reason, message
from bench_framework.model.verdict import Thresholds, Verdict
from bench_framework.text.reasons import phrase
from tests.unit.judging.conftest import Study

SPEEDS = {"a": 1.0, "quick": 0.8, "alike": 1.0, "slow": 1.3}
MIB = 1 << 20


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
def example(study: type[Study]) -> Study:
    return study(arms=tuple(SPEEDS), sizes=(1,))


def test_a_hypothesis_has_the_verdict_of_its_comparison_and_no_explanation(example: Study) -> None:
    plan = stating(
        example,
        hypothesis(example, "quick"),
        hypothesis(example, "slow"),
        hypothesis(example, "slow", expect="worse"),
        hypothesis(example, "quick", expect="worse"),
        hypothesis(example, "alike"),
    )
    judgement = judged(example, plan)
    no, yes = "not supported", "supported"
    assert [test.status for test in judgement.hypotheses] == [yes, no, yes, no, no]
    headline = {
        c.cell_id: c for c in judgement.comparisons if c.family == "headline" and c.metric == "wall"
    }
    for test in judgement.hypotheses:
        assert test.comparison == headline[test.cell_id]
    texts = [c.text for c in judgement.claims if c.kind == "hypothesis"]
    assert texts[0].startswith(
        "Hypothesis “a costs time” is supported: with arm: a → quick and no other axis changed, "
    )
    assert "less time [" in texts[0]
    assert texts[1].startswith("Hypothesis “a costs time” is not supported: ")
    assert "more time [" in texts[1]
    assert "equivalent in time (within ±2\u202f%)" in texts[4]
    for text in texts:
        assert "because" not in text
        assert "cause" not in text


def test_a_pair_without_the_baseline_is_tested_by_a_planned_comparison(example: Study) -> None:
    judgement = judged(example, stating(example, hypothesis(example, "quick", before="slow")))
    (test,) = judgement.hypotheses
    assert test.status == "supported"
    assert test.comparison is not None
    assert test.comparison.shown is not None
    assert test.comparison.shown.lo < 0.8 / 1.3 < test.comparison.shown.hi
    (claim,) = [c for c in judgement.claims if c.kind == "hypothesis"]
    assert claim.reference == "slow"


def test_a_hypothesis_may_name_its_metric(example: Study) -> None:
    judgement = judged(example, stating(example, hypothesis(example, "quick", metric="cpu")))
    (test,) = judgement.hypotheses
    assert test.comparison is not None
    assert test.comparison.metric == "cpu"


def test_each_metric_of_one_change_tests_its_hypothesis(example: Study) -> None:
    """The loop and the start of an interpreter differ in the clock, not in the change."""
    pair = {"arm": "quick", "before": "slow"}
    plan = stating(
        example,
        hypothesis(example, **pair, metric="wall"),
        hypothesis(example, **pair, metric="cpu"),
    )
    assert comparisons_planned(plan) == comparisons_planned(example.plan) + 2
    tests = judged(example, plan).hypotheses
    assert [t.comparison.metric for t in tests if t.comparison] == ["wall", "cpu"]
    assert {t.comparison.family for t in tests if t.comparison} == {"contrast"}


def test_noise_supports_nothing(example: Study) -> None:
    judgement = judged(example, stating(example, hypothesis(example, "alike")), spread=0.3)
    (test,) = judgement.hypotheses
    assert test.status == "not supported"
    (claim,) = [c for c in judgement.claims if c.kind == "hypothesis"]
    assert claim.verdict is Verdict.INCONCLUSIVE


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
        (
            Verdict.INCONCLUSIVE,
            CONTROL_DIFFERS,
            "not supported",
        ),
        (Verdict.BETTER_SIZE_UNCERTAIN, None, "supported"),
    ],
)
def test_what_cannot_be_compared_tests_nothing(
    example: Study, verdict: Verdict, reason: Reason | None, status: str
) -> None:
    plan = stating(example, hypothesis(example, "quick"))
    cell, reference = example.cell("quick"), example.cell("a")
    pair = Comparison(
        cell.id,
        reference.id,
        "wall",
        "headline",
        verdict,
        reason,
        thresholds=Thresholds(0.02, 0.01),
    )
    (test,) = hypothesis_tests(plan, [pair])
    assert (test.status, test.reason) == (status, reason)


def projecting(example: Study, *rows: DerivedRow) -> Plan:
    ids = {dict(v.values)["arm"]: v.id for v in example.plan.variants}
    cells = (NamedCell("base", ids["a"]), NamedCell("quick", ids["quick"]))
    return replace(example.plan, named=cells, derived=rows)


def test_a_figure_with_an_assumption_is_projected_and_so_is_what_follows_from_it(
    example: Study,
) -> None:
    plan = projecting(
        example,
        DerivedRow("share", "rate(base) / rate(quick)"),
        DerivedRow("ten", "10 * time(base)", "time grows"),
        DerivedRow("more", "2 * ten"),
    )
    judgement = judged(example, plan)
    share, first, second = (row for row in judgement.derived if not row.measured)
    assert [row.assuming for row in (share, first, second)] == ["", "time grows", "time grows"]
    assert first.value == pytest.approx(0.5, rel=0.02)
    assert second.value == pytest.approx(1.0, rel=0.02)
    assert first.lo is not None
    assert first.lo <= 0.5 * 1.01
    texts = {c.subject: c.text for c in judgement.claims if c.kind == "derived"}
    assert texts["ten"].startswith("ten would be ")
    words = "(projected, not measured: 10 * time(base) over 40 rounds), assuming time grows"
    assert words in texts["ten"]
    assert texts["share"].startswith("share is ")


def test_a_projection_without_its_figures_has_no_sentence(example: Study) -> None:
    plan = projecting(example, DerivedRow("gone", "time(base)", "x"))
    plan = replace(plan, named=(NamedCell("base", "0" * 12),))
    judgement = judged(example, plan)
    assert [row.value for row in judgement.derived if not row.measured] == [None]
    assert not [c for c in judgement.claims if c.subject == "gone"]
