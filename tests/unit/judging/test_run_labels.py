"""The label test: exact tails against enumeration, with and without a control."""

import itertools

import numpy as np
import pytest

from bench_framework.stats import intervals, run_labels, signed_rank


def enumerated(score: np.ndarray) -> tuple[float, float]:
    """Return the shares of all labels with a sum as small and as large as observed."""
    rounds, runs = score.shape
    sums = np.array(
        [
            score[np.arange(rounds), list(columns)].sum()
            for columns in itertools.product(range(runs), repeat=rounds)
        ]
    )
    room = 2 * rounds * np.ptp(score, axis=1).sum() / run_labels.UNITS
    return float(np.mean(sums <= sums[0] + room)), float(np.mean(sums <= sums[0] - room))


@pytest.mark.parametrize("runs", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_the_tails_are_the_shares_of_all_labels(seed: int, runs: int) -> None:
    values = np.random.default_rng(seed).exponential(0.1, (7, runs))
    low, high = run_labels.examine(values)
    ranks = run_labels.rank_score(values)
    if runs == 2:
        wilcoxon = signed_rank.signed_ranks(values[:, 0] - values[:, 1])
        ranks = np.stack([wilcoxon, -wilcoxon], axis=1)
    main = run_labels.main_score(values)
    for score, small, large in ((main, low.main, high.main), (ranks, low.rank, high.rank)):
        most, least = enumerated(score)
        assert least - 1e-9 <= small <= most + 1e-9
        most, least = enumerated(-score)
        assert least - 1e-9 <= large <= most + 1e-9


@pytest.mark.parametrize("runs", [2, 3])
@pytest.mark.parametrize("effect", [0.01, 0.05, 0.2, 1.0])
def test_a_larger_effect_is_never_weaker_evidence(effect: float, runs: int) -> None:
    """The Cauchy score descends with the difference. Its scale must grow with the effect."""
    values = np.random.default_rng(3).normal(0, 0.001, (12, runs))
    values[:, 0] += np.log1p(effect)
    low, high = run_labels.examine(values)
    assert high.p == pytest.approx(runs**-12 / run_labels.MAIN_WEIGHT, rel=1e-6)
    assert low.p > 0.5


def test_the_control_is_evidence() -> None:
    """On average, the p-value with three runs in a round is below that with two."""
    random = np.random.default_rng(5)
    smaller = 0
    for _ in range(40):
        values = random.normal(0, 0.02, (20, 3))
        values[:, 0] += 0.015
        smaller += run_labels.examine(values)[1].p < run_labels.examine(values[:, :2])[1].p
    assert smaller >= 28


def test_equal_runs_give_no_evidence() -> None:
    low, high = run_labels.examine(
        np.repeat(np.random.default_rng(0).normal(size=(15, 1)), 3, axis=1)
    )
    assert low.p == high.p == 1.0


@pytest.mark.parametrize("decimals", [1, 2])
def test_ties_of_a_coarse_clock_keep_the_level(decimals: int) -> None:
    random = np.random.default_rng(7)
    rejected = 0
    for _ in range(400):
        values = np.round(random.normal(1, 0.03, (18, 3)), decimals)
        rejected += run_labels.examine(values)[1].p <= 0.05
    assert rejected <= 32  # 5 % of 400 are 20; more than 32 occur in 0.3 % of cases


def test_a_change_of_slow_runs_only_is_seen_by_the_signed_rank() -> None:
    random = np.random.default_rng(9)
    values = random.normal(0, 0.01, (60, 3))
    slow = random.random((60, 3)) < 0.3
    values[slow] += random.uniform(0.1, 0.3, int(slow.sum()))
    values[slow[:, 0], 0] += 0.4
    _, high = run_labels.examine(values)
    assert high.rank < high.main


def test_more_rounds_than_labels_can_be_counted_stay_finite() -> None:
    low, high = run_labels.examine(np.random.default_rng(1).normal(0, 0.02, (1200, 3)))
    assert 0 < low.main < 1
    assert low.main + high.main == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(("rounds", "runs"), [(646, 3), (647, 3), (1024, 2), (100_000, 2)])
def test_many_rounds_attain_every_level(rounds: int, runs: int) -> None:
    assert run_labels.attainable(rounds, runs) == 1.0


def test_an_interval_of_more_labels_than_a_float_can_count_is_finite() -> None:
    values = np.random.default_rng(1).normal(size=(700, 3)) * 0.01
    bounds = intervals.LabelInverter(values).bounds(0.95)
    assert -0.01 < bounds.lo < bounds.hi < 0.01
    assert bounds.level == pytest.approx(0.95)
