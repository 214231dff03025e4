"""A headline that counts verdicts if the baseline is in a large best group, and names no pair
of it.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from bench_framework.claims.phrases import FEWEST_COUNTED, verdict_counts
from bench_framework.model.judgement import Claim, Comparison
from bench_framework.model.verdict import Verdict

if TYPE_CHECKING:
    from conftest import Study

SLOWER = {"a": 0.05, "control": 0.05, "b": 0.05, "c": 0.06, "d": 0.07, "e": 0.08}


def wall(arm: str, where: str, number: int) -> float:
    noise = random.Random(f"{arm}/{where}/{number}")
    return SLOWER[arm] * (1 + noise.expovariate(1 / 0.01))


def lead(study: type[Study], arms: tuple[str, ...]) -> Claim:
    example = study(arms=arms)
    judged = example.judge(example.blocks(wall))
    (claim,) = (c for c in judged.claims if c.kind == "main")
    assert claim.subject in {"a", *arms}
    rows = [c for c in judged.comparisons if c.metric == "wall" and c.family == "headline"]
    if "counts" in claim.values:
        assert claim.values["counts"] == verdict_counts(rows)
        assert (
            claim.values["compared"]
            == len(rows)
            == sum(int(n.split()[0]) for n in str(verdict_counts(rows)).split(", "))
        )
        assert set(claim.cells) >= {c.cell_id for c in rows}
    return claim


def test_of_many_the_verdicts_are_counted_and_no_pair_is_picked(study: type[Study]) -> None:
    claim = lead(study, ("a", "b", "c", "d", "e"))
    assert "; 4 compared with a: " in claim.text
    assert "3 slower" in claim.text
    assert "best group (2 variants): a, b" in claim.text
    assert (claim.verdict, claim.estimate, claim.lo, claim.hi) == (None, None, None, None)
    assert "%" not in claim.text


def test_a_single_verdict_is_reported_with_its_interval(study: type[Study]) -> None:
    claim = lead(study, ("a", "c", "d"))
    assert "counts" not in claim.values
    assert "c is" in claim.text
    assert claim.lo is not None


@pytest.mark.parametrize("count", [0, 1, FEWEST_COUNTED - 1])
def test_few_are_not_counted(count: int) -> None:
    assert verdict_counts([Comparison("b", "a", "wall", "headline", Verdict.WORSE)] * count) is None


def test_words_follow_the_metric_and_the_order_of_the_glossary() -> None:
    verdicts = (Verdict.WORSE, Verdict.BETTER_SIZE_UNCERTAIN, Verdict.WORSE, Verdict.INCONCLUSIVE)
    wall_time = [Comparison("b", "a", "wall", "headline", v) for v in verdicts]
    assert verdict_counts(wall_time) == "1 faster (size uncertain), 1 inconclusive, 2 slower"
    memory = [Comparison("b", "a", "peak_rss", "headline", v) for v in verdicts]
    assert verdict_counts(memory) == "1 less memory (size uncertain), 1 inconclusive, 2 more memory"
