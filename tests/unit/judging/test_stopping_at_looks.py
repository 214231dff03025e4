"""The end of measuring, and its reasons."""

import math
import random
from dataclasses import replace

import pytest

from bench_framework.compare import stopping
from bench_framework.compare.data_quality import floor_fraction, reach
from bench_framework.compare.interim_analysis import (
    Analysis,
    make_inconclusive_where_control_differs,
)
from bench_framework.features.judge import judge
from bench_framework.model.plan.looks import looks_of
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.reasons import CONTROL_DIFFERS, LAST_LOOK, ReasonCode, message
from bench_framework.model.record.run import Answer, Look
from bench_framework.model.result.interim import LookOutcome
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.text.reasons import phrase
from tests.build import make_comparison, require
from tests.unit.judging.conftest import Study, Timing, analysis, changed, timing


def at(example: Study, wall: Timing, index: int) -> LookOutcome:
    return analysis(example, wall, index).report


@pytest.mark.parametrize(
    ("wall", "verdict"),
    [(timing({"b": 0.5}, 0.01), Verdict.WORSE), (timing({}, 0.004), Verdict.EQUIVALENT)],
    ids=["slower", "equivalent"],
)
def test_a_settled_input_stops_at_the_first_look(wall: Timing, verdict: Verdict) -> None:
    outcome = at(Study(), wall, 0)
    assert (outcome.stop, phrase(outcome.reason)) == (True, "every comparison is conclusive")
    assert {c.verdict for c in outcome.verdicts} == {verdict}


def test_an_inconclusive_comparison_continues_until_the_last_look() -> None:
    example = Study(measure=MeasurePolicy(rounds_max=200), rounds=200)
    wall = timing({"b": 0.03}, 0.08)
    first = at(example, wall, 0)
    assert (first.stop, first.reason.code) == (False, ReasonCode.STILL_OPEN)
    last = looks_of(example.plan).count - 1
    noisy = timing({"b": 0.03}, 0.5)
    assert at(Study(), noisy, looks_of(Study().plan).count - 1).reason == LAST_LOOK
    assert at(example, wall, last).stop


def test_a_hopeless_input_is_given_up() -> None:
    """A spread of a factor of e: no plausible difference could be detected in 40 rounds."""
    outcomes = [at(Study(), timing({}, 1.0, seed), 2) for seed in range(40)]
    given_up = [o for o in outcomes if o.stop and o.reason == stopping.FUTILE]
    assert len(given_up) >= 3
    assert {phrase(o.reason) for o in given_up} == {
        "every comparison is conclusive or cannot become so in the remaining rounds"
    }


def test_a_large_plausible_difference_is_not_given_up_because_of_the_margin() -> None:
    """+40 % under a spread of 30 %: the margin of 2 % cannot be reached, but the difference can."""
    example = Study(measure=MeasurePolicy(rounds_max=90), rounds=90)
    for seed in range(10):
        outcome = at(example, timing({"b": 0.4}, 0.3, seed), 0)
        assert not outcome.stop or all(c.verdict.settled for c in outcome.verdicts)


def test_a_race_names_the_losing_cells() -> None:
    example = Study(arms=("a", "b", "c"), measure=MeasurePolicy(strategy="race"))
    assert at(example, timing({"b": 0.8, "c": -0.1}, 0.01), 1).trailing == (example.cell("b").id,)
    assert at(Study(), timing({"b": 0.8}, 0.01), 1).trailing == ()


def test_the_live_table_shows_what_the_report_will_say() -> None:
    example = Study(arms=("a", "b", "c", "d"))
    wall = timing({"b": 0.05, "c": -0.03, "d": 0.3}, 0.03)
    plan, taken = example.plan, looks_of(example.plan).rounds
    looks = [Look(plan.inputs[0].id, i, n, stopped=False) for i, n in enumerate(taken)]
    judged = judge(plan, example.blocks(wall), {}, (), looks)
    live = at(example, wall, len(taken) - 1).verdicts
    final = [c for c in judged.comparisons if c.family == "headline"]
    assert [(c.cell_id, c.verdict, c.shown, c.p) for c in live] == [
        (c.cell_id, c.verdict, c.shown, c.p) for c in final
    ]


def test_a_look_without_blocks_decides_nothing() -> None:
    plan = Study().plan
    outcome = Analysis(plan, [], plan.inputs[0].id, 0, 12).report
    assert not outcome.stop
    assert {c.verdict for c in outcome.verdicts} == {Verdict.INCONCLUSIVE}


