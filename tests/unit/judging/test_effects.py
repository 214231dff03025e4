"""Main effects and interactions against closed forms, least squares and scipy, and their refusals."""

import itertools
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bench_framework.compare.contrasts import ContrastData
from bench_framework.features.effects import compute as effects
from bench_framework.model.result.judgement import NoiseFloor
from bench_framework.model.result.structure import Effect
from bench_framework.model.verdict import Verdict
from bench_framework.text.reasons import phrase
from tests.build import require
from tests.unit.judging.conftest import Crossed

AXES = {"engine": ["rayon", "tokio"], "parser": ["simd", "sonic"], "alloc": ["sys", "je", "mi"]}
FACTORS = {"rayon": 1.0, "tokio": 1.2, "simd": 1.0, "sonic": 0.9, "sys": 1.0, "je": 0.8, "mi": 1.1}


def multiplied(values: Mapping[str, str]) -> float:
    return math.prod(FACTORS[v] for v in values.values())


def noisy(
    spread: float, exact: Callable[[Mapping[str, str]], float] = multiplied
) -> Callable[[Mapping[str, str], str, int], float]:
    def wall(values: Mapping[str, str], where: str, number: int) -> float:
        chance = random.Random(f"{sorted(values.items())}/{where}/{number}")
        return exact(values) * math.exp(chance.gauss(0, spread))

    return wall


def by_name(results: tuple[Effect, ...], *levels: str) -> Effect:
    return next(e for e in results if tuple(c.after for c in e.changes) == levels)


def ratio(effect: Effect) -> float:
    return require(effect.mean.shown).ratio


def effects_of(at: ContrastData) -> tuple[Effect, ...]:
    return effects.effects(at)[1]


def test_effects_of_an_exact_factorial_are_what_was_put_in_and_drift_cancels() -> None:
    def drifting(values: Mapping[str, str], _: str, number: int) -> float:
        together = 0.7 if (values["engine"], values["alloc"]) == ("tokio", "je") else 1.0
        return multiplied(values) * together * 1.05**number

    results = effects_of(Crossed(AXES).measured(drifting))
    assert len(results) == 4 + 5
    # Over the other axes, half of the configurations of je and a third of those of tokio have the
    # interaction too.
    expected = {
        ("tokio",): 1.2 * 0.7 ** (1 / 3),
        ("sonic",): 0.9,
        ("je",): 0.8 * 0.7**0.5,
        ("mi",): 1.1,
        ("tokio", "sonic"): 1.0,
        ("tokio", "je"): 0.7,
        ("tokio", "mi"): 1.0,
        ("sonic", "je"): 1.0,
        ("sonic", "mi"): 1.0,
    }
    for levels, value in expected.items():
        effect = by_name(results, *levels)
        if effect.pooled:
            assert ratio(effect) == pytest.approx(value)
    assert not by_name(results, "tokio").pooled  # 1.2 alone, 0.84 with je
    assert [len(e.cells) for e in results] == [6, 6, 4, 4, 3, 2, 2, 2, 2]


def test_contrasts_are_those_of_least_squares() -> None:
    """Effect coding of a two-level factorial: an effect is twice its coefficient, an interaction four times."""
    axes = {"a": ["a0", "a1"], "b": ["b0", "b1"], "c": ["c0", "c1"]}
    example = Crossed(axes, rounds=1)
    times = {
        key: random.Random(repr(key)).uniform(1, 2) for key in itertools.product(*axes.values())
    }
    at = replace(
        example.measured(lambda v, *_: times[tuple(v.values())]),
        last={example.plan.inputs[0].id: 1},
    )
    factorial, cells = effects.layout_of(at, example.plan.inputs[0].id)
    _, logs = at.logs(list(cells.values()), example.plan.inputs[0].id)
    signs = np.array([[1 if level.endswith("1") else -1 for level in key] for key in cells])
    model = np.column_stack(
        [np.ones(8), signs, signs[:, 0] * signs[:, 1], signs[:, 0] * signs[:, 2]]
    )
    model = np.column_stack([model, signs[:, 1] * signs[:, 2], signs.prod(axis=1)])
    values = [logs[cell].values[0] for cell in cells.values()]
    coefficients = np.linalg.lstsq(model, values, rcond=None)[0]
    means = [float(d.mean.values[0]) for d in effects._drafts(factorial, cells, logs)]
    assert means == pytest.approx([*(2 * coefficients[1:4]), *(4 * coefficients[4:7])])


