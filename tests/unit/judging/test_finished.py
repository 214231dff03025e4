"""Configurations that leave before their input stops (docs/method.md#finished-configurations)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from bench_framework.compare.interim_analysis import Analysis
from bench_framework.features.judge import finished_cells, judge
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.reasons import ReasonCode
from bench_framework.model.record.run import Block, Look
from bench_framework.model.result import race
from bench_framework.model.verdict import Verdict
from tests.build import require
from tests.unit.judging.conftest import Crossed, Study, Timing, timing

ARMS = {"control": 0.0, "a": 0.0, "slow": 0.5, "near": 0.045}
POLICY = MeasurePolicy(rounds_max=200)


def after(plan: Plan, blocks: Sequence[Block], number: int) -> Look:
    """Return the first look of a plan, made after a round, with the cells that may leave."""
    here = plan.inputs[0].id
    until = [block for block in blocks if block.round <= number]
    outcome = Analysis(plan, until, here, 0, number).report
    now = Look(here, 0, number, outcome.stop, outcome.reason, idle=outcome.settled or ())
    return replace(now, idle=finished_cells(plan, until, {}, (), now))


def example_of() -> tuple[Study, Timing]:
    return Study(arms=("a", "slow", "near"), rounds=200, measure=POLICY), timing(ARMS, 0.06, 4)


def test_a_cell_leaves_when_its_comparisons_are_conclusive() -> None:
    example, wall = example_of()
    now = after(example.plan, example.blocks(wall), 18)
    assert not now.stopped
    assert now.idle == (example.cell("slow").id,)
    cells = [cell.id for cell in example.plan.cells]
    assert race.leaving(example.plan, [now], cells, ()) == dict.fromkeys(now.idle, "idle")


def test_baselines_and_the_control_stay() -> None:
    example, wall = example_of()
    slow = next(v.id for v in example.plan.variants if v.label == "slow")
    plan = replace(example.plan, further_baselines=(slow,))
    assert after(plan, example.blocks(wall), 18).idle == ()


def test_the_steps_of_a_ladder_stay_and_its_experiments_leave() -> None:
    example, wall = example_of()
    plan = replace(example.plan, design="ladder")
    assert after(plan, example.blocks(wall), 18).idle == ()
    tried = tuple(replace(v, experiment="trial") if v.label == "slow" else v for v in plan.variants)
    assert any(v.experiment for v in tried)
    # The id of a variant depends on its experiment, and the cells refer to the id.
    ids = {old.id: new.id for old, new in zip(plan.variants, tried, strict=True)}
    cells = tuple(replace(c, variant_id=ids[c.variant_id]) for c in plan.cells)
    assert after(replace(plan, variants=tried, cells=cells), example.blocks(wall), 18).idle == (
        example.cell("slow").id,
    )


def test_all_cells_stay_with_other_rules() -> None:
    example, wall = example_of()
    policy = replace(POLICY, until="precision", precision=0.01, control=True)
    plan = replace(example.plan, measure=policy)
    assert after(plan, example.blocks(wall), 18).idle == ()


def test_no_cell_leaves_if_the_control_differs() -> None:
    example, _ = example_of()
    wall = timing({**ARMS, "control": 0.5}, 0.06, 4)
    assert after(example.plan, example.blocks(wall), 18).idle == ()


def test_a_pair_within_the_best_group_keeps_its_cells() -> None:
    """Both are much faster than the baseline, and which of them is faster is open."""
    example = Study(arms=("a", "one", "two", "open"), rounds=200, measure=POLICY)
    effects = {"control": 0.0, "a": 0.0, "one": -0.5, "two": -0.47, "open": 0.045}
    close = after(example.plan, example.blocks(timing(effects, 0.06, 4)), 18)
    assert not close.stopped
    assert close.idle == ()
    clear = timing({**effects, "two": -0.2}, 0.06, 4)
    assert after(example.plan, example.blocks(clear), 18).idle == (
        example.cell("one").id,
        example.cell("two").id,
    )


def replayed(example: Study, wall: Timing, *, leave: bool) -> tuple[dict[str, Verdict], int]:
    """Replay a record. Return the verdict of each candidate in time, and the number of blocks."""
    plan, every = example.plan, example.blocks(wall)
    here, taken, left = plan.inputs[0].id, list[Look](), dict[str, int]()
    for index, number in enumerate(looks_of(plan).rounds):
        blocks = [
            b
            for b in every
            if b.round <= left.get(b.cell_id, number)
            or (b.round <= number and race.includes_finished(plan.measure.seed, here, b.round))
        ]
        outcome = Analysis(plan, blocks, here, index, number, taken=taken).report
        now = Look(here, index, number, outcome.stop, idle=(outcome.settled or ()) if leave else ())
        measured = [cell.id for cell in plan.cells if cell.id not in left]
        finished = () if outcome.stop else race.leaving(plan, [*taken, now], measured, ())
        taken.append(replace(now, dropped=tuple(finished)))
        if outcome.stop:
            break
        left |= dict.fromkeys(finished, number)
    judged = judge(plan, blocks, {}, (), taken)
    return {c.cell_id: c.verdict for c in judged.comparisons if c.metric == "wall"}, len(blocks)


@pytest.mark.parametrize("seed", range(3))
def test_leaving_changes_no_verdict_and_saves_runs(seed: int) -> None:
    example = Study(arms=("a", "slow", "slower", "near"), rounds=90, measure=MeasurePolicy(12, 90))
    wall = timing({**ARMS, "slower": 1.0, "near": 0.03}, 0.12, seed)
    expected, whole = replayed(example, wall, leave=False)
    verdicts, runs = replayed(example, wall, leave=True)
    assert verdicts == expected
    assert runs < 0.9 * whole


def test_the_cells_of_an_effect_stay_while_it_is_open() -> None:
    """`io` is open at first. Its cells leave together when its effect is conclusive."""
    example = Crossed({"io": ("read", "mmap"), "alloc": ("system", "fast", "slow")}, rounds=200)
    plan = replace(example.plan, measure=POLICY)
    rng = np.random.default_rng(3)
    noise = {(cell.label, n): rng.normal(0, 0.1) for cell in plan.cells for n in range(1, 201)}

    def wall(values: Mapping[str, str], _: str, number: int) -> float:
        effect = {"system": 0.0, "fast": -0.5, "slow": 1.0}[values["alloc"]]
        effect += 0.07 if values["io"] == "mmap" else 0.0
        return float(np.exp(effect + noise[" ".join(values.values()), number]))

    blocks = example.blocks(wall)
    early = Analysis(plan, [b for b in blocks if b.round <= 12], plan.inputs[0].id, 0, 12).report
    assert not early.stop
    assert early.settled
    assert after(plan, blocks, 12).idle == ()
    late = after(plan, blocks, 27)
    assert not late.stopped
    assert late.idle


def test_a_look_that_reopens_all_inputs_moves_no_finishing_round() -> None:
    plan = Study(arms=("a", "b"), sizes=(1, 2)).plan
    one, two = (item.id for item in plan.inputs)
    b_one, b_two = (
        next(c.id for c in plan.cells if c.label == "b" and c.input_id == i) for i in (one, two)
    )
    looks = [
        Look(two, 0, 12, stopped=False, dropped=(b_two,)),
        Look(one, 4, 60, stopped=False, dropped=(b_one, b_two)),
        Look(two, 1, 18, stopped=False, dropped=(b_one, b_two)),
    ]
    assert race.finishing_rounds(plan, looks) == {b_one: 60, b_two: 12}
    # `compare` selects cells of a record, and the looks name all of them.
    some = replace(plan, cells=tuple(c for c in plan.cells if c.id != b_two))
    assert race.finishing_rounds(some, looks) == {b_one: 60}


def test_a_difference_of_the_rounds_after_the_last_test_has_its_own_reason() -> None:
    example = Study(arms=("a", "b"), rounds=60, measure=POLICY)
    here, name = example.plan.inputs[0].id, example.cell("b").id

    def wall(arm: str, _: str, number: int) -> float:
        rng = np.random.default_rng([number, len(arm), arm == "b"])
        return float(np.exp(rng.normal(0.03 if arm == "b" and number > 12 else 0.0, 0.01)))

    looks = [Look(here, 0, 12, stopped=False, dropped=(name,)), Look(here, 5, 60, stopped=True)]
    judged = judge(example.plan, example.blocks(wall), {}, (), looks)
    comparison = example.comparison(judged, "b")
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert require(comparison.reason).code in {ReasonCode.DIFFERS_LATER, ReasonCode.UNSTABLE}
