"""Two references: one family, each pair once, and the share of the gap that a candidate closes."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.judge import judge
from bench_framework.features.references.compute import share_closed
from bench_framework.model.facts import Adjustment, Claim
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.planned_comparisons import comparisons_planned
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.record.run import Build
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.verdict import Verdict
from tests.unit.judging.conftest import Study, Timing, with_builds

TIMES = {"start": 0.100, "better": 0.075, "target": 0.050}


def two_references(example: Study, *further: str) -> Plan:
    """Return the plan of a study with further baselines."""
    plan = example.plan
    ids = {dict(v.values)["arm"]: v.id for v in plan.variants}
    return replace(plan, further_baselines=tuple(ids[name] for name in further))


def skewed(times: Mapping[str, float], spread: float = 0.01) -> Timing:
    """Return these times with skewed noise. The control equals the start unless it has a time."""

    def wall(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{arm}/{where}/{number}")
        return times.get(arm, times["start"]) * (1 + noise.expovariate(1 / spread))

    return wall


def judged(example: Study, plan: Plan, times: Mapping[str, float]) -> Judgement:
    return judge(plan, example.blocks(skewed(times)), {}, example.inputs(), example.looks())


def time_of_better(judgement: Judgement) -> Claim:
    """Return the claim about the time of `better` against the first baseline."""
    compared = (c for c in judgement.claims if c.kind == "comparison" and c.metric == "wall")
    return next(c for c in compared if c.subject == "better")


def test_every_pair_of_cells_is_compared_once() -> None:
    example = Study(arms=("start", "better", "target", "other"))
    plan = two_references(example, "target", "other")
    judgement = judged(example, plan, {**TIMES, "other": 0.06})
    pairs = [
        (c.cell_id, c.ref_cell_id)
        for c in judgement.comparisons
        if c.family in ("headline", "reference")
    ]
    assert len({frozenset(p) for p in pairs}) == len(pairs) // 2 == 3 + 2 + 1  # two metrics each
    assert comparisons_planned(plan) == len(pairs)
    assert judgement.looks.family == len(pairs)


def test_a_further_reference_is_in_the_family_that_the_caption_names() -> None:
    example = Study(arms=tuple(TIMES))
    alone, both = example.plan, two_references(example, "target")
    assert (comparisons_planned(alone), comparisons_planned(both)) == (4, 6)
    judgement = judged(example, both, TIMES)
    (claim,) = (c for c in judgement.claims if c.kind == "reference" and c.metric == "wall")
    assert claim.adjust == Adjustment("holm", 6, looks_of(both).count)
    assert claim.verdict is Verdict.WORSE
    assert claim.text.startswith("better is 1.50× slower than target [")
    assert time_of_better(judgement).reference == "start"


def test_a_share_has_no_interval_where_the_gap_may_be_nothing() -> None:
    assert share_closed([1.0, -1.0] * 10 + [0.2], [0.5] * 21)[1] is None
    assert share_closed([1.0] * 4, [0.5] * 4)[1] is None  # too few rounds for 95 %


def test_a_share_has_the_order_statistics_of_its_rounds_where_every_gap_is_positive() -> None:
    noise = random.Random(1)
    before = [noise.uniform(1, 2) for _ in range(25)]
    after = [b * noise.uniform(0.3, 0.6) for b in before]
    estimate, bounds = share_closed(before, after)
    shares = sorted(1 - b / a for a, b in zip(before, after, strict=True))
    # n = 25: ranks 8 and 18 contain the median at 95 %.
    assert bounds == pytest.approx((shares[7], shares[-8]))
    assert 0.4 < estimate < 0.7


def test_the_interval_of_a_share_covers_it() -> None:
    """Nominal level 95 %. The order statistics of 20 rounds reach 95.9 %."""
    hits = 0
    for seed in range(400):
        noise = random.Random(seed)
        before = [1 + noise.gauss(0, 0.2) for _ in range(20)]
        bounds = share_closed(before, [0.4 * b + noise.gauss(0, 0.1) for b in before])[1]
        hits += bounds is not None and bounds[0] <= 0.6 <= bounds[1]
    assert hits >= 370


def test_the_stopping_rule_waits_for_the_further_reference() -> None:
    """Both are conclusive against the start at once. Their difference from each other is very small."""
    example = Study(arms=tuple(TIMES), rounds=18)
    blocks = example.blocks(skewed({"start": 0.1, "better": 0.0503, "target": 0.05}, 0.03))
    first = looks_of(example.plan).rounds[0]
    assert Analysis(example.plan, blocks, example.plan.inputs[0].id, 0, first).report.stop
    waiting = Analysis(
        two_references(example, "target"), blocks, example.plan.inputs[0].id, 0, first
    ).report
    assert not waiting.stop
    assert {c.ref_cell_id for c in waiting.verdicts} == {example.cell("start").id}


def test_costs_of_a_binary_are_those_against_the_baseline() -> None:
    """A deterministic metric is compared with each reference. The costs of a gain are those against the first one."""
    example = Study(arms=tuple(TIMES), policy=JudgePolicy(metrics=("wall", "binary_size")))
    sizes = {"start": 1000, "better": 3000, "target": 1500}
    plan, specs = with_builds(two_references(example, "target"))
    builds = {
        spec.id: Build(spec.id, ok=True, sha256=arm, size_bytes=sizes[arm])
        for arm, spec in specs.items()
    }
    blocks = example.blocks(skewed(TIMES))
    judgement = judge(plan, blocks, builds, example.inputs(), example.looks())
    sizes_of = {
        c.subject: c.text
        for c in judgement.claims
        if c.kind == "comparison" and c.metric == "binary_size" and c.reference == "start"
    }
    assert set(sizes_of) == {"better", "target"}
    assert sizes_of["better"].startswith("better has 3.00× the binary size of start [")
    assert time_of_better(judgement).text.endswith(", at the cost of 3.00× the binary size.")
