"""Crossover sizes of two variants: closed forms, coverage, and sizes that cannot be estimated."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bench_framework.features.judge import judge
from bench_framework.features.scaling import crossover
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Study

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
    assert crossover.turning(places, ratios, 0.95) == pytest.approx([math.log(23)] * 3, abs=1e-3)


def test_the_crossing_is_told_with_its_interval_between_the_sizes_that_decide(
    study: type[Study],
) -> None:
    made = study(sizes=(10, 50, 200))
    judged = made.judge(made.blocks(line(23)))
    (found,) = judged.structure.crossings
    assert found.lo_bytes is not None
    assert found.hi_bytes is not None
    assert found.size_bytes == pytest.approx(23 * MIB, rel=0.05)
    assert found.lo_bytes < 23 * MIB < found.hi_bytes
    labels = [made.plan.input(i).label for i in (found.below_input_id, found.above_input_id)]
    assert labels == ["10MiB", "50MiB"]
    (text,) = [c.text for c in judged.claims if c.kind == "crossover"]
    assert text.startswith("b and a cross over between 10MiB and 50MiB, at about 2")
    assert text.endswith("(interpolated)")


def test_an_inconclusive_size_between_widens_the_bracket(study: type[Study]) -> None:
    made = study(sizes=(10, 50, 200))
    judged = made.judge(made.blocks(line(50, slope=-0.1)))
    assert made.comparison(judged, "b", size=50).verdict in (
        Verdict.INCONCLUSIVE,
        Verdict.EQUIVALENT,
    )
    (found,) = judged.structure.crossings
    assert made.plan.input(found.above_input_id).label == "200MiB"
    assert found.size_bytes == pytest.approx(50 * MIB, rel=0.1)


def test_no_crossing_without_verdicts_on_both_sides(study: type[Study]) -> None:
    made = study(sizes=(10, 50, 200))
    for turn, spread in ((5.0, 0.01), (200.0, 0.01), (45.0, 0.8)):
        assert made.judge(made.blocks(line(turn, spread=spread))).structure.crossings == ()


def test_two_sizes_are_too_few_and_another_family_is_no_neighbour(study: type[Study]) -> None:
    two = study(sizes=(10, 50))
    judged = two.judge(two.blocks(line(23)))
    assert judged.structure.crossings == ()
    assert {c.kind for c in judged.claims if c.kind in ("sign-change", "crossover")} == {
        "sign-change"
    }
    three = study(sizes=(10, 50, 200))
    smallest, *rest = three.inputs()
    prepared = [replace(smallest, family="other"), *rest]
    assert (
        judge(three.plan, three.blocks(line(23)), {}, prepared, three.looks()).structure.crossings
        == ()
    )


def test_ratios_that_do_not_turn_with_the_verdicts_give_no_place() -> None:
    chance = np.random.default_rng(1)
    places = [0.0, 1.0]
    assert crossover.turning(places, chance.normal([0.1, 0.1], 0.01, (20, 2)), 0.95) is None
    assert crossover.turning(places, chance.normal([0.1, -0.001], 0.05, (20, 2)), 0.95) is None


def test_intervals_hold_the_true_crossing_as_often_as_they_say() -> None:
    """200 records of 18 rounds with heavy-tailed noise: at least 91 % of the 95 % intervals
    contain it.
    """
    chance = np.random.default_rng(7)
    held = told = 0
    for _ in range(200):
        ratios = np.array([0.1, -0.06]) + 0.02 * chance.standard_t(3, (18, 2))
        found = crossover.turning([0.0, 1.0], ratios, 0.95)
        if found is not None:
            told += 1
            held += found[1] <= 0.625 <= found[2]
    assert told >= 190
    assert held / told >= 0.91
