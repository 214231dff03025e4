"""Levels of contrasts: adjusted for interim analyses and family, without rounds after the last one."""

import math
import random
from collections.abc import Mapping

import numpy as np
import pytest

from bench_framework.compare import contrasts
from bench_framework.features.judge import judge
from bench_framework.features.scaling import compute as scaling
from bench_framework.model.record.run import Look
from bench_framework.model.verdict import Verdict
from bench_framework.stats.signed_rank import Floats
from tests.build import require
from tests.unit.judging.conftest import Crossed, Study

AXES = {"engine": ["rayon", "tokio"], "parser": ["simd", "sonic"], "alloc": ["sys", "je"]}


def noisy(values: Mapping[str, str], where: str, number: int) -> float:
    return math.exp(random.Random(f"{sorted(values.items())}/{where}/{number}").gauss(0, 0.02))


def weighted(values: Floats) -> contrasts.Weighted:
    return contrasts.Weighted("i", values, {"cell": 1.0})


def test_the_interval_of_an_inconclusive_contrast_is_that_of_the_whole_family() -> None:
    at = Crossed(AXES).measured(noisy)
    family = [weighted(np.random.default_rng(n).normal(0, 0.1, 40)) for n in range(5)]
    contrast = contrasts.judge_contrasts(family, at)
    assert {c.verdict for c in contrast} == {Verdict.INCONCLUSIVE}
    assert at.looks.count > 1
    assert [c.shown.level for c in contrast if c.shown] == pytest.approx(
        [1 - 0.05 / (at.looks.count * 5)] * len(contrast)
    )


def test_the_interval_of_the_first_that_is_rejected_is_that_of_the_whole_family_too() -> None:
    at = Crossed(AXES).measured(noisy)
    family = [weighted(np.random.default_rng(n).normal(0.5 * (n == 0), 0.1, 40)) for n in range(5)]
    first, *rest = contrasts.judge_contrasts(family, at)
    assert first.verdict is Verdict.WORSE
    assert require(first.shown).level == pytest.approx(1 - 0.05 / (at.looks.count * 5))
    assert [c.shown.level for c in rest if c.shown] == pytest.approx(
        [1 - 0.05 / (at.looks.count * 4)] * len(rest)
    )


def test_the_interval_of_a_selected_contrast_is_valid_with_all_others() -> None:
    at = Crossed(AXES).measured(noisy)
    values = np.random.default_rng(1).normal(0, 0.02, 40)
    one, seven = (contrasts.simultaneous(values, at, size) for size in (1, 7))
    assert one.level == pytest.approx(1 - 0.05 / at.looks.count)
    assert seven.level == pytest.approx(1 - 0.05 / (at.looks.count * 7))
    assert seven.half_width > one.half_width


def test_no_effect_and_no_contribution_sees_a_round_behind_the_last_look() -> None:
    example = Crossed(AXES)

    def wall(values: Mapping[str, str], where: str, number: int) -> float:
        later = 3.0 if values["parser"] == "sonic" and number > 18 else 1.0
        return later * noisy(values, where, number)

    taken = [Look(item.id, 1, 18, stopped=False) for item in example.plan.inputs]
    judged = judge(example.plan, example.blocks(wall), {}, [], taken)
    assert {e.mean.rounds for e in judged.structure.effects} == {18}
    assert not [e for e in judged.structure.effects if e.mean.verdict.decided]
    (table,) = judged.structure.contributions
    assert {s.contrast.rounds for s in table.steps} == {18}


def test_the_interval_of_a_crossing_pays_for_the_looks() -> None:
    example = Study(arms=("a", "b"), sizes=(10, 50, 200))
    factors = {"10MiB": 1.2, "50MiB": 1.05, "200MiB": 0.8}

    def wall(arm: str, where: str, number: int) -> float:
        chance = random.Random(f"{arm}/{where}/{number}")
        return (factors[where] if arm == "b" else 1.0) * math.exp(chance.gauss(0, 0.01))

    judged = example.judge(example.blocks(wall))
    (crossing,) = judged.structure.crossings
    assert crossing.level == pytest.approx(1 - 0.05 / judged.looks.count)
    assert judged.looks.count > 1
    # The bounds are those of the test at the adjusted level, and wider than at 95 %.
    cells = [(example.cell("b", size), example.cell("a", size)) for size in (50, 200)]
    ratios = np.array(
        [
            [
                math.log(wall("b", f"{size}MiB", n) / wall("a", f"{size}MiB", n))
                for size in (50, 200)
            ]
            for n in range(1, 41)
        ]
    )
    places = [math.log(size * 1024 * 1024) for size in (50, 200)]
    expected = require(scaling.turning(places, ratios, crossing.level))
    assert crossing.lo_bytes == pytest.approx(math.exp(expected[1]))
    assert crossing.hi_bytes == pytest.approx(math.exp(expected[2]))
    assert {c.id for pair in cells for c in pair} == set(crossing.cell_ids)
