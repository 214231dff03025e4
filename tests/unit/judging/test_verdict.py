"""The table of verdicts, one case per row, and the rules that weaken them (`docs/method.md#verdicts`)."""

import math
from dataclasses import replace

import numpy as np
import pytest

from bench_framework.compare import decide, verdict
from bench_framework.compare.verdict import Case, PairedTest
from bench_framework.model.plan.looks import Looks
from bench_framework.model.reasons import REACHES_ONE
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.stats import run_labels
from bench_framework.stats.holm_family import minimum_detectable_effect
from bench_framework.text.reasons import phrase
from tests.build import require
from tests.unit.judging.conftest import case_of, pair_of_logs

LOOKS = Looks.at((12, 18, 27, 40), family=4, level=0.05)


def case(shift: float, sd: float = 0.002, n: int = 40, seed: int = 0) -> Case:
    random = np.random.default_rng(seed)
    base = random.normal(0, 0.2, n)
    x, y = base + shift + random.normal(0, sd, n), base + random.normal(0, sd, n)
    pair = pair_of_logs(x, y)
    return case_of(pair, verdict.examine_looks(pair, (12, 18, 27, n)))


def judged(given: Case, looks: Looks = LOOKS) -> Comparison:
    (comparison,) = verdict.judge_family([given], looks)
    return comparison


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (0.90, Verdict.BETTER),
        (0.985, Verdict.BETTER_SIZE_UNCERTAIN),
        (1.015, Verdict.WORSE_SIZE_UNCERTAIN),
        (1.10, Verdict.WORSE),
        (1.0, Verdict.EQUIVALENT),
        (1.004, Verdict.EQUIVALENT),
    ],
)
def test_differences_without_noise_have_their_verdict(ratio: float, expected: Verdict) -> None:
    assert judged(case(math.log(ratio))).verdict is expected


def test_a_noisy_pair_is_inconclusive_and_has_a_minimum_detectable_effect() -> None:
    comparison = judged(case(0.0, sd=0.2))
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert require(comparison.mde) > 0.05
    assert comparison.rounds_needed is None  # more than 1 000
    some = judged(case(0.0, sd=0.03))
    assert require(some.rounds_needed) > 40


@pytest.mark.parametrize(("rounds", "has_interval"), [(1, False), (5, False), (6, True)])
def test_rounds_that_cannot_reach_95_percent_have_no_interval(
    rounds: int, has_interval: bool
) -> None:
    comparison = judged(case(0.3, n=rounds))
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.reason == verdict.TOO_FEW
    unadjusted, adjusted = require(comparison.unadjusted), require(comparison.shown)
    assert unadjusted.bounded is adjusted.bounded is has_interval
    assert (unadjusted.level >= 0.95) is (adjusted.level >= 0.95) is has_interval
    assert math.log(unadjusted.ratio) == pytest.approx(0.3, abs=0.01)


def test_a_significant_effect_below_epsilon_is_equivalent() -> None:
    """0.6 % is significant here, but copies of one binary differ as much."""
    comparison = judged(case(math.log(1.006), sd=0.001))
    assert require(comparison.p_adjusted) < 0.05
    assert comparison.verdict is Verdict.EQUIVALENT


def test_the_displayed_interval_has_the_level_of_the_holm_step() -> None:
    comparison = judged(case(math.log(1.1)))
    assert require(comparison.shown).level == pytest.approx(1 - 0.05 / (4 * 4))
    clear, weaker = case(math.log(1.1)), case(math.log(1.05), sd=0.04, n=40, seed=5)
    assert clear.strongest.p < weaker.strongest.p
    assert [
        c.shown.level for c in verdict.judge_family([weaker, clear], LOOKS) if c.shown
    ] == pytest.approx([1 - 0.05 / 12, 1 - 0.05 / 16])
    ties = verdict.judge_family([case(math.log(1.1)), case(math.log(1.1), seed=1)], LOOKS)
    assert [c.shown.level for c in ties if c.shown] == pytest.approx([1 - 0.05 / 16] * 2)


def test_no_inconclusive_pair_is_printed_with_an_interval_that_leaves_1_out() -> None:
    loose = Looks.at((40,), family=1, level=0.05)
    decided = 0
    for seed in range(60):
        given = case(0.015, sd=0.03, n=40, seed=seed)
        evidence = verdict.examine_looks(given.pair, (40,))
        comparison = judged(replace(given, evidence=evidence), loose)
        interval = require(comparison.shown)
        excludes_one = interval.lo > 1.0001 or interval.hi < 0.9999
        decided += comparison.verdict.decided
        assert not (comparison.verdict is Verdict.INCONCLUSIVE and excludes_one)
    assert 10 < decided < 50


def test_equivalent_shows_the_interval_at_its_own_level_inside_the_margin() -> None:
    interval = require(judged(case(0.0)).shown)
    assert interval.level == pytest.approx(1 - 2 * 0.05 / 4)
    assert 1 / 1.02 < interval.lo < interval.hi < 1.02


