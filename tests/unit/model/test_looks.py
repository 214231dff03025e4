"""Tests of the schedule of interim analyses (docs/method.md#interim-analyses)."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bench_framework.model.plan.looks import (
    RoundLimit,
    limit_of_rounds,
    limited,
    rounds_needed,
    schedule,
    session_schedule,
)
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.workflow.run_options import plan_scenario

SCENARIO = """\
version: 1
name: s
question: Which one is the fastest?
worker: {command: [/bin/true]}
axes: {arm: [a, b, c, d, e, f, g]}
command: ["{bin}", "{arm}"]
baseline: {arm: a}
"""


def test_44_comparisons_have_four_looks_from_round_14() -> None:
    looks = schedule(12, 40, family=44, level=0.05)
    assert looks.rounds == (14, 18, 27, 40)
    assert looks.needed == 14


def test_eight_variants_three_inputs_two_metrics_at_one_percent_need_16_rounds() -> None:
    assert rounds_needed(4, 8 * 3 * 2, 0.01) == 16


def test_a_third_run_in_each_round_reaches_the_level_in_fewer_rounds() -> None:
    looks = schedule(12, 1000, family=2, level=0.05).shared_by(2, 0.01)
    assert looks.needed_with(2) == looks.needed == 13
    assert looks.needed_with(3) == 8
    assert 3**7 < 2.5 * looks.count * 2 / 0.01 <= 3**8


def test_an_exploratory_record_decides_nothing_with_a_third_run_either() -> None:
    looks = schedule(5, 5, family=2, level=0.05)
    assert not looks.decidable
    assert looks.needed_with(3) == looks.needed > 5


def test_max_is_always_the_last_look() -> None:
    assert schedule(12, 100, family=4, level=0.05).rounds[-1] == 100


def test_a_single_look_is_at_max() -> None:
    assert schedule(12, 40, family=4, level=0.05, single=True).rounds == (40,)


@given(
    st.integers(1, 60),
    st.integers(1, 400),
    st.integers(1, 2000),
    st.integers(1, 2000),
    st.sampled_from([0.01, 0.05]),
)
def test_a_family_that_is_chosen_afterwards_pays_for_every_look_that_could_have_been_taken(
    first: int, last: int, family: int, other: int, level: float
) -> None:
    looks = schedule(first, last, family, 0.05)
    shared = looks.shared_by(other, level)
    assert shared.rounds == looks.rounds
    assert (shared.family, shared.level) == (other, level)
    assert shared.needed == rounds_needed(looks.count, other, level)
    assert shared.decidable is (last >= shared.needed)


def test_too_few_rounds_are_exploratory_not_refused() -> None:
    looks = schedule(3, 3, family=4, level=0.05)
    assert looks.rounds == (3,)
    assert not looks.decidable


@given(
    st.integers(1, 60),
    st.integers(0, 400),
    st.integers(0, 2000),
    st.sampled_from([0.01, 0.05]),
    st.booleans(),
)
def test_every_look_but_a_hopeless_last_one_can_decide(
    first: int, more: int, family: int, level: float, single: bool
) -> None:
    last = first + more
    looks = schedule(first, last, family, level, single=single)
    assert looks.rounds == tuple(sorted(set(looks.rounds)))
    assert looks.rounds[-1] == last
    assert looks.needed == rounds_needed(looks.count, max(1, family), level)
    assert all(n >= looks.needed for n in looks.rounds[:-1])
    assert looks.decidable == (last >= looks.needed)


@pytest.mark.parametrize(
    ("affordable", "limit"),
    [(0.0, 12), (10.0, 12), (15.0, 18), (33.3, 40), (33.4, 60), (900.0, 1000), (math.inf, 1000)],
)
def test_the_limit_is_the_step_of_the_grid_that_the_budget_cannot_exceed(
    affordable: float, limit: int, tmp_path: Path
) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    assert limit_of_rounds(plan_scenario(str(path)), affordable) == limit


def test_another_rule_can_need_more_rounds(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    plan = plan_scenario(str(path))
    assert limit_of_rounds(plan, 1.0, lambda p: p.measure.rounds_max > 20) == 21
    assert limit_of_rounds(plan, 1.0, lambda _: False) == 1000
    assert limited(plan, RoundLimit(21)).measure.by_budget is False


RANGE = MeasurePolicy(rounds_max=90, sessions=6, sessions_min=2)


def test_a_range_of_sessions_has_a_look_after_each_one_that_may_be_the_last() -> None:
    looks = session_schedule(RANGE, family=2, level=0.05)
    assert (looks.rounds, looks.session_rounds) == ((30, 45, 60, 75, 90), 15)
    short = session_schedule(replace(RANGE, rounds_max=18), family=2, level=0.05)
    assert short.rounds == (9, 12, 15, 18)  # six rounds cannot reach the level
    last = session_schedule(replace(RANGE, until="rounds"), family=2, level=0.05)
    assert last.rounds == (90,)


def test_the_interval_from_the_sessions_has_little_of_the_error_at_early_looks() -> None:
    looks = session_schedule(RANGE, family=2, level=0.05)
    levels = [looks.session_level(sessions, 0) for sessions in range(1, 7)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] == levels[1] == pytest.approx(1 - 0.04 / 27)
    assert levels[-1] == pytest.approx(0.96)
    fixed = session_schedule(replace(RANGE, sessions_min=None), family=2, level=0.05)
    assert fixed.session_level(6, 0) == 0.95
    # The budget has ended the record after three sessions.
    assert looks.session_level(3, looks.count - 1) == pytest.approx(0.96)


def test_a_record_has_as_many_sessions_as_its_rounds_fill() -> None:
    assert [RANGE.sessions_in(n) for n in (0, 1, 15, 16, 90, 91)] == [0, 1, 1, 2, 6, 6]
