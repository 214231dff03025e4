"""Verdicts of pairs from samples and a rule, without a plan."""

from dataclasses import replace

import pytest

from bench_framework.compare.pairs import CellPair, JudgeRule, judge_pairs
from bench_framework.compare.stage import Runs, runs_of
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.reasons import ONE_PROGRAM, ReasonCode
from bench_framework.model.verdict import Thresholds, Verdict
from tests.build import require
from tests.unit.judging.conftest import Study, timing


@pytest.fixture
def measured() -> tuple[Runs, CellPair, JudgeRule]:
    """Return the runs of a study in which ``b`` is 5 % slower, the pair, and its rule."""
    example = Study()
    plan, looks = example.plan, looks_of(example.plan)
    runs = runs_of(plan, example.blocks(timing({"b": 0.05}, 0.004)), {})
    baseline = require(plan.baseline_cell(plan.inputs[0].id))
    pair = CellPair(
        example.cell("b").id, baseline.id, "wall", looks.rounds, looks.rounds[-1], looks.count - 1
    )
    return runs, pair, JudgeRule("headline", {"wall": Thresholds(0.02, 0.01)}, looks, 1)


def test_the_thresholds_of_the_rule_decide(measured: tuple[Runs, CellPair, JudgeRule]) -> None:
    runs, pair, rule = measured
    for thresholds, verdict in (
        (Thresholds(0.02, 0.01), Verdict.WORSE),
        (Thresholds(0.05, 0.01), Verdict.WORSE_SIZE_UNCERTAIN),
        (Thresholds(0.1, 0.08), Verdict.EQUIVALENT),
    ):
        (c,) = judge_pairs(runs, [pair], replace(rule, thresholds={"wall": thresholds}))
        assert (c.verdict, c.thresholds, c.rounds) == (verdict, thresholds, 40)


def test_a_larger_family_widens_the_interval(measured: tuple[Runs, CellPair, JudgeRule]) -> None:
    runs, pair, rule = measured
    (alone,) = judge_pairs(runs, [pair], rule)
    (one_of_many,) = judge_pairs(runs, [pair], replace(rule, size=50))
    narrow, wide = require(alone.shown), require(one_of_many.shown)
    assert wide.lo < narrow.lo < narrow.hi < wide.hi


def test_pairs_without_values_or_with_one_program_have_a_reason(
    measured: tuple[Runs, CellPair, JudgeRule],
) -> None:
    runs, pair, rule = measured
    same = frozenset({frozenset((pair.cell_id, pair.ref_cell_id))})
    (c,) = judge_pairs(replace(runs, same=same), [pair], rule)
    assert (c.verdict, c.reason) == (Verdict.INCONCLUSIVE, ONE_PROGRAM)
    pairs = [replace(pair, reached=()), replace(pair, metric="rate")]
    rates = replace(rule, thresholds=dict.fromkeys(("wall", "rate"), Thresholds(0.02, 0.01)))
    early, unknown = judge_pairs(runs, pairs, rates)
    assert (early.reason and early.reason.code) == ReasonCode.BEFORE_FIRST
    assert (unknown.reason and unknown.reason.code) == ReasonCode.NO_COMMON_ROUND
