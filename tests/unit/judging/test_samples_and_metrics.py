"""Samples, summaries, medians, exact metrics, scaling exponents and warnings on plain numbers."""

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, theilslopes

from bench_framework.compare import data_quality, exact_metrics, medians, samples
from bench_framework.features.scaling import compute as scaling
from bench_framework.model.plan.plan import Role
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.record import contention
from bench_framework.model.record.run import Block, Build
from bench_framework.model.record.sensors import Sensors
from bench_framework.model.result.judgement import Comparison
from bench_framework.model.verdict import Thresholds, Verdict
from tests.build import make_block, require
from tests.unit.judging.conftest import Study, with_builds


def block(number: int, wall: tuple[float, ...], seq: int = 0, **more: Any) -> Block:
    return make_block(seq or number, number, wall_s=wall, **more)


def test_a_block_counts_once_with_the_median_of_its_runs() -> None:
    sample = samples.collect([block(1, (1.0, 9.0, 2.0)), block(2, (3.0,))])["c"]
    assert sample.values("wall") == {1: 2.0, 2: 3.0}
    assert sample.runs == {1: 3, 2: 1}


def test_a_round_that_was_run_again_counts_with_its_later_block() -> None:
    again = [block(1, (), 1, status="failed"), block(1, (5.0,), 2)]
    assert samples.collect(again)["c"].values("wall") == {1: 5.0}
    assert samples.collect(again)["c"].void == frozenset()


def test_pairs_are_the_common_rounds_in_order() -> None:
    pair = samples.pair({3: 1.0, 1: 2.0, 2: 0.0, 4: 5.0}, {1: 1.0, 2: 1.0, 3: 4.0})
    assert pair == samples.Pair((1, 3), (2.0, 1.0), (1.0, 4.0))
    assert pair.until(2) == samples.Pair((1,), (2.0,), (1.0,))


@pytest.mark.parametrize(
    ("n", "rank"), [(5, 0), (6, 1), (9, 2), (10, 2), (20, 6), (40, 14), (100, 40)]
)
def test_the_interval_of_a_median_takes_the_published_ranks(n: int, rank: int) -> None:
    """Conover 1999, table A3, two-sided 95 %."""
    assert medians.median_rank(n, 0.95) == rank


def test_a_summary_describes_all_rounds_and_deletes_none() -> None:
    values = [1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 9.0]
    sample = samples.collect([block(i, (v,)) for i, v in enumerate(values, 1)])["c"]
    summary = require(medians.summarise(sample, "wall"))
    assert (summary.median, summary.min, summary.max, summary.n_rounds) == (1.02, 0.9, 9.0, 7)
    assert (summary.lo, summary.hi) == (0.9, 9.0)
    assert summary.warnings == (Reason(ReasonCode.OUTLIERS, (1, 7)),)
    assert summary.p95 is None


def memory(ours: float, theirs: float, n: int = 20, noise: int = 2) -> Verdict:
    pair = samples.Pair(
        tuple(range(n)),
        tuple(ours * (1 + 1e-4 * (i % noise)) for i in range(n)),
        tuple(theirs * (1 + 1e-4 * (i % noise)) for i in range(n)),
    )
    draft = Comparison.unjudged("x", "y", "peak_rss", "memory", Thresholds(0.05, 0.01))
    return medians.compare_medians(draft, pair, level=0.05, size=4).verdict


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (50e6, Verdict.EQUIVALENT),
        (50.3e6, Verdict.EQUIVALENT),
        (51.5e6, Verdict.WORSE_SIZE_UNCERTAIN),
        (60e6, Verdict.WORSE),
        (49e6, Verdict.BETTER_SIZE_UNCERTAIN),
        (1e6, Verdict.BETTER),
    ],
)
def test_memory_below_one_percent_is_no_difference(ours: float, expected: Verdict) -> None:
    assert memory(ours, 50e6) is expected


def test_memory_of_few_rounds_is_inconclusive() -> None:
    assert memory(90e6, 50e6, n=3) is Verdict.INCONCLUSIVE


