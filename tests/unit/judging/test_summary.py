"""The answer of each kind of question, the key findings, and the recommendation of one variant."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from bench_framework.features.judge import judge
from bench_framework.features.summary.view import SummaryView
from bench_framework.model.facts import Claim
from bench_framework.model.facts.answers import RevisionsAnswer, SingleChanges
from bench_framework.model.facts.summary import (
    Confidence,
    FailedCheck,
    JudgedMetric,
    Recommendation,
)
from bench_framework.model.metrics import ANONYMOUS
from bench_framework.model.plan.declarations import NamedContrast
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.plan.plan import Role
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.plan.revisions import Revisions
from bench_framework.model.record.run import Answer, Block, Event
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.verdict import Verdict
from tests.build import require
from tests.unit.judging.conftest import Crossed, Study, timing


def failed(block: Block) -> Block:
    return replace(block, status="failed", wall_s=(), user_s=None, sys_s=None, exit_codes=(1,))


def confidence(judged: Judgement) -> Confidence:
    (fact,) = [claim.fact for claim in judged.claims if claim.kind == "trust"]
    assert isinstance(fact, Confidence)
    return fact


@pytest.mark.parametrize(("sizes", "inputs"), [((1,), ()), ((1, 10), ("1MiB",))])
def test_a_failed_check_on_one_input_is_about_that_input(
    sizes: tuple[int, ...], inputs: tuple[str, ...]
) -> None:
    example = Study(sizes=sizes)

    def cpu(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{arm}{where}{number}").gauss(0, 0.005)
        return 0.05 * (1.1 if arm == "control" and where == "1MiB" else 1) * (1 + noise)

    blocks = example.blocks(timing({"b": -0.2}), cpu=cpu)
    judged = example.judge([replace(block, sys_s=0.0) for block in blocks])
    assert confidence(judged).failed_checks == (FailedCheck(metrics=("cpu",), inputs=inputs),)


def test_comparisons_with_baselines_and_contrasts_are_counted() -> None:
    example = Study(arms=("a", "b", "c"), sizes=(1, 10))
    _, b, c = (variant.id for variant in example.plan.variants)
    blocks = example.blocks(timing({"b": -0.2, "c": -0.1}))
    every, first = (tuple(i.id for i in example.plan.inputs[:n]) for n in (2, 1))

    def counted(*inputs: tuple[tuple[str, ...], str]) -> Confidence:
        contrasts = tuple(NamedContrast(f"c{n}", b, c, *i) for n, i in enumerate(inputs))
        plan = replace(example.plan, contrasts=contrasts)
        return confidence(judge(plan, blocks, {}, example.inputs(), example.looks()))

    one = counted((every, "wall"))
    assert (one.total, one.one_metric) == (6, True)
    two = counted((first, "wall"), (first, "cpu"))
    assert (two.total, two.one_metric) == (6, False)
    plan = replace(example.plan, further_baselines=(b,))
    more = confidence(judge(plan, blocks, {}, example.inputs(), example.looks()))
    assert more.total == 6


def judged_pops(pops: dict[str, float], *contrasts: tuple[str, str]) -> list[Claim]:
    """Return the claims about a metric with a value of each program; one without a value has none."""
    example = Study(arms=("a", "b", "c", "d", "e"), policy=JudgePolicy(metrics=("wall", "pops")))
    metric = DeclaredMetric("pops", "stdout", "count", direction="lower")
    ids = {example.arm_of(c): c.variant_id for c in reversed(example.plan.cells)}
    inputs = (example.plan.inputs[0].id,)
    items = (NamedContrast("x", ids[b], ids[a], inputs, "pops") for b, a in contrasts)
    plan = replace(example.plan, metrics=(metric,), contrasts=tuple(items))
    program = {cell.id: example.arm_of(cell) for cell in plan.cells}
    blocks = [
        replace(b, metrics={"pops": pops[name]} if (name := program[b.cell_id]) in pops else {})
        for b in example.blocks(timing({"b": -0.3, "c": -0.2}))
    ]
    judged = judge(plan, blocks, {}, example.inputs(), example.looks())
    return [c for c in judged.claims if isinstance(c.fact, JudgedMetric)]


def test_a_declared_metric_that_is_judged_is_in_the_summary_with_the_worse_first() -> None:
    values = {"a": 100.0, "control": 100.0, "b": 100.0, "c": 50.0, "d": 110.0, "e": 200.0}
    (claim,) = judged_pops(values)
    assert isinstance(claim.fact, JudgedMetric)
    assert claim.metric == "pops"
    assert [e.subject for e in claim.fact.compared] == ["e", "d", "c"]
    assert [e.verdict for e in claim.fact.compared] == [
        Verdict.WORSE,
        Verdict.WORSE,
        Verdict.BETTER,
    ]
    assert claim.fact.more == 1


def test_neither_a_contrast_nor_a_comparison_without_figures_is_in_the_line_of_a_metric() -> None:
    values = {"a": 100.0, "control": 100.0, "b": 100.0, "c": 0.0, "d": 110.0}
    (claim,) = judged_pops(values, ("d", "a"))
    assert isinstance(claim.fact, JudgedMetric)
    assert [e.subject for e in claim.fact.compared] == ["b"]
    assert not judged_pops({"a": 100.0, "control": 100.0, "d": 110.0}, ("a", "d"))


def test_sentences_and_claims_have_the_interval_of_the_verdict() -> None:
    example = Study(arms=("a", "b", "c", "d"))
    judged = example.judge(example.blocks(timing({"b": -0.2, "c": -0.1}, 0.1)))
    c = example.comparison(judged, "b")
    interval = require(c.shown)
    claim = next(x for x in judged.claims if x.kind == "comparison" and x.cells[0] == c.cell_id)
    assert (claim.lo, claim.hi, claim.level) == (interval.lo, interval.hi, interval.level)
    ends = [float(x) for x in claim.text.split("[")[1].split("]")[0].split(", ")]
    assert ends == pytest.approx([100 * (1 - interval.hi), 100 * (1 - interval.lo)], abs=1)


@pytest.mark.parametrize(
    ("c", "spread", "of_c", "expected"),
    [
        (-0.7, 0.01, 1e7, "use c: equivalent (within ±2\u202f%) to b, but it needs less memory"),
        (
            -0.68,
            0.5,
            1e7,
            "use b: not significantly different from c, but it has the better estimate",
        ),
        (
            -0.68,
            0.5,
            2.6e7,
            "has the better estimate and needs less memory (19.1\u202fmib against 24.8\u202fmib)",
        ),
    ],
    ids=["within the margin", "beyond the margin", "beyond the margin with more memory"],
)
def test_memory_decides_only_between_estimates_within_the_margin(
    c: float, spread: float, of_c: float, expected: str
) -> None:
    example = Study(arms=("a", "b", "c"))
    memory = {"b": 2e7, "c": of_c}
    judged = example.judge(
        example.blocks(
            timing({"b": -0.7, "c": c}, spread), rss=lambda arm, *_: memory.get(arm, 3e7)
        )
    )
    assert {example.cell("b").id, example.cell("c").id} <= {*judged.best[0].cell_ids}
    (text,) = [claim.text for claim in judged.claims if claim.kind == "recommendation"]
    assert expected in text.lower()
    assert text.count("memory") == expected.count("memory")


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


def test_a_recommendation_needs_two_measured_candidates_and_is_about_those() -> None:
    example = Study(arms=("a", "b", "c"))
    blocks = example.blocks(timing({"b": -0.2, "c": -0.1}))

    def recommended(blocks: list[Block], *choice: str) -> list[Recommendation]:
        plan = replace(example.plan, choose_from=tuple((("arm", arm),) for arm in choice))
        judged = judge(plan, blocks, {}, [], example.looks())
        return [c.fact for c in judged.claims if isinstance(c.fact, Recommendation)]

    (fact,) = recommended(blocks)
    assert (fact.beats_all, fact.some_missing) == (True, False)
    assert recommended(blocks, "c") == []
    without = [failed(b) if b.cell_id == example.cell("c").id else b for b in blocks]
    (fact,) = recommended(without)
    assert (fact.beats_all, fact.some_missing) == (True, True)


def test_inputs_with_the_same_recommendation_share_a_sentence() -> None:
    example = Study(sizes=(1, 2, 4))
    slower = timing({"b": 0.2})
    faster = timing({"b": -0.2})

    def wall(arm: str, where: str, number: int) -> float:
        return (slower if where.startswith("1") else faster)(arm, where, number)

    judged = example.judge(example.blocks(wall))
    recommended = [c for c in judged.claims if c.kind == "recommendation"]
    assert [(c.subject, [label for _, label in c.scope]) for c in recommended] == [
        ("a", ["1MiB"]),
        ("b", ["2MiB", "4MiB"]),
    ]
    assert all(
        isinstance(c.fact, Recommendation) and c.fact.only_other in "ab" for c in recommended
    )


def wrong(block: Block) -> Block:
    return replace(block, answer=Answer("d1", 1))


@pytest.mark.parametrize(("refused", "status"), [(failed, "failed"), (wrong, "other-output")])
def test_a_variant_that_has_no_result_on_another_input_is_recommended_with_the_reason(
    refused: Callable[[Block], Block], status: str
) -> None:
    example = Study(sizes=(1, 2))
    bad = example.cell("b", 1).id
    blocks = [refused(b) if b.cell_id == bad else b for b in example.blocks(timing({"b": -0.2}))]
    judged = example.judge(blocks)
    state = next(state for state in judged.states if state.cell_id == bad)
    assert state.state == status
    [claim] = [c for c in judged.claims if c.kind == "recommendation"]
    assert (claim.subject, claim.scope) == ("b", (("input", "2MiB"),))
    assert isinstance(claim.fact, Recommendation)
    assert claim.fact.refused == (("1MiB", state.reason),)


def test_combinations_are_no_single_changes() -> None:
    axes = {"lto": ("off", "fat"), "cpu": ("generic", "native"), "panic": ("unwind", "abort")}

    def answer(*chosen: tuple[str, str, str]) -> SingleChanges | None:
        rows = {("off", "generic", "unwind"), *chosen}
        example = Crossed(
            axes, drop=lambda v: tuple(v.values()) not in rows, design="one-at-a-time"
        )
        speed = {"fat": -0.2, "native": -0.1}

        def wall(values: Mapping[str, str], where: str, number: int) -> float:
            change = math.prod(1 + speed.get(value, 0.0) for value in values.values())
            return change * math.exp(random.Random(f"{values}{number}").gauss(0, 0.004))

        facts = (claim.fact for claim in example.judge(wall).claims)
        return next((fact for fact in facts if isinstance(fact, SingleChanges)), None)

    singles = ("fat", "generic", "unwind"), ("off", "native", "unwind")
    both = "fat", "native", "unwind"
    fact = require(answer(*singles, both))
    assert (fact.count, fact.combined, fact.members) == (2, 1, ("fat native unwind",))
    assert require(answer(*singles)).combined == 0
    assert answer(both) is None


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


def test_a_program_whose_peak_is_mostly_mapped_pages_has_its_memory_without_them() -> None:
    example = Study(arms=("a", "b"))
    sizes = {"b": 60 << 20}
    blocks = example.blocks(timing({}), rss=lambda arm, *_: sizes.get(arm, 9 << 20))
    judged = example.judge(blocks)
    peaks = [s for s in judged.summaries if s.metric == "peak_rss"]
    anonymous = [replace(s, metric=ANONYMOUS, median=5e6) for s in peaks]
    view = SummaryView(
        example.plan, replace(judged, summaries=(*judged.summaries, *anonymous)), {}, ()
    )
    assert view.unmapped(example.cell("a").id) is None
    assert require(view.unmapped(example.cell("b").id)).value == 5e6


def test_without_a_margin_no_number_of_rounds_is_enough() -> None:
    example = Study(policy=JudgePolicy(margin=0.0))
    c = example.comparison(example.judge(example.blocks(timing({}))), "b")
    assert c.verdict == "inconclusive"
    assert c.mde is not None
    assert c.rounds_needed is None


def test_of_two_revisions_the_largest_regression_is_named_and_a_failure_is_not_inconclusive() -> (
    None
):
    example = Study(arms=("a", "b"), sizes=(1, 2))
    plan = replace(example.plan, revisions=Revisions("1" * 40, None))

    def answer(blocks: list[Block]) -> RevisionsAnswer:
        judged = judge(plan, blocks, {}, [], example.looks())
        (fact,) = (c.fact for c in judged.claims if isinstance(c.fact, RevisionsAnswer))
        return fact

    fact = answer(example.blocks(timing({"b": 0.2})))
    assert (fact.worse, fact.refused) == (2, 0)
    assert fact.name in {item.label for item in plan.inputs}
    blocks = example.blocks(timing({}, 0.004))
    first = example.plan.inputs[0].id
    failing = {c.id for c in plan.cells_of(first) if c.role is Role.CANDIDATE}
    fact = answer([failed(b) if b.cell_id in failing else b for b in blocks])
    assert (fact.total, fact.equal, fact.refused) == (2, 1, 1)


def test_variants_whose_outputs_differ_are_no_choice() -> None:
    example = Study(arms=("a", "b"))
    blocks = example.blocks(timing({"b": -0.2}))
    for events in ((), (Event("BX334", "b prints a different result from a"),)):
        judged = judge(example.plan, blocks, {}, [], example.looks(), events=events)
        kinds = {claim.kind for claim in judged.claims}
        assert ("recommendation" in kinds) == (not events)
        assert "main" in kinds
