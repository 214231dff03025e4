"""Intervals from several sessions, and what a record of them says."""

import statistics
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from bench_framework.compare.samples import Pair
from bench_framework.compare.verdict import examine_looks, judge_family
from bench_framework.model.facts import Confidence, OtherSession
from bench_framework.model.plan.looks import (
    RoundLimit,
    limit_of_rounds,
    limited,
    looks_of,
    session_schedule,
)
from bench_framework.model.plan.policies import MeasurePolicy
from bench_framework.model.reasons import UNSTABLE
from bench_framework.model.verdict import Verdict
from bench_framework.stats import between_sessions as between
from bench_framework.stats.instability import examine_sessions
from bench_framework.stats.intervals import LabelInverter
from bench_framework.stats.portable_math import t_quantile
from tests.build import require
from tests.unit.judging.conftest import Study, Timing, case_of

SESSIONS, LENGTH = 3, 15
MEASURE = MeasurePolicy(
    rounds_min=LENGTH, rounds_max=SESSIONS * LENGTH, sessions=SESSIONS, until="rounds"
)


def example() -> Study:
    return Study(arms=("a", "b", "c"), rounds=SESSIONS * LENGTH, measure=MEASURE)


def times(*effects: float, noise: float = 0.003) -> Timing:
    """Return times with the given effects of arm b, one for each session."""

    def wall(arm: str, where: str, number: int) -> float:
        rng = np.random.default_rng([number, *map(ord, arm + where)])
        effect = effects[(number - 1) // LENGTH] if arm == "b" else 0.0
        return float(0.1 * np.exp(effect + noise * rng.standard_normal()))

    return wall


@pytest.mark.parametrize("x", [0.1, 0.5, 1.0, 1.5, 2.7, 15.0])
def test_the_digamma_and_trigamma_functions_are_those_of_scipy(x: float) -> None:
    assert between._digamma(x) == pytest.approx(digamma(x), abs=1e-11)
    assert between._trigamma(x) == pytest.approx(polygamma(1, x), abs=1e-11)


def test_few_comparisons_have_the_usual_variance_as_prior() -> None:
    prior = between.prior_of([[0.0, 0.001, 0.002]] * 3)
    assert (prior.freedom, prior.variance) == (3.0, 0.014**2)
    large = between.prior_of([[0.0, 0.1, 0.2]])
    assert large.variance == pytest.approx(0.01)


def test_equal_variances_give_the_largest_freedom_and_that_variance() -> None:
    prior = between.prior_of([[0.0, 0.01, 0.02]] * 20)
    assert prior.freedom == 10  # half of the number of comparisons
    assert prior.variance == pytest.approx(1e-4 * np.exp(np.log(1.0) - digamma(1) + 0), rel=1e-6)


def test_the_prior_of_simulated_comparisons_is_near_the_truth() -> None:
    rng = np.random.default_rng(1)
    prior = between.prior_of(rng.normal(0, 0.02, (200, 3)).tolist())
    assert prior.freedom == 30
    assert prior.variance == pytest.approx(0.02**2, rel=0.15)
    mixed = between.prior_of(
        (rng.normal(0, 1, (200, 3)) * 0.02 * np.exp(rng.normal(0, 1, (200, 1)))).tolist()
    )
    assert 0.5 < mixed.freedom < 4


def test_the_prior_of_variances_that_follow_it_is_near_it() -> None:
    """The variances are s₀² · d₀ / χ²(d₀), as the model of the method says."""
    rng = np.random.default_rng(2)
    freedom, variance = 8, 0.02**2
    deviations = np.sqrt(variance * freedom / rng.chisquare(freedom, (2000, 1)))
    prior = between.prior_of((rng.normal(0, 1, (2000, 5)) * deviations).tolist())
    assert prior.freedom == pytest.approx(freedom, rel=0.2)
    assert prior.variance == pytest.approx(variance, rel=0.1)


def test_the_intervals_are_those_of_the_moderated_variance() -> None:
    sessions, prior = [0.01, 0.03, 0.05], between.Prior(4, 0.0009)
    spread = between.spread_of(sessions, 0.0, prior)
    variance = (4 * 0.0009 + 2 * statistics.variance(sessions)) / 6
    t = t_quantile(0.975, 6)
    assert spread.mean.estimate == pytest.approx(0.03)
    assert spread.mean.half_width == pytest.approx(t * (variance / 3) ** 0.5)
    assert spread.another.half_width == pytest.approx(t * (variance * 4 / 3) ** 0.5)


def test_sessions_that_vary_more_than_others_borrow_less() -> None:
    sessions, prior = [0.01, 0.03, 0.05], between.Prior(30, 0.0001)
    spread = between.spread_of(sessions, 0.0, prior)
    variance = (2 * 0.0001 + 2 * statistics.variance(sessions)) / 4
    assert spread.mean.half_width == pytest.approx(t_quantile(0.975, 4) * (variance / 3) ** 0.5)


def test_equal_sessions_still_have_the_error_of_their_rounds() -> None:
    spread = between.spread_of([0.01, 0.01, 0.01], 0.02, between.Prior(30, 1e-16))
    assert spread.mean.half_width == pytest.approx(t_quantile(0.975, 32) * 0.02)


def test_a_session_that_differs_is_found_and_a_drift_of_all_programs_is_not() -> None:
    parts = [slice(start, start + LENGTH) for start in range(0, SESSIONS * LENGTH, LENGTH)]
    values = np.random.default_rng(6).normal(0, 0.01, (SESSIONS * LENGTH, 3))
    drift = values + np.repeat([0.0, 0.4, 0.1], LENGTH)[:, None]
    changed = values.copy()
    changed[LENGTH : 2 * LENGTH, 0] += 0.05

    def p_of(logs: np.ndarray) -> float:
        return examine_sessions(logs, LabelInverter(logs).estimate, parts)

    assert p_of(values) > 0.05
    assert p_of(drift) > 0.05
    assert p_of(changed) < 1e-4


def test_the_interval_of_a_comparison_contains_the_variation_between_sessions() -> None:
    one = example()
    quiet = one.comparison(one.judge(one.blocks(times(0.04, 0.04, 0.04))), "b")
    moved = one.comparison(one.judge(one.blocks(times(0.03, 0.04, 0.05))), "b")
    assert quiet.sessions is not None
    narrow, wide, sessions = require(quiet.shown), require(moved.shown), require(moved.sessions)
    ratios = [r.ratio for r in sessions.ratios]
    assert ratios == pytest.approx(np.exp([0.03, 0.04, 0.05]), abs=0.003)
    assert wide.ratio == pytest.approx(np.exp(0.04), abs=0.003)
    assert np.log(wide.hi / wide.lo) > np.log(narrow.hi / narrow.lo)
    assert sessions.another.lo < wide.lo < wide.hi < sessions.another.hi
    assert moved.verdict.worse
    assert moved.mirrored().sessions == sessions.inverse


@pytest.mark.parametrize(("effects", "warned"), [((0.04, 0.04, 0.04), 0), ((0.02, 0.04, 0.06), 1)])
def test_an_answer_that_another_session_may_not_show_has_a_warning(
    effects: tuple[float, ...], warned: int
) -> None:
    one = replace(example(), arms=("a", "b"))
    judged = one.judge(one.blocks(times(*effects)))
    c = one.comparison(judged, "b")
    another = require(c.sessions).another
    assert c.verdict.worse
    assert (another.lo < 1 < another.hi) == bool(warned)
    claims = [claim.fact for claim in judged.claims if isinstance(claim.fact, OtherSession)]
    assert [(f.expected.lo, f.expected.hi) for f in claims] == [(another.lo, another.hi)] * warned
    (sure,) = (claim.fact for claim in judged.claims if isinstance(claim.fact, Confidence))
    assert (sure.answer is None) == bool(warned)


def test_a_ratio_that_changes_its_sign_between_sessions_has_no_verdict() -> None:
    one = example()
    judged = one.judge(one.blocks(times(-0.06, 0.05, -0.06)))
    c = one.comparison(judged, "b")
    assert require(c.sessions).differ
    assert (c.verdict, c.reason) == (Verdict.INCONCLUSIVE, UNSTABLE)
    assert not one.comparison(judged, "c").sessions.differ  # type: ignore[union-attr]


def test_a_ratio_that_changes_only_its_size_keeps_its_direction() -> None:
    one = example()
    c = one.comparison(one.judge(one.blocks(times(-0.20, -0.40, -0.30))), "b")
    assert c.shown is not None
    assert require(c.sessions).differ
    assert c.verdict.better
    assert c.reason is None


def test_sessions_have_one_look_at_the_end() -> None:
    looks = looks_of(example().plan)
    assert (looks.rounds, looks.session_rounds) == ((SESSIONS * LENGTH,), LENGTH)


@pytest.mark.parametrize(
    ("affordable", "rounds"), [(1000, 54), (45, 39), (40, 36), (10, 36), (0, 36)]
)
def test_the_budget_gives_the_rounds_of_each_session(affordable: float, rounds: int) -> None:
    """Two further sessions need four warm-up rounds, and each session has 12 to 18 rounds."""
    measure = MeasurePolicy(rounds_min=12, rounds_max=54, sessions=3, by_budget=True, budget_s=300)
    plan = Study(measure=measure).plan
    limit = limit_of_rounds(plan, affordable)
    assert limit == rounds
    assert limited(plan, RoundLimit(limit)).measure.session_rounds * 3 == rounds


def test_a_session_has_as_many_rounds_as_the_comparisons_need() -> None:
    measure = MeasurePolicy(rounds_min=2, rounds_max=36, sessions=2, by_budget=True, budget_s=1)
    plan = Study(measure=measure).plan
    rounds = limit_of_rounds(plan, 0)
    needed = looks_of(plan).needed
    assert rounds == 2 * -(-needed // 2)


def test_the_interval_of_a_finished_comparison_has_sessions_of_few_rounds() -> None:
    rng, range_ = np.random.default_rng(4), (*range(1, 31), *range(33, 91, 4))
    logs = rng.normal(0, 0.003, (len(range_), 3))
    logs[:30, 0] += 0.05  # only the first two sessions differ
    columns = (tuple(map(float, np.exp(column))) for column in logs.T)
    policy = MeasurePolicy(rounds_max=90, sessions=6, sessions_min=2)
    looks = session_schedule(policy, 1, 0.05)
    pair = Pair(range_, *columns)
    early, late = (
        judge_family([case_of(part, examine_looks(part, [30]))], looks)[0]
        for part in (pair.until(30), pair)
    )
    assert (require(early.sessions).count, require(late.sessions).count) == (2, 6)
    assert require(early.shown).ratio == pytest.approx(np.exp(0.05), abs=0.003)
    assert require(late.shown).ratio == pytest.approx(np.exp(0.05 / 3), abs=0.003)
    assert not late.verdict.decided
