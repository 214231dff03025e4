"""Contributions: ladders, changes alone and Shapley shares against closed forms, and refusals."""

import math
import random
from collections.abc import Callable, Mapping

import pytest

from bench_framework.features.ablation import compute as ablation
from bench_framework.model.result.structure import Contribution
from tests.unit.judging.conftest import Crossed

AXES = {"parser": ["simd", "sonic"], "alloc": ["sys", "je"]}
"""The two changes of document 001."""


def noisy(
    exact: Callable[[Mapping[str, str]], float], spread: float = 0.004
) -> Callable[[Mapping[str, str], str, int], float]:
    def wall(values: Mapping[str, str], where: str, number: int) -> float:
        chance = random.Random(f"{sorted(values.items())}/{where}/{number}")
        return exact(values) * math.exp(chance.gauss(0, spread)) * (1 + 0.02 * number)

    return wall


def seed(values: Mapping[str, str]) -> float:
    """Return the relative time of a variant of document 001: 8.4 % and 5.7 % less time.

    The document reported both together as twice as fast.
    """
    return (0.916 if values["parser"] == "sonic" else 1.0) * (
        0.943 if values["alloc"] == "je" else 1.0
    )


def ladder(values: Mapping[str, str]) -> bool:
    """Return whether the ladder over the two changes omits a combination."""
    return values["parser"] == "simd" and values["alloc"] == "je"


def ratios(table: Contribution) -> list[float]:
    return [s.contrast.shown.ratio for s in table.steps if s.contrast.shown is not None]


def test_drift_over_the_rounds_cancels() -> None:
    example = Crossed(AXES, design="ladder", drop=ladder)
    (table,) = example.judge(lambda v, _, n: seed(v) * 1.1**n).structure.contributions
    assert ratios(table) == pytest.approx([0.916, 0.943], rel=1e-9)
    assert table.unexplained == pytest.approx(0.0, abs=1e-9)


def test_before_six_rounds_there_are_no_contributions() -> None:
    example = Crossed(AXES, rounds=5, design="ladder", drop=ladder)
    assert ablation.contributions(example.measured(noisy(seed))) == ((), 0)
