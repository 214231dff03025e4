"""Rounds without the requested page cache state are void for a configuration, and too many of them refuse it."""

import random
from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from bench_framework.claims.factory import Names
from bench_framework.compare import cell_state, samples as sampling
from bench_framework.features.judge import judge
from bench_framework.model.facts import Best
from bench_framework.model.plan.plan import CacheState, Input, Plan
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record.run import Block
from bench_framework.model.record.sensors import PageCache
from bench_framework.model.result.judgement import CellState, Comparison, Judgement
from bench_framework.model.verdict import Verdict
from bench_framework.text.reasons import phrase
from tests.build import require
from tests.unit.judging.conftest import Study, planned_looks

COLD, WARM = PageCache("cold"), PageCache("warm", why="12 % of its pages were in memory")


def cold_plan(example: Study, *warm: str) -> Plan:
    """Return the plan with a cold cache for every arm except the named ones."""
    plan = example.plan
    return replace(
        plan,
        cells=tuple(
            replace(c, cache="warm" if example.arm_of(c) in warm else "cold") for c in plan.cells
        ),
    )


def wall(arm: str, where: str, number: int) -> float:
    noise = 1 + abs(random.Random(f"{arm}/{where}/{number}").gauss(0, 0.004))
    return (0.09 if arm == "b" else 0.1) * noise


def measured(
    example: Study, against: Mapping[str, Collection[int]], failed: Collection[int] = ()
) -> list[Block]:
    """Return samples that were verified as cold, except in the rounds given by arm, which are ten times as fast."""
    blocks = []
    for block in example.blocks(wall):
        arm = example.arm_of(example.plan.cell(block.cell_id))
        if block.round in against.get(arm, ()):
            blocks.append(replace(block, page_cache=WARM, wall_s=(block.wall_s[0] / 10,)))
        elif arm == "b" and block.round in failed:
            blocks.append(
                replace(block, page_cache=COLD, status="failed", wall_s=(), message="exit 9")
            )
        else:
            blocks.append(replace(block, page_cache=COLD))
    return blocks


def judged(
    example: Study, against: Mapping[str, Collection[int]], failed: Collection[int] = ()
) -> Judgement:
    return judge(cold_plan(example), measured(example, against, failed), {}, [], example.looks())


def comparison_of(example: Study, judgement: Judgement) -> Comparison:
    return example.comparison(judgement, "b")


@pytest.mark.parametrize("arm", ["a", "b"])
def test_one_round_that_was_not_seen_to_be_cold_is_void_and_the_others_count(arm: str) -> None:
    example = Study(control=False)
    judgement = judged(example, {arm: (7, 30)})
    whole = comparison_of(example, judged(example, {}))
    comparison = comparison_of(example, judgement)
    assert (whole.rounds, comparison.rounds) == (40, 38)
    assert comparison.verdict is whole.verdict is Verdict.BETTER
    assert 0.88 < require(comparison.shown).ratio < 0.92
    state = next(s for s in judgement.states if s.cell_id == example.cell(arm).id)
    assert (state.state, state.cache, state.rounds, state.void) == ("measured", "cold", 38, 2)
    median = next(
        s for s in judgement.summaries if s.cell_id == example.cell(arm).id and s.metric == "wall"
    )
    assert median.n_void == 2
    assert median.min > 0.05
    claims = [c for c in judgement.claims if c.kind == "main"]
    assert claims[0].scope == (("cache", "cold"),)
    assert claims[0].fact == Best(members=("b",), leading=True, of_two=True, some_better=True)
    assert claims[0].estimate == pytest.approx(0.9, abs=0.001)


@pytest.mark.parametrize("name", ["cold", "fresh"])
def test_claims_have_the_cold_cache_of_an_input_whatever_its_name_is(name: str) -> None:
    example, given = Study(control=False), Input(name, (("cache", name),), None)
    plan = cold_plan(example)
    cells = tuple(replace(cell, input_id=given.id) for cell in plan.cells)
    plan = replace(plan, inputs=(given,), cells=cells)
    judgement = judge(plan, measured(example, {}), {}, [], planned_looks(plan, 40))
    (main,) = (claim for claim in judgement.claims if claim.kind == "main")
    assert main.scope == (("cache", "cold"),)