def test_p_and_interval_are_scipys_and_looks_and_family_are_paid_for() -> None:
    example = Crossed({"a": ["a0", "a1"], "b": ["b0", "b1"]})
    wall = noisy(0.02, lambda v: 1.01 if v["a"] == "a1" else 1.0)
    at = example.measured(wall)
    (first, *_) = results = effects_of(at)
    logs = {
        (a, b): np.log([wall({"a": a, "b": b}, "x", n) for n in range(1, 41)])
        for a, b in itertools.product(("a0", "a1"), ("b0", "b1"))
    }
    mean = (logs["a1", "b0"] - logs["a0", "b0"] + logs["a1", "b1"] - logs["a0", "b1"]) / 2
    assert first.mean.p == pytest.approx(stats.wilcoxon(mean, method="exact").pvalue, rel=1e-9)
    looks = at.looks.count
    assert min(e.mean.p for e in results) == first.mean.p
    assert first.mean.p_adjusted == pytest.approx(min(1.0, 3 * looks * first.mean.p))
    walsh = np.sort([(x + y) / 2 for x, y in itertools.combinations_with_replacement(mean, 2)])
    assert ratio(first) == pytest.approx(math.exp(float(np.median(walsh))))
    # It is wider than the interval of a single effect.
    assert require(first.mean.shown).level >= 1 - 0.05 / looks


def test_cells_that_failed_are_holes() -> None:
    example = Crossed(AXES)
    at = example.measured(noisy(0.01))
    gone = next(c.id for c in example.plan.cells if "mi" in c.label)
    assert effects.effects(replace(at, runs=replace(at.runs, usable=at.usable - {gone})))[0][
        0
    ].left_out == (("alloc", "mi"),)


def test_a_tripped_control_leaves_every_effect_inconclusive() -> None:
    example = Crossed(AXES)
    floor = NoiseFloor(example.plan.inputs[0].id, "wall", 0.1, tripped=True)
    at = replace(example.measured(noisy(0.01)), tripped=frozenset({floor.input_id}))
    results = effects_of(at)
    assert {(e.mean.verdict, phrase(e.mean.reason)) for e in results} == {
        (Verdict.INCONCLUSIVE, "the A/A control differs significantly")
    }
    assert {c.contrast.verdict for e in results for c in e.cells} == {Verdict.INCONCLUSIVE}


@pytest.mark.slow
def test_equal_programs_have_no_effects() -> None:
    """At most the nominal share of 24 records with 9 effects each has a significant effect."""
    wrong = 0
    for seed in range(24):
        wall = noisy(0.02, lambda _: 1.0)
        shifted = lambda v, w, n, s=seed, f=wall: f(v, f"{w}{s}", n)  # noqa: E731 -- a record of its own noise
        results = effects_of(Crossed(AXES, rounds=18).measured(shifted))
        wrong += any(e.mean.verdict.decided for e in results)
    assert wrong <= 4  # binomial: 24 at 5 %, exceeded with p < 0.01


def test_a_pair_that_the_headline_compares_has_the_headlines_verdict() -> None:
    """A family of two is more powerful than the headline's eighteen. A page must not report both verdicts."""
    judged = Crossed(AXES, rounds=18).judge(noisy(0.12))
    headline = {
        (c.cell_id, c.ref_cell_id): c
        for c in judged.comparisons
        if c.family == "headline" and c.metric == "wall"
    }
    cells = [cell for effect in judged.structure.effects for cell in effect.cells]
    pairs = [
        (cell, comparison)
        for cell in cells
        for pair, comparison in headline.items()
        if cell.cell_ids == pair
    ]
    # One per level of each axis: the configurations that differ from the baseline in one axis.
    assert len(pairs) == 4
    for cell, comparison in pairs:
        assert cell.contrast.verdict is comparison.verdict
        assert cell.contrast.shown == comparison.shown
