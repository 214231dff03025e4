"""A/A families: bounds of rates, exchanged labels, windows judged like reports, and totals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

from bench_framework.compare.data_quality import floor_fraction
from bench_framework.extensions.doctor import noise_rates as noise
from bench_framework.extensions.doctor.noise_rates import (
    Rate,
    Window,
    judge_looks,
    judge_window,
    relabelled,
    summarise_windows,
)
from bench_framework.model.plan.looks import schedule
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.verdict import Verdict
from bench_framework.stats.proportions import at_least, at_most
from tests.unit.judging.conftest import Study

LOOKS = schedule(12, 27, 2, 0.05)


def times(seed: int, factor: float = 1.0, spread: float = 0.01, rounds: int = 27) -> noise.Series:
    """Return wall and CPU time of one arm."""
    rng = np.random.default_rng(seed)
    return {
        m: 0.03 * factor * np.exp(spread * rng.standard_normal(rounds)) for m in ("wall", "cpu")
    }


def window(slower: float = 1.05) -> Window:
    return Window("prog", times(1), times(2), {0.05: times(3, slower)})


@pytest.mark.parametrize(
    ("count", "tries"), [(0, 10), (3, 10), (10, 10), (1, 299), (0, 298), (0, 299), (0, 0)]
)
def test_bounds_of_a_rate_are_those_of_clopper_and_pearson(count: int, tries: int) -> None:
    if tries:
        # scipy's interval is two-sided: each side of a 90 % interval is a bound at 95 %
        other = binomtest(count, tries).proportion_ci(confidence_level=0.9, method="exact")
        assert at_most(count, tries) == pytest.approx(other.high)
        assert at_least(count, tries) == pytest.approx(other.low)
    else:
        assert (at_least(0, 0), at_most(0, 0)) == (0, 1)


def test_labels_are_exchanged_within_rounds_and_in_all_metrics_alike() -> None:
    first, second = times(1), times(2)
    ours, theirs = relabelled(first, second, np.random.default_rng(5))
    swapped = ours["wall"] != first["wall"]
    assert 0 < swapped.sum() < 27
    assert np.array_equal(swapped, ours["cpu"] != first["cpu"])
    for metric in first:
        assert np.array_equal(ours[metric], np.where(swapped, second[metric], first[metric]))
        assert np.array_equal(theirs[metric], np.where(swapped, first[metric], second[metric]))


def test_a_family_is_judged_as_a_report_judges_the_same_rounds() -> None:
    x, y = times(4, 1.02, 0.02, 40), times(5, 1.0, 0.02, 40)
    arms = {"a": y, "b": x}
    one_window = Study(control=False, policy=JudgePolicy(metrics=("wall", "cpu")))
    blocks = one_window.blocks(
        lambda arm, _, number: float(arms[arm]["wall"][number - 1]),
        lambda arm, _, number: float(arms[arm]["cpu"][number - 1]),
    )
    report = [c for c in one_window.judge(blocks).comparisons if c.family == "headline"]
    ours = judge_looks(
        [(x[m], y[m]) for m in ("wall", "cpu")],
        schedule(12, 40, 2, one_window.plan.judge.level),
        metrics=("wall", "cpu"),
    )
    for theirs, mine in zip(report, ours, strict=True):
        assert (mine.metric, mine.verdict, mine.shown, mine.p_adjusted) == (
            theirs.metric,
            theirs.verdict,
            theirs.shown,
            theirs.p_adjusted,
        )


def test_stopping_ends_with_the_look_that_settles_the_family() -> None:
    x, y = times(3, 1.1), times(1)
    (whole,) = judge_looks([(x["wall"], y["wall"])], LOOKS)
    (stopped,) = judge_looks([(x["wall"], y["wall"])], LOOKS, stop=True)
    assert whole.rounds == 27
    assert stopped.rounds == 12
    assert stopped.verdict is Verdict.WORSE


def test_a_window_finds_more_work_and_no_difference_between_equal_arms() -> None:
    result = judge_window(window(), LOOKS, families=25, seed=1)
    assert (result.families, result.rounds, result.tripped) == (25, 27, False)
    assert result.finds(0.05) == {"wall", "cpu"}
    assert result == judge_window(window(), LOOKS, families=25, seed=1)


def test_a_slower_copy_is_found_as_measured_and_not_when_relabelled() -> None:
    result = judge_window(Window("prog", times(1), times(2, 1.05), {}), LOOKS, families=40, seed=1)
    assert result.tripped
    assert Rate.with_bounds(result.false, result.families).at_least <= 0.05


def test_relabelled_families_hold_the_level_on_bursts() -> None:
    rng = np.random.default_rng(3)
    burst = np.where(rng.random((2, 27)) < 0.3, 1.5, 1.0) * np.exp(
        0.01 * rng.standard_normal((2, 27))
    )
    arms = [{"wall": part, "cpu": part} for part in burst]
    result = judge_window(Window("prog", arms[0], arms[1]), LOOKS, families=150, seed=2)
    assert Rate.with_bounds(result.false, result.families).at_least <= 0.05


def test_windows_are_added_up_by_program() -> None:
    one = judge_window(window(), LOOKS, families=2, seed=1)
    missed = judge_window(window(1.0), LOOKS, families=3, seed=1)
    summary = summarise_windows([one, replace(missed, program="other", false=1), missed], 0.05)
    assert summary.false_verdicts_relabelled == Rate.with_bounds(1, 8)
    assert summary.false_verdicts_as_measured == Rate.with_bounds(0, 3)
    assert [(f.program, f.found, f.found_on["wall"]) for f in summary.injected] == [
        ("prog", Rate.with_bounds(1, 2), Rate.with_bounds(1, 2)),
        ("other", Rate.with_bounds(0, 1), Rate.with_bounds(0, 1)),
    ]
    assert summary.injected[0].estimate["wall"] == pytest.approx(0.025, abs=0.01)
    assert [(f.program, f.metric) for f in summary.noise_floors] == [
        ("prog", "wall"),
        ("prog", "cpu"),
        ("other", "wall"),
        ("other", "cpu"),
    ]
    assert not summary.refuted


def test_a_floor_without_an_end_is_the_worst() -> None:
    one = judge_window(window(), LOOKS, families=0, seed=1)
    open_ended = replace(
        one, as_measured={m: replace(c, unadjusted=None) for m, c in one.as_measured.items()}
    )
    floors = summarise_windows([one, one, open_ended], 0.05).noise_floors
    known = {metric: floor_fraction(c) for metric, c in one.as_measured.items()}
    assert all(f.worst is None and f.median == known[f.metric] for f in floors)
    assert summarise_windows([one, open_ended, open_ended], 0.05).noise_floors[0].median is None


def test_a_level_is_refuted_by_what_chance_does_not_explain() -> None:
    one = judge_window(window(), LOOKS, families=0, seed=1)
    assert not summarise_windows([replace(one, false=5, families=60)], 0.05).refuted
    assert summarise_windows([replace(one, false=9, families=60)], 0.05).refuted
    tripped = judge_window(Window("prog", times(1), times(2, 1.05), {}), LOOKS, families=0, seed=1)
    assert summarise_windows([tripped] * 2, 0.05).refuted