def test_a_refused_cell_keeps_no_input_measuring() -> None:
    example = Study(arms=("a", "b", "c"))
    blocks = [b for b in example.blocks(timing({"b": 0.5}, 0.01)) if b.round <= 12]
    blocks = changed(blocks, example.cell("c").id, answer=Answer("zz"))
    plan = example.plan
    outcome = Analysis(plan, blocks, plan.inputs[0].id, 0, 12).report
    assert (outcome.stop, phrase(outcome.reason)) == (True, "every comparison is conclusive")


def test_the_noise_floor_is_the_larger_end() -> None:
    blank = make_comparison("c", "b", "wall", "control", Verdict.INCONCLUSIVE)
    assert reach(Interval(1, 0.99, 1.013, 0.99)) == pytest.approx(0.013)
    assert reach(Interval(1, 0.95, 1.01, 0.99)) == pytest.approx(1 / 0.95 - 1)
    assert reach(Interval(1, 0.0, math.inf, 0.99)) is None
    assert floor_fraction(blank) is None


def test_the_noise_floor_is_that_of_the_interval_of_the_check() -> None:
    both = make_comparison(
        "c",
        "b",
        "wall",
        "control",
        Verdict.INCONCLUSIVE,
        shown=Interval(1, 0.9, 1.1, 0.999),
        statistic="typical",
        unadjusted=Interval(1, 0.99, 1.03, 0.95),
    )
    assert floor_fraction(both) == pytest.approx(1 / 0.9 - 1)
    assert floor_fraction(replace(both, unadjusted=Interval(1, 0.99, 1.03, 1 - 2.0**-4))) is None


def test_rounds_behind_the_last_look_are_in_no_verdict() -> None:
    """An interrupted record: samples since the last interim analysis are not used before the next one."""
    example = Study(arms=("a", "b"))

    def wall(arm: str, _: str, number: int) -> float:
        slow = 2.0 if arm == "b" and number > 18 else 1.0
        return slow * (1 + abs(random.Random(f"{arm}/{number}").gauss(0, 0.004)))

    taken = [Look(item.id, 1, 18, stopped=False) for item in example.plan.inputs]
    judged = judge(example.plan, example.blocks(wall, rss=lambda arm, *_: 1e6), {}, [], taken)
    timed = [c for c in judged.comparisons if c.family in ("headline", "control", "memory")]
    assert len(timed) == 5
    assert {c.rounds for c in timed} == {18}
    assert example.comparison(judged, "b").verdict is Verdict.EQUIVALENT
    assert {c.rounds for c in judged.best[0].comparisons} == {18}


def test_a_tripped_control_changes_only_the_verdicts_of_rounds() -> None:
    interval = Interval(0.5, 0.5, 0.5, 1.0)
    exact = make_comparison("x", "y", "binary_size", "exact", Verdict.BETTER, shown=interval)
    timed = make_comparison("x", "y", "wall", "headline", Verdict.BETTER, shown=interval)
    failed = make_comparison("x", "y", "wall", "headline", Verdict.FAILED, message("exit 9"))
    other = make_comparison("x", "y", "cpu", "headline", Verdict.BETTER, shown=interval)
    results = make_inconclusive_where_control_differs(
        (exact, timed, failed, other), {"wall", "binary_size"}
    )
    assert results[3] is other
    assert results[0] is exact
    assert (results[1].verdict, phrase(results[1].reason)) == (
        Verdict.INCONCLUSIVE,
        "the A/A control differs significantly",
    )
    assert results[2] is failed


def test_each_metric_of_the_control_is_judged_as_the_first_of_the_family() -> None:
    """No metric of the A/A control gets a less strict step because another one differs."""
    example = Study(arms=("a", "b", "c"))
    judged = example.judge(example.blocks(timing({}, 0.3), cpu=timing({"control": 0.5}, 0.01)))
    control = {c.metric: c for c in judged.comparisons if c.family == "control"}
    assert control["cpu"].verdict.decided
    assert control["wall"].verdict is Verdict.INCONCLUSIVE
    tripped = {f.metric for f in judged.floors if f.tripped}
    withdrawn = {c.metric for c in judged.comparisons if c.reason == CONTROL_DIFFERS}
    assert tripped == withdrawn == {"cpu"}
    strict = 1 - 0.05 / (judged.looks.count * judged.looks.family)
    assert judged.looks.family == 4
    for comparison in control.values():
        assert require(comparison.shown).level == pytest.approx(strict)
