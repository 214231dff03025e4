"""The answer of each kind of question, the key findings, and the recommendation of one variant."""

from dataclasses import replace

import pytest

from bench_framework.features.summary.view import SummaryView
from bench_framework.model.facts.summary import Recommendation
from bench_framework.model.metrics import ANONYMOUS
from bench_framework.model.plan.policies import JudgePolicy
from tests.unit.judging.conftest import Study, timing


def test_sentences_and_claims_have_the_interval_of_the_verdict() -> None:
    example = Study(arms=("a", "b", "c", "d"))
    judged = example.judge(example.blocks(timing({"b": -0.2, "c": -0.1}, 0.1)))
    c = example.comparison(judged, "b")
    assert c.shown is not None
    claim = next(x for x in judged.claims if x.kind == "comparison" and x.cells[0] == c.cell_id)
    assert (claim.lo, claim.hi, claim.level) == (c.shown.lo, c.shown.hi, c.shown.level)
    low, high = (float(x) for x in claim.text.split("[")[1].split("]")[0].split(", "))
    assert low == pytest.approx(100 * (1 - c.shown.hi), abs=1)
    assert high == pytest.approx(100 * (1 - c.shown.lo), abs=1)


@pytest.mark.parametrize(
    ("c", "spread", "expected"),
    [
        (-0.7, 0.01, "use c: not significantly different from b, but it needs less memory"),
        (
            -0.68,
            0.5,
            "use b: not significantly different from c, but it has the better estimate",
        ),
    ],
    ids=["within the margin", "beyond the margin"],
)
def test_memory_decides_only_between_estimates_within_the_margin(
    c: float, spread: float, expected: str
) -> None:
    example = Study(arms=("a", "b", "c"))
    memory = {"b": 2e7, "c": 1e7}
    judged = example.judge(
        example.blocks(
            timing({"b": -0.7, "c": c}, spread), rss=lambda arm, *_: memory.get(arm, 3e7)
        )
    )
    assert {example.cell("b").id, example.cell("c").id} <= {*judged.best[0].cell_ids}
    (text,) = [claim.text for claim in judged.claims if claim.kind == "recommendation"]
    assert expected in text.lower()


def test_each_tied_variant_has_the_criterion_that_decides_against_it() -> None:
    example = Study(arms=("a", "large", "busy", "slow", "best"))
    times = {"large": -0.7, "busy": -0.6999, "slow": -0.6993, "best": -0.6998}
    judged = example.judge(
        example.blocks(
            timing(times, 0.01),
            rss=lambda arm, *_: {"large": 2.5e7, "busy": 1.2e7, "slow": 1.4e7}.get(arm, 1.3e7),
            cpu=lambda arm, *_: 2.0 if arm == "busy" else 1.0,
        )
    )
    (claim,) = [claim for claim in judged.claims if claim.kind == "recommendation"]
    assert isinstance(claim.fact, Recommendation)
    assert claim.subject == "best"
    ties = {tie.criterion: tie for tie in claim.fact.ties}
    assert {name: tie.members for name, tie in ties.items()} == {
        "memory": ("large",),
        "cpu": ("busy",),
        "estimate": ("slow",),
    }
    assert [amount.value for amount in ties["memory"].memory] == [1.3e7, 2.5e7]


def test_only_a_mapped_input_has_memory_without_mapped_pages() -> None:
    example = Study(arms=("read", "mmap", "mmapped"))
    judged = example.judge(example.blocks(timing({})))
    anonymous = [
        replace(s, metric=ANONYMOUS, median=5e6) for s in judged.summaries if s.metric == "wall"
    ]
    judged = replace(judged, summaries=(*judged.summaries, *anonymous))
    view = SummaryView(example.plan, judged, {}, ())
    unmapped = {arm: view.unmapped(example.cell(arm).id) for arm in ("read", "mmap", "mmapped")}
    assert {arm: q and q.value for arm, q in unmapped.items()} == {
        "read": None,
        "mmap": 5e6,
        "mmapped": None,
    }


def test_without_a_margin_no_number_of_rounds_is_enough() -> None:
    example = Study(policy=JudgePolicy(margin=0.0))
    c = example.comparison(example.judge(example.blocks(timing({}))), "b")
    assert c.verdict == "inconclusive"
    assert c.mde is not None
    assert c.rounds_needed is None