SIZE = Comparison.unjudged("x", "y", "binary_size", "exact", Thresholds(0.02, 0.0))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (100, Verdict.EQUIVALENT),
        (101, Verdict.WORSE_SIZE_UNCERTAIN),
        (103, Verdict.WORSE),
        (97, Verdict.BETTER),
    ],
)
def test_exact_metrics_need_no_statistics(value: float, expected: Verdict) -> None:
    assert medians.compare_exact(SIZE, value, 100).verdict is expected


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (0, 0, (Verdict.EQUIVALENT, None)),
        (0, 3, (Verdict.INCONCLUSIVE, ReasonCode.ZERO_COUNT)),
        (3, 0, (Verdict.INCONCLUSIVE, ReasonCode.ZERO_COUNT)),
        (2, 3, (Verdict.BETTER, None)),
        (None, 0, (Verdict.INCONCLUSIVE, ReasonCode.UNKNOWN_METRIC)),
    ],
)
def test_no_dependency_is_a_known_number(
    ours: int | None, theirs: int | None, expected: tuple[Verdict, ReasonCode | None]
) -> None:
    plan = Study(policy=JudgePolicy(metrics=("dependencies",))).plan
    plan, _ = with_builds(plan)
    first, second = (c for c in plan.cells if c.role is not Role.CONTROL)
    counts = {plan.build_id(second): ours, plan.build_id(first): theirs}
    builds = {id_: Build(id_, ok=True, dependencies=n) for id_, n in counts.items()}
    c = exact_metrics.compare(plan, plan.judge, second, first, "dependencies", builds, ())
    assert (c.verdict, c.reason and c.reason.code) == expected


@pytest.mark.parametrize(
    ("lo", "hi", "word"),
    [
        (0.96, 1.04, "linear"),
        (0.70, 0.78, "sub-linear"),
        (1.06, 1.2, "super-linear"),
        (0.94, 1.04, "not resolved"),
        (0.90, 1.20, "not resolved"),
    ],
)
def test_growth_words_come_from_the_whole_interval(lo: float, hi: float, word: str) -> None:
    assert scaling.growth_word(lo, hi) == word


def grown(example: Study, exponent: float) -> list[Block]:
    def wall(arm: str, where: str, number: int) -> float:
        size: float = float(where.removesuffix("MiB"))
        noise = random.Random(f"{arm}{where}{number}").gauss(0, 0.01)
        return 0.001 * math.pow(size, exponent) * (1 + noise)

    return example.blocks(wall)


def test_exponents_are_estimated_between_neighbouring_sizes() -> None:
    example = Study(sizes=(10, 50, 200))
    judged = example.judge(grown(example, 1.0))
    assert [(s.word, round(s.exponent, 1)) for s in judged.scaling if s.metric == "wall"] == [
        ("linear", 1.0)
    ] * 4
    assert {s.word for s in example.judge(grown(example, 0.74)).scaling} == {"sub-linear"}


def test_two_sizes_have_an_exponent_and_no_word() -> None:
    example = Study(sizes=(10, 50))
    assert {s.word for s in example.judge(grown(example, 0.5)).scaling} == {"not classified"}


def test_sizes_of_another_family_or_seed_are_another_ladder() -> None:
    example = Study(sizes=(10, 50, 200))
    prepared = example.inputs()
    last = prepared[2]
    for other, length in (
        (last, 3),
        (replace(last, family="other"), 2),
        (replace(last, seed=7), 2),
    ):
        (ladder,) = scaling.ladders(example.plan, [*prepared[:2], other])
        assert len(ladder) == length


def test_a_trend_is_drift_and_noise_is_not() -> None:
    noise = random.Random(1)
    calm = {n: 1 + noise.expovariate(20) for n in range(1, 41)}
    assert data_quality.drift(calm) is None
    moved = data_quality.drift({n: v * (1 + 0.005 * n) for n, v in calm.items()})
    assert moved == pytest.approx(0.195, abs=0.08)
    assert data_quality.drift(dict.fromkeys(range(1, 41), 1.0)) is None


def test_disturbed_blocks_are_a_warning() -> None:
    assert not data_quality.contention_events([block(1, (0.05,))])
    (event,) = data_quality.contention_events(
        [block(1, (0.05,), sensors=Sensors(cpu_capacity_us=100_000, other_cpu_us=50_000))]
    )
    assert event.code == "BX321"
    assert "1 of 1 samples were disturbed by other load (CPU contention: 1)" in event.message


