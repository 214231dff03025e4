"""The test of a pair: invariances, few rounds, and recorded noise."""

import csv
import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from bench_framework.compare import samples, verdict
from tests.unit.judging.conftest import pair_of_logs

NOISE = Path(__file__).parents[2] / "fixtures" / "noise"


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_hardly_any_rounds_give_no_evidence_and_no_error(n: int) -> None:
    evidence = verdict.examine(pair_of_logs(np.arange(n) + 1.0, np.zeros(n)))
    assert evidence.p >= 0.25
    assert evidence.rounds == n


def test_equal_series_give_p_one() -> None:
    x = np.random.default_rng(0).normal(size=25)
    evidence = verdict.examine(pair_of_logs(x, x))
    assert (evidence.p, evidence.sign) == (1.0, 0)


def test_exchanging_the_sides_changes_the_sign_and_nothing_else() -> None:
    random = np.random.default_rng(9)
    pair = pair_of_logs(random.normal(0.03, 0.05, 40), random.normal(0, 0.05, 40))
    mirrored = replace(pair, candidate=pair.reference, reference=pair.candidate)
    one, other = verdict.examine(pair), verdict.examine(mirrored)
    assert (one.p, one.p_opposite) == (other.p, other.p_opposite)
    assert one.sign == -other.sign == 1


def test_exchanging_baseline_and_control_changes_nothing() -> None:
    x, y, z = np.random.default_rng(2).normal(0, 0.05, (3, 30))
    control = pair_of_logs(z, z).candidate
    pair = replace(pair_of_logs(x + 0.03, y), control=control)
    exchanged = replace(pair, reference=control, control=pair.reference)
    assert verdict.examine(pair) == verdict.examine(exchanged)


def test_a_look_uses_its_rounds_only() -> None:
    x, y, z = np.random.default_rng(4).normal(0, 0.05, (3, 30))
    pair = replace(pair_of_logs(x, y), control=pair_of_logs(z, z).candidate)
    early, late = verdict.examine_looks(pair, (12, 30))
    short = replace(pair_of_logs(x[:12], y[:12]), control=pair_of_logs(z[:12], z[:12]).candidate)
    assert early == verdict.examine(short)
    assert (early.rounds, late.rounds) == (12, 30)


def test_rounds_without_the_control_are_left_out_unless_they_are_many() -> None:
    times = {number: 1.0 + number / 100 for number in range(1, 41)}
    most = {number: value for number, value in times.items() if number % 5}
    assert samples.pair(times, times, most).rounds == tuple(most)
    half = {number: value for number, value in times.items() if number % 2}
    pair = samples.pair(times, times, half)
    assert (len(pair), pair.control) == (40, ())


def recorded(workload: str, *arms: str) -> list[tuple[float, ...]]:
    """Return wall times of the arms, by round."""
    rounds: dict[tuple[str, str, str], dict[str, float]] = {}
    with gzip.open(NOISE / f"rounds_{workload}.csv.gz", "rt") as lines:
        for row in csv.DictReader(lines):
            key = (row["session"], row["slice"], row["round"])
            rounds.setdefault(key, {})[row["arm"]] = float(row["wall_us"])
    return [tuple(r[arm] for arm in arms) for r in rounds.values() if len(r) == 6]


@pytest.mark.parametrize("workload", ["cpu", "wc", "mt", "dio"])
def test_identical_programs_differ_no_more_often_than_the_level(workload: str) -> None:
    """Recorded rounds of the same work with randomly exchanged labels, nominal level 5 %."""
    rows, random = recorded(workload, "Ac", "A"), np.random.default_rng(11)
    replays, rejected = 150, 0
    for _ in range(replays):
        start = int(random.integers(0, len(rows) - 20))
        window = np.log(np.array(rows[start : start + 20]))
        flip = random.integers(0, 2, 20).astype(bool)
        x, y = (
            np.where(flip, window[:, 1], window[:, 0]),
            np.where(flip, window[:, 0], window[:, 1]),
        )
        rejected += verdict.examine(pair_of_logs(x, y)).p <= 0.05
    assert binomtest(rejected, replays, 0.05, alternative="greater").pvalue > 0.001


def test_a_real_three_percent_is_found_in_recorded_noise() -> None:
    """One thread, 40 rounds, 1 %, with the control: the power is about 90 %."""
    rows, random = recorded("cpu", "B3", "A", "Ac"), np.random.default_rng(12)
    replays, detected = 60, 0
    for _ in range(replays):
        start = int(random.integers(0, len(rows) - 40))
        x, y, z = np.log(np.array(rows[start : start + 40])).T
        pair = replace(pair_of_logs(x, y), control=pair_of_logs(z, z).candidate)
        detected += verdict.examine(pair).p <= 0.01
    assert detected / replays >= 0.7
