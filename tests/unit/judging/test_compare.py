"""The min-P test against full enumeration, scipy and recorded noise."""

from __future__ import annotations

import csv
import gzip
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest, permutation_test

from bench_framework.compare import paired_test
from bench_framework.compare.paired_test import Levels
from bench_framework.stats import label_swaps, signed_rank
from tests.unit.judging.conftest import pair_of_logs

NOISE = Path(__file__).parents[2] / "fixtures" / "noise"
LEVELS = Levels(strict=0.05 / 176, loose=0.05 / 4)


def enumerated(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return p of the pair, p₁ and p₂ over all 2ⁿ swaps (`docs/method.md#paired-test`)."""
    floors, ranks = [], []
    for bits in itertools.product([False, True], repeat=len(x)):
        ours, theirs = np.where(bits, y, x), np.where(bits, x, y)
        floors.append(round(abs(label_swaps.floor_difference(ours, theirs)), 9))
        ranks.append(abs(int(signed_rank.signed_ranks(ours - theirs).sum())))
    p1 = [np.mean([g >= f for g in floors]) for f in floors]
    p2 = [np.mean([g >= f for g in ranks]) for f in ranks]
    smaller = [min(a, b) for a, b in zip(p1, p2, strict=True)]
    return float(np.mean([s <= smaller[0] + 1e-12 for s in smaller])), float(p1[0]), float(p2[0])


@pytest.mark.parametrize("seed", range(12))
def test_short_records_give_the_exact_p_of_all_swaps(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.normal(0.08 * (seed % 3), 0.1, 8), random.normal(0, 0.1, 8)
    evidence = paired_test.examine(pair_of_logs(x, y), LEVELS, 0)
    p, p1, p2 = enumerated(x, y)
    assert evidence.p == pytest.approx(p)
    assert evidence.p_floor == pytest.approx(p1)
    assert evidence.p_typical == pytest.approx(p2)


def test_the_floor_alone_agrees_with_scipys_permutation_test() -> None:
    random = np.random.default_rng(4)
    x, y = random.exponential(0.1, 10) + 0.03, random.exponential(0.1, 10)
    expected = permutation_test(
        [x, y],
        label_swaps.floor_difference,
        permutation_type="samples",
        n_resamples=10_000,
        vectorized=False,
    )
    assert paired_test.examine(pair_of_logs(x, y), LEVELS, 0).p_floor == pytest.approx(
        expected.pvalue
    )


@pytest.mark.parametrize("seed", range(8))
def test_sampled_swaps_come_close_to_all_of_them(seed: int) -> None:
    """At 11 rounds all swaps are enumerated. A sample of the swaps must agree within its error.

    Many swaps tie in θ₁, and such a group may be counted or not, hence the last term.
    """
    random = np.random.default_rng(seed)
    x, y = random.normal(0.05, 0.1, 11), random.normal(0, 0.1, 11)
    exact = paired_test.examine(pair_of_logs(x, y), LEVELS, 0)
    source = label_swaps.ENUMERATE_UP_TO
    label_swaps.ENUMERATE_UP_TO = 0  # type: ignore[misc]
    try:
        paired_test.examine.cache_clear()
        sampled = paired_test.examine(pair_of_logs(x, y), Levels(1e-4, 0.9), 0)
    finally:
        label_swaps.ENUMERATE_UP_TO = source  # type: ignore[misc]
        paired_test.examine.cache_clear()
    error = (
        4 * (exact.p * (1 - exact.p) / max(1, sampled.swaps)) ** 0.5
        + 2 / max(1, sampled.swaps)
        + 0.02
    )
    assert abs(sampled.p - exact.p) <= error


@pytest.mark.parametrize("seed", range(20))
def test_p_is_between_the_smaller_share_and_twice_it(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = random.normal(0.02, 0.05, 30), random.normal(0, 0.05, 30)
    evidence = paired_test.examine(pair_of_logs(x, y), LEVELS, 0)
    smaller = min(evidence.p_typical, evidence.p_floor if evidence.p_floor is not None else 1.0)
    slack = 4 * (smaller / max(evidence.swaps, 1)) ** 0.5 + 2 / max(evidence.swaps, 1)
    assert smaller - slack <= evidence.p <= 2 * smaller + slack


def test_a_clear_difference_needs_no_swap() -> None:
    x = np.random.default_rng(0).normal(0.5, 0.01, 30)
    evidence = paired_test.examine(pair_of_logs(x, x - 0.5 + np.linspace(0, 0.01, 30)), LEVELS, 0)
    assert (evidence.swaps, evidence.p_floor) == (0, None)
    assert evidence.p == 2 * evidence.p_typical


def test_a_clear_tie_needs_only_the_first_chunk() -> None:
    random = np.random.default_rng(2)
    evidence = paired_test.examine(
        pair_of_logs(random.normal(size=40), random.normal(size=40)), LEVELS, 0
    )
    assert evidence.swaps == paired_test.FIRST_CHUNK


def test_swaps_never_exceed_four_per_level() -> None:
    for seed in range(30):
        random = np.random.default_rng(seed)
        pair = pair_of_logs(random.normal(0.035, 0.05, 40), random.normal(0, 0.05, 40))
        assert paired_test.examine(pair, LEVELS, 0).swaps <= 4 / LEVELS.strict + 1


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_hardly_any_rounds_give_no_evidence_and_no_error(n: int) -> None:
    evidence = paired_test.examine(pair_of_logs(np.arange(n) + 1.0, np.zeros(n)), LEVELS, 0)
    assert evidence.p >= 0.25
    assert evidence.rounds == n


def test_equal_series_give_p_one() -> None:
    x = np.random.default_rng(0).normal(size=25)
    assert paired_test.examine(pair_of_logs(x, x), LEVELS, 0).p == 1.0


def test_exchanging_the_sides_changes_the_signs_and_nothing_else() -> None:
    random = np.random.default_rng(9)
    pair = pair_of_logs(random.normal(0.03, 0.05, 40), random.normal(0, 0.05, 40))
    one, other = (
        paired_test.examine(pair, LEVELS, 5),
        paired_test.examine(pair.mirrored(), LEVELS, 5),
    )
    assert (one.p, one.p_floor, one.p_typical) == (other.p, other.p_floor, other.p_typical)
    assert (one.typical_sign, one.floor_sign) == (-other.typical_sign, -other.floor_sign)


def recorded(workload: str, arm: str) -> list[tuple[float, float]]:
    """Return wall times of an arm and of `A`, by round."""
    rounds: dict[tuple[str, str, str], dict[str, float]] = {}
    with gzip.open(NOISE / f"rounds_{workload}.csv.gz", "rt") as lines:
        for row in csv.DictReader(lines):
            key = (row["session"], row["slice"], row["round"])
            rounds.setdefault(key, {})[row["arm"]] = float(row["wall_us"])
    return [(r[arm], r["A"]) for r in rounds.values() if len(r) == 6]


@pytest.mark.parametrize("workload", ["cpu", "wc", "mt", "dio"])
def test_identical_programs_differ_no_more_often_than_the_level(workload: str) -> None:
    """Recorded rounds of the same work with randomly exchanged labels, nominal level 5 %."""
    rows, random = recorded(workload, "Ac"), np.random.default_rng(11)
    replays, rejected = 150, 0
    for _ in range(replays):
        start = int(random.integers(0, len(rows) - 20))
        window = np.log(np.array(rows[start : start + 20]))
        flip = random.integers(0, 2, 20).astype(bool)
        x, y = (
            np.where(flip, window[:, 1], window[:, 0]),
            np.where(flip, window[:, 0], window[:, 1]),
        )
        rejected += paired_test.examine(pair_of_logs(x, y), Levels(0.05, 0.05), 0).p <= 0.05
    assert binomtest(rejected, replays, 0.05, alternative="greater").pvalue > 0.001


def test_a_real_three_percent_is_found_in_recorded_noise() -> None:
    """One thread, 40 rounds, 1 %: the test has about 90 % power for the fastest third."""
    rows, random = recorded("cpu", "B3"), np.random.default_rng(12)
    replays, detected = 60, 0
    for _ in range(replays):
        start = int(random.integers(0, len(rows) - 40))
        window = np.log(np.array(rows[start : start + 40]))
        detected += (
            paired_test.examine(pair_of_logs(window[:, 0], window[:, 1]), Levels(0.01, 0.01), 0).p
            <= 0.01
        )
    assert detected / replays >= 0.7


def test_a_tie_of_both_statistics_goes_to_the_typical_ratio() -> None:
    tied = paired_test.Evidence(20, 0.02, 0.01, 0.01, typical_sign=1, floor_sign=1, swaps=99)
    assert not tied.floor_decides
    assert replace(tied, p_floor=0.0099).floor_decides
    assert not replace(tied, p_floor=None).floor_decides