@pytest.mark.parametrize(
    ("sensors", "flags"),
    [
        (Sensors(cpu_capacity_us=100_000, other_cpu_us=39_000, steal_ticks=1), ()),
        (Sensors(cpu_capacity_us=100_000, other_cpu_us=41_000), ("cpu",)),
        (Sensors(cpu_capacity_us=4_000_000, other_cpu_us=429_000), ()),
        (Sensors(cpu_capacity_us=4_000_000, other_cpu_us=431_000), ("cpu",)),
        (Sensors(psi_cpu_us=50_000, cpu_capacity_us=100_000, other_cpu_us=0), ()),
        (Sensors(psi_cpu_us=50_000), ()),
        (Sensors(steal_ticks=3), ("steal",)),
        (Sensors(psi_memory_us=6_000), ("memory",)),
        (Sensors(psi_memory_us=4_000), ()),
        (Sensors(swap_in_pages=257), ("swap",)),
        (Sensors(swap_out_pages=256), ()),
        (Sensors(throttle_events=1), ("throttled",)),
        (Sensors(psi_io_us=50_000), ()),
        (
            Sensors(
                steal_ticks=2, psi_memory_us=6_000, cpu_capacity_us=100_000, other_cpu_us=50_000
            ),
            ("cpu", "steal", "memory"),
        ),
    ],
)
def test_each_disturbance_of_a_block_has_its_flag(sensors: Sensors, flags: tuple[str, ...]) -> None:
    assert contention.flags(block(1, (0.05,), sensors=sensors)) == flags


def test_a_block_without_a_time_has_no_flag() -> None:
    assert contention.flags(block(1, (), sensors=Sensors(throttle_events=1))) == ()


def test_a_flagged_block_stays_in_the_statistics() -> None:
    calm = [block(number, (0.05,)) for number in range(1, 13)]
    loud = [replace(b, sensors=Sensors(steal_ticks=9, throttle_events=3)) for b in calm]
    assert all(contention.flags(b) for b in loud)
    (first,), (second,) = samples.collect(calm).values(), samples.collect(loud).values()
    assert first.series == second.series
    assert len(second.values("wall")) == 12
    assert not second.void


@pytest.mark.parametrize("size", [1, 8, 40])
def test_each_of_two_medians_pays_for_the_other_and_for_the_family(size: int) -> None:
    """Both intervals have joint coverage with the others of the family: 1 - alpha/(2 * size) each (Bonferroni)."""
    values = tuple(float(v) for v in range(1000, 1040))
    pair = samples.Pair(tuple(range(1, 41)), values, values)
    draft = Comparison.unjudged("c", "r", "peak_rss", "memory", Thresholds(0.05, 0.01))
    comparison = medians.compare_medians(draft, pair, level=0.05, size=size)
    bounds = require(medians.median_interval(values, 1 - 0.05 / (2 * size)))
    interval = require(comparison.shown)
    assert (interval.lo, interval.hi) == pytest.approx(
        (bounds[0] / bounds[1], bounds[1] / bounds[0])
    )
    assert interval.level == pytest.approx(1 - 0.05 / size)


def test_no_interval_of_medians_has_a_negative_level() -> None:
    draft = Comparison.unjudged("c", "r", "peak_rss", "memory", Thresholds(0.05, 0.01))
    pair = samples.Pair((1,), (1050.0,), (1000.0,))
    comparison = medians.compare_medians(draft, pair, level=0.01, size=4)
    assert require(comparison.shown).level == 0
    assert comparison.verdict is Verdict.INCONCLUSIVE


def test_the_test_for_drift_agrees_with_scipy() -> None:

    random = np.random.default_rng(5)
    for slope in np.linspace(0, 0.004, 60):
        times = np.exp(slope * np.arange(40) + random.normal(0, 0.03, 40))
        moved = data_quality.drift(dict(enumerate(times.tolist())))
        p = kendalltau(range(40), times).pvalue
        expected = np.expm1(theilslopes(np.log(times))[0] * 39)
        if p < 0.0005:
            assert moved == pytest.approx(expected)
        elif p > 0.002:
            assert moved is None
