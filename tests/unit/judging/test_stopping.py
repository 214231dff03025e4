"""`until`, `budget`, `min` and `max`, and their effects. J and M never change (docs/method.md#stopping)."""

import random
from dataclasses import replace

import pytest

from bench_framework.compare import stopping
from bench_framework.compare.interim_analysis import Analysis
from bench_framework.compare.stage import Stage, runs_of
from bench_framework.features.judge import judge
from bench_framework.model.plan.looks import looks_of, schedule
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.record.run import Look
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.text.reasons import phrase
from tests.build import make_comparison, require
from tests.unit.judging.conftest import Study, Timing, analysis


def timing(effect: float, spread: float, seed: int = 0) -> Timing:
    def draw(arm: str, where: str, number: int) -> float:
        noise = random.Random(f"{seed}/{arm}/{where}/{number}").gauss(0, spread)
        return 0.05 * (1 + effect * (arm == "b")) * (1 + noise)

    return draw


def test_precision_goes_on_until_every_headline_interval_is_narrow_enough() -> None:
    example = Study(measure=MeasurePolicy(until="precision", precision=0.02))
    wall = timing(0.5, 0.021)
    outcomes = [analysis(example, wall, i).report for i in range(looks_of(example.plan).count)]
    widths = [[stopping.half_width(c) for c in o.verdicts] for o in outcomes]
    for outcome, results in list(zip(outcomes, widths, strict=True))[:-1]:
        assert outcome.stop is all(w is not None and w <= 0.02 for w in results)
    assert not outcomes[0].stop
    assert any(o.stop for o in outcomes[:-1])


@pytest.mark.parametrize("precision", [0.5, 0.001])
def test_precision_changes_neither_the_looks_nor_the_level(precision: float) -> None:
    decided = Study().plan
    precise = Study(measure=MeasurePolicy(until="precision", precision=precision)).plan
    assert looks_of(precise) == looks_of(decided)


def test_a_budget_that_ends_first_takes_the_last_look_at_the_round_reached() -> None:
    """It replaces the next one: J stays, and at most J interim analyses are made."""
    example = Study()
    plan, here = example.plan, example.plan.inputs[0].id
    looks = looks_of(plan)
    assert looks.rounds[0] < 15 < looks.rounds[1]
    blocks = [b for b in example.blocks(timing(0.2, 0.01)) if b.round <= 15]
    outcome = Analysis(plan, blocks, here, looks.count - 1, 15).report
    assert (outcome.stop, phrase(outcome.reason)) == (True, "every comparison is conclusive")
    taken = [
        Look(here, 0, looks.rounds[0], stopped=False),
        Look(here, looks.count - 1, 15, stopped=True),
    ]
    judged = judge(plan, blocks, {}, (), taken)
    for comparison in (c for c in judged.comparisons if c.family == "headline"):
        assert (comparison.rounds, comparison.look) == (15, looks.count - 1)
        assert require(comparison.shown).level >= 1 - looks.level / looks.count
        assert comparison.verdict.decided


def test_a_budget_that_ends_below_n_min_decides_nothing() -> None:
    example = Study()
    here, looks = example.plan.inputs[0].id, looks_of(example.plan)
    needed = looks.needed_with(3)  # every comparison is one with the baseline and its control
    assert needed < looks.needed
    for rounds, decided in ((needed - 1, False), (needed, True)):
        blocks = [b for b in example.blocks(timing(1.0, 0.001)) if b.round <= rounds]
        last = Look(here, looks.count - 1, rounds, stopped=True)
        judged = judge(example.plan, blocks, {}, (), [last])
        headline = [c for c in judged.comparisons if c.family == "headline"]
        assert any(c.verdict.decided for c in headline) is decided


