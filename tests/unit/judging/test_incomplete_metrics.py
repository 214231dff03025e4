"""Metrics that a program did not print in too many rounds: nothing is compared, chosen or dropped."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import pytest

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.judge import judge
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.policies import JudgePolicy, MeasurePolicy
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Block
from bench_framework.model.verdict import Verdict
from tests.unit.judging.conftest import Crossed, Study, timing

STUDY = Study(
    ("a", "b", "c"), policy=JudgePolicy(metrics=("latency",)), measure=MeasurePolicy(rounds_max=40)
)
EFFECTS = {"b": -0.1, "c": -0.5}


def printed(blocks: Iterable[Block], cell_id: str, share: int) -> list[Block]:
    """Return samples with a latency, which a cell does not print in every `share`-th round."""
    return [
        replace(block, missing={"latency": "nothing"})
        if block.cell_id == cell_id and block.round % share == 0
        else replace(block, metrics={"latency": block.wall_s[0]})
        for block in blocks
    ]


@pytest.mark.parametrize(("share", "best"), [(2, "b"), (20, "c")])
def test_the_best_group_has_no_variant_that_often_lacks_its_metric(share: int, best: str) -> None:
    blocks = printed(STUDY.blocks(timing(EFFECTS)), STUDY.cell("c").id, share)
    judged = STUDY.judge(blocks)
    assert judged.best[0].cell_ids == (STUDY.cell(best).id,)
    pair = STUDY.comparison(judged, "c", "latency")
    assert pair.verdict is (Verdict.FAILED if best == "b" else Verdict.BETTER)
    if best == "b":
        parts = "latency", 20, 40, "nothing"
        assert pair.reason == Reason(ReasonCode.UNREADABLE_METRIC, parts)
    assert STUDY.comparison(judged, "b", "latency").verdict is Verdict.BETTER


def test_nothing_is_compared_with_a_baseline_that_often_lacks_its_metric() -> None:
    blocks = printed(STUDY.blocks(timing(EFFECTS)), STUDY.cell("a").id, 2)
    pair = STUDY.comparison(STUDY.judge(blocks), "b", "latency")
    assert (pair.verdict, pair.shown) == (Verdict.NOT_COMPARABLE, None)


@pytest.mark.parametrize("strategy", ["race", "fixed"])
def test_a_variant_that_often_lacks_its_metric_drops_no_other_one(
    strategy: Literal["race", "fixed"],
) -> None:
    study = replace(STUDY, measure=replace(STUDY.measure, strategy=strategy))
    plan, cells = study.plan, [study.cell(arm).id for arm in study.arms]
    rounds = looks_of(plan).rounds[-1]
    blocks = study.blocks(timing({"b": 0.0, "c": -0.5}))
    whole = Analysis(plan, printed(blocks, "", 1), plan.inputs[0].id, 0, rounds).report
    lossy = Analysis(plan, printed(blocks, cells[2], 2), plan.inputs[0].id, 0, rounds).report
    assert set(whole.trailing) == (set(cells[:2]) - {cells[0]} if strategy == "race" else set())
    assert lossy.trailing == ()
    assert cells[2] not in (lossy.settled or ())


def test_effects_need_a_metric_in_nearly_every_round() -> None:
    crossed = Crossed({"alloc": ("sys", "mi"), "io": ("read", "mmap")})
    plan = replace(crossed.plan, judge=JudgePolicy(metrics=("latency",)))
    last = plan.cells[-1].id
    for share, effects in ((2, False), (20, True)):
        blocks = printed(crossed.blocks(lambda values, _, n: 1.0 + n / 100), last, share)
        judged = judge(plan, blocks, {}, (), crossed.looks())
        assert bool(judged.structure.effects) is effects
