"""Crossover sizes of two variants: closed forms, coverage, and sizes that cannot be estimated."""

import math
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bench_framework.features.judge import judge
from bench_framework.features.scaling import compute as scaling
from bench_framework.model.verdict import Verdict
from tests.build import require
from tests.unit.judging.conftest import Study

MIB = 1024 * 1024


def line(
    turn: float, slope: float = -0.3, spread: float = 0.01
) -> Callable[[str, str, int], float]:
    """Return times of `b` against `a`: the log ratio is linear in log size and 0 at `turn` MiB."""

    def wall(arm: str, where: str, number: int) -> float:
        size = float(where.removesuffix("MiB"))
        base = size * (1 + 0.3 * math.sin(number))  # a common slowdown cancels
        noise = random.Random(f"{arm}/{where}/{number}").gauss(0, spread)
        return base * math.exp(noise + (slope * math.log(size / turn) if arm == "b" else 0.0))

    return wall


def test_an_exact_line_crosses_where_it_was_drawn() -> None:
    places = [math.log(s) for s in (10, 50, 200)]
    ratios = np.array([[0.2 * (p - math.log(23)) for p in places]] * 12)
    assert scaling.turning(places, ratios, 0.95) == pytest.approx([math.log(23)] * 3, abs=1e-3)


def test_the_crossing_is_reported_with_its_interval_between_the_sizes_that_decide() -> None:
    example = Study(sizes=(10, 50, 200))
    judged = example.judge(example.blocks(line(23)))
    (crossing,) = judged.structure.crossings
    assert crossing.size_bytes == pytest.approx(23 * MIB, rel=0.05)
    assert require(crossing.lo_bytes) < 23 * MIB < require(crossing.hi_bytes)
    labels = [
        example.plan.input(i).label for i in (crossing.below_input_id, crossing.above_input_id)
    ]
    assert labels == ["10MiB", "50MiB"]
    (text,) = [c.text for c in judged.claims if c.kind == "crossover"]
    assert text.startswith("b and a cross over between 10MiB and 50MiB, at about 2")
    assert text.endswith("(interpolated).")


def test_an_inconclusive_size_between_widens_the_bracket() -> None:
    example = Study(sizes=(10, 50, 200))
    judged = example.judge(example.blocks(line(50, slope=-0.1)))
    assert example.comparison(judged, "b", size=50).verdict in (
        Verdict.INCONCLUSIVE,
        Verdict.EQUIVALENT,
    )
    (crossing,) = judged.structure.crossings
    assert example.plan.input(crossing.above_input_id).label == "200MiB"
    assert crossing.size_bytes == pytest.approx(50 * MIB, rel=0.1)


def test_no_crossing_without_verdicts_on_both_sides() -> None:
    example = Study(sizes=(10, 50, 200))
    for turn, spread in ((5.0, 0.01), (200.0, 0.01), (45.0, 0.8)):
        assert example.judge(example.blocks(line(turn, spread=spread))).structure.crossings == ()


def test_two_sizes_are_too_few_and_another_family_is_no_neighbour() -> None:
    two = Study(sizes=(10, 50))
    judged = two.judge(two.blocks(line(23)))
    assert judged.structure.crossings == ()
    assert {c.kind for c in judged.claims if c.kind in ("sign-change", "crossover")} == {
        "sign-change"
    }
    three = Study(sizes=(10, 50, 200))
    smallest, *rest = three.inputs()
    prepared = [replace(smallest, family="other"), *rest]
    assert (
        judge(three.plan, three.blocks(line(23)), {}, prepared, three.looks()).structure.crossings
        == ()
    )


def test_ratios_that_do_not_turn_with_the_verdicts_give_no_place() -> None:
    chance = np.random.default_rng(1)
    places = [0.0, 1.0]
    assert scaling.turning(places, chance.normal([0.1, 0.1], 0.01, (20, 2)), 0.95) is None
    assert scaling.turning(places, chance.normal([0.1, -0.001], 0.05, (20, 2)), 0.95) is None


@pytest.mark.slow
def test_intervals_contain_the_true_crossing_at_their_level() -> None:
    """200 records of 18 rounds with heavy-tailed noise: at least 91 % of the 95 % intervals contain it."""
    chance = np.random.default_rng(7)
    covered = estimates = 0
    for _ in range(200):
        ratios = np.array([0.1, -0.06]) + 0.02 * chance.standard_t(3, (18, 2))
        crossing = scaling.turning([0.0, 1.0], ratios, 0.95)
        if crossing is not None:
            estimates += 1
            covered += crossing[1] <= 0.625 <= crossing[2]
    assert estimates >= 190
    assert covered / estimates >= 0.91