def test_a_max_below_n_min_is_measured_warned_of_and_exploratory() -> None:
    example = Study(measure=MeasurePolicy(rounds_min=3, rounds_max=5), rounds=5)
    looks = looks_of(example.plan)
    assert (looks.rounds, looks.decidable) == ((5,), False)
    assert looks.needed > 5
    judged = example.judge(example.blocks(timing(1.0, 0.001)))
    assert judged.status == "exploratory"
    assert any(str(looks.needed) in f"{e.message} {e.effect} {e.help}" for e in judged.events)
    assert not any(c.verdict.decided for c in judged.comparisons if c.family == "headline")


@pytest.mark.parametrize(("least", "first"), [(1, 8), (12, 12), (25, 25), (40, 40)])
def test_min_moves_the_first_look_and_max_is_always_the_last(least: int, first: int) -> None:
    """A `min` below 12 requests an earlier interim analysis. None comes before n_min, which is 8 here."""
    plan = Study(measure=MeasurePolicy(rounds_min=least, rounds_max=40)).plan
    plan = replace(plan, judge=replace(plan.judge, metrics=("wall",)))
    assert looks_of(plan).rounds[0] == first
    assert looks_of(plan).rounds[-1] == 40


def test_until_conclusive_with_strategy_fixed_waits_for_every_pair() -> None:
    """One inconclusive pair keeps its input going, without the configuration that is finished."""
    example = Study(arms=("a", "b", "c"), measure=MeasurePolicy(rounds_max=200), rounds=200)

    def wall(arm: str, where: str, number: int) -> float:
        if arm == "b":
            return timing(1.0, 0.01)(arm, where, number)
        return timing(0.0, 0.06)(arm, where, number) * (1.03 if arm == "c" else 1.0)

    outcome = analysis(example, wall, 0).report
    assert not outcome.stop
    assert outcome.trailing == ()
    assert outcome.settled == (example.cell("b").id,)
    assert any(c.verdict.decided for c in outcome.verdicts)


def stage_of(plan: Plan) -> Stage:
    runs, looks = runs_of(plan, (), {}), schedule(12, 40, 2, 0.05)
    return Stage(plan, plan.inputs[0].id, plan.judge, runs, looks, (12,), 0)


def open_pair(rounds: int, unadjusted: Interval) -> Comparison:
    pair = make_comparison("x", "y", "wall", "headline", Verdict.INCONCLUSIVE, mde=0.15)
    return replace(pair, rounds=rounds, unadjusted=unadjusted)


@pytest.mark.parametrize(
    ("hi", "strategy", "rounds", "given_up"),
    [
        (1.25, "fixed", 27, False),
        (1.07, "fixed", 12, False),
        (1.07, "fixed", 27, True),
        (1.25, "race", 12, True),
    ],
)
def test_what_the_interval_leaves_possible_is_waited_for_unless_it_is_a_race(
    hi: float, strategy: str, rounds: int, *, given_up: bool
) -> None:
    """A true difference of 10 % that the first interim analysis misses would be detected by the
    last one. Noise alone is no reason to stop. After 27 of 40 rounds, 7 % would be detected in less than half of
    all cases.

    In a race, a detectable difference of 15 % after 12 of 40 rounds corresponds to 8 % at the last one.
    """
    plan = Study(measure=MeasurePolicy(strategy=strategy)).plan  # type: ignore[arg-type]
    stage = stage_of(plan)
    pair = open_pair(rounds, Interval(1.03, 0.94, hi, 0.95))
    pair = replace(pair, shown=Interval(1.03, 0.9, 1.3, 0.99))
    assert stopping.futile(pair, stage) is given_up


def test_what_can_still_be_shown_to_be_equivalent_is_waited_for() -> None:
    plan = Study().plan
    stage = stage_of(plan)
    pair = open_pair(27, Interval(1.001, 0.99, 1.012, 0.95))
    assert not stopping.futile(pair, stage)
    wide = replace(pair, unadjusted=Interval(1.001, 0.96, 1.045, 0.95))
    assert stopping.futile(wide, stage)
    assert not stopping.futile(replace(wide, rounds=12), stage)