@pytest.mark.parametrize(("name", "stated"), [("cold", True), ("cold-start.json", False)])
def test_of_several_inputs_only_one_with_the_state_as_its_value_needs_no_cache(
    name: str, stated: bool
) -> None:
    """A name that contains the word, such as that of a file, says nothing about the cache."""
    example = Study(sizes=(1, 2), control=False)
    plan, old = cold_plan(example), example.plan.inputs[0]
    given = Input(name, (("input", name),), None)
    cells = (replace(c, input_id=given.id) if c.input_id == old.id else c for c in plan.cells)
    plan = replace(plan, inputs=(given, *plan.inputs[1:]), cells=tuple(cells))
    states = [CellState(c.id, "measured", 1, 0, cache="cold") for c in plan.cells]
    cache = () if stated else (("cache", "cold"),)
    assert Names(plan, states).scope(given.id) == (("input", name), *cache)


@pytest.mark.parametrize(
    ("caches", "leading"),
    [(("warm", "cold"), "1MiB"), (("cold", "warm"), "1MiB"), (("warm", "warm"), "2MiB")],
)
def test_of_several_page_caches_the_first_one_leads(
    caches: tuple[CacheState, CacheState], leading: str
) -> None:
    example = Study(sizes=(1, 2), control=False)
    old = example.plan.inputs
    inputs = {i.id: replace(i, dataset=None) for i in old}  # of unknown size
    cache_of = {i.id: cache for i, cache in zip(old, caches, strict=True)}
    cells = tuple(
        replace(c, input_id=inputs[c.input_id].id, cache=cache_of[c.input_id])
        for c in example.plan.cells
    )
    plan = replace(example.plan, inputs=tuple(inputs.values()), cells=cells)
    blocks = [
        replace(b, page_cache=PageCache(plan.cell(b.cell_id).cache)) for b in example.blocks(wall)
    ]
    claims = judge(plan, blocks, {}, [], planned_looks(plan, 40)).claims
    (main,) = (c for c in claims if isinstance(c.fact, Best) and c.fact.leading)
    assert dict(main.scope)["input"] == leading


def test_more_than_twenty_percent_of_them_refuse_the_cell() -> None:
    example = Study(control=False)
    assert comparison_of(example, judged(example, {"b": range(7, 15)})).verdict is Verdict.BETTER
    judgement = judged(example, {"b": range(7, 16)})
    assert comparison_of(example, judgement).verdict is Verdict.NOT_COMPARABLE
    parts = 9, 40, "cold", 7, "12 % of its pages were in memory"
    reason = comparison_of(example, judgement).reason
    assert reason == Reason(ReasonCode.CACHE_NOT_VERIFIED, parts)


def test_failures_and_unseen_rounds_count_together() -> None:
    example = Study(control=False)
    few = comparison_of(example, judged(example, {"b": range(20, 26)}, failed=(9, 10)))
    assert few.verdict is Verdict.BETTER
    both = comparison_of(example, judged(example, {"b": range(20, 27)}, failed=(9, 10)))
    assert both.verdict is Verdict.NOT_COMPARABLE
    assert "7 of 38 samples" in phrase(both.reason)
    failed = comparison_of(example, judged(example, {"b": (7,)}, failed=(9, 10, 11)))
    assert failed.verdict is Verdict.FAILED
    assert failed.reason == Reason(
        ReasonCode.FAILED_IN_ROUNDS, (Reason(ReasonCode.RUN_FAILED, "exit 9"), 9, 3, 40)
    )


def test_warm_runs_are_verified_only_in_plans_with_cold_ones() -> None:
    example = Study(control=False)
    cold, warm = (example.cell(arm).id for arm in ("a", "b"))
    assert cell_state.needed_caches(example.plan.cells) == {}
    assert cell_state.needed_caches(cold_plan(example, "b").cells) == {cold: "cold", warm: "warm"}
    blocks = example.blocks(wall)
    assert sampling.collect(blocks)[cold].void == frozenset()
    alone = sampling.collect(blocks, {cold: "cold"})
    assert (len(alone[cold].void), len(alone[warm].void)) == (40, 0)