def test_equivalent_needs_the_slow_rounds_too() -> None:
    """The candidate's slow runs are slower: the main score hardly sees it, the signed rank does."""
    random = np.random.default_rng(3)
    x, y = random.normal(0, 0.0005, (2, 40))
    slow = np.arange(40) % 3 == 0
    x[slow] += random.uniform(0.02, 0.3, int(slow.sum()))
    pair = pair_of_logs(x, y)
    low, _ = run_labels.examine(verdict.table(pair), math.log1p(0.02))
    assert low.main <= ((1 - decide.equivalence_level(LOOKS.count)) / 2) < low.rank
    given = case_of(pair, verdict.examine_looks(pair, (12, 18, 27, 40)))
    assert judged(given).verdict is not Verdict.EQUIVALENT


def test_a_direction_that_turned_after_its_look_is_mixed() -> None:
    comparison = judged(case_of(case(math.log(1.1)).pair, [PairedTest(12, 1e-7, sign=-1)]))
    assert comparison.verdict is Verdict.INCONCLUSIVE
    assert "direction" in phrase(comparison.reason)


def test_a_decided_pair_whose_interval_reaches_one_is_lowered() -> None:
    given = case(0.03, sd=0.05, seed=8)
    comparison = judged(case_of(given.pair, [PairedTest(40, 1e-7, sign=1)], smallest=0.001))
    interval = require(comparison.shown)
    assert interval.lo < 1 < interval.hi
    assert (comparison.verdict, comparison.reason) == (Verdict.INCONCLUSIVE, REACHES_ONE)
    assert comparison.mde is None


def test_load_in_two_of_three_rounds_does_not_hide_a_difference() -> None:
    """Two rounds of three are disturbed by load, in both arms, by up to a factor of three."""
    random = np.random.default_rng(5)
    load = np.where(np.arange(40) % 3 == 0, 0.0, 1.0)
    x = 0.05 + random.normal(0, 0.002, 40) + load * random.uniform(0, 1, 40)
    pair = pair_of_logs(x, random.normal(0, 0.002, 40) + load * random.uniform(0, 1, 40))
    comparison = judged(case_of(pair, [verdict.examine(pair)]))
    assert comparison.verdict in (Verdict.WORSE, Verdict.WORSE_SIZE_UNCERTAIN)
    unadjusted = require(comparison.unadjusted)
    assert unadjusted.lo < 1.051 < unadjusted.hi


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        (0.96, 0.98, Verdict.BETTER),
        (0.96, 0.99, Verdict.BETTER_SIZE_UNCERTAIN),
        (0.96, 1.0, Verdict.INCONCLUSIVE),
        (1.0, 1.1, Verdict.INCONCLUSIVE),
        (1.001, 1.1, Verdict.WORSE_SIZE_UNCERTAIN),
        (1.02, 1.1, Verdict.WORSE_SIZE_UNCERTAIN),
        (1.021, 1.1, Verdict.WORSE),
    ],
)
def test_the_displayed_interval_gives_the_row_of_the_table(
    lo: float, hi: float, expected: Verdict
) -> None:
    assert decide.by_interval(Interval((lo + hi) / 2, lo, hi, 0.99), 0.02) is expected


def test_the_detectable_difference_follows_its_formula() -> None:
    """SE 1 %, a = 5 % / 16: 1.25 × (2.9552 + 1.6449) × 0.01."""
    assert minimum_detectable_effect(0.0195996, LOOKS.strict, 0.01) == pytest.approx(
        1.25 * (2.9552 + 1.6449) * 0.01, rel=1e-4
    )
    quiet = minimum_detectable_effect(0.000195996, LOOKS.strict, 0.01)
    assert quiet == pytest.approx(math.log(1.01) + 1.25 * 1.6449 * 0.0001, rel=1e-4)


def test_fewer_rounds_than_any_verdict_needs_have_a_reason_and_detect_nothing() -> None:
    assert LOOKS.needed == 10
    few, enough = (judged(case(0.0, sd=0.03, n=rounds)) for rounds in (9, 10))
    assert few.verdict is enough.verdict is Verdict.INCONCLUSIVE
    assert (few.reason, few.mde, few.rounds_needed) == (verdict.TOO_FEW, None, None)
    assert enough.reason is None
    assert require(enough.mde) > 0.05


def test_a_true_difference_of_the_stated_size_is_found_nine_times_in_ten() -> None:
    """On skewed noise, a difference as large as the reported MDE is detected."""
    detected = 0

    def examined(x: np.ndarray, y: np.ndarray) -> Comparison:
        pair = pair_of_logs(x, y)
        return judged(case_of(pair, [verdict.examine(pair)], margin=0.001, smallest=0.0))

    for seed in range(120):
        mde = examined(*np.random.default_rng(seed).exponential(0.03, (2, 40))).mde
        if mde is not None:
            x, y = np.random.default_rng(1000 + seed).exponential(0.03, (2, 40))
            detected += examined(x + math.log1p(mde), y).verdict.decided
    # With a chance of 0.9 each, fewer than 102 of 120 occur in 3 % of cases.
    assert detected >= 102
