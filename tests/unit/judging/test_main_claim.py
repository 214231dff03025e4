"""The main claim of a report: it agrees with the tables and states cost and rounds."""

import random
from dataclasses import replace

import numpy as np

from bench_framework.compare import interim_analysis, verdict
from bench_framework.compare.stage import Stage, runs_of
from bench_framework.features.judge import judge
from bench_framework.model.plan.looks import Looks
from bench_framework.model.plan.plan import Hole
from bench_framework.model.reasons import message
from bench_framework.model.verdict import Verdict
from bench_framework.rounding import rounded
from bench_framework.text.reasons import phrase
from tests.unit.judging.conftest import Study, case_of, pair_of_logs

LOOKS = Looks.at((600,), family=1, level=0.05)


def draw(arm: str, where: str, number: int, spread: float = 0.004) -> float:
    return 0.05 * (1 + abs(random.Random(f"{arm}/{where}/{number}").gauss(0, spread)))


def test_two_statistics_with_opposite_directions_are_inconclusive() -> None:
    """Most rounds are slightly slower, which the main score sees. The largest differences are
    faster, which the signed ranks see.
    """
    random_ = np.random.default_rng(1)
    n = 600
    x = np.where(np.arange(n) % 20 < 8, -0.5, 0.01) + random_.normal(0, 0.003, n)
    y = random_.normal(0, 0.003, n)
    pair = pair_of_logs(x, y)
    (evidence,) = verdict.examine_looks(pair, (n,))
    assert max(evidence.p, evidence.p_opposite) <= LOOKS.strict
    (results,) = verdict.judge_family([case_of(pair, [evidence])], LOOKS)
    assert results.verdict is Verdict.INCONCLUSIVE
    assert phrase(results.reason).startswith("mixed")


def test_no_variant_is_slower_than_the_baseline_and_among_the_best() -> None:
    """The family of all pairs is larger than that of the headline, which is already conclusive."""
    example = Study(arms=("a", "b", "c"))
    blocks = example.blocks(lambda arm, i, r: draw(arm, i, r) * (1.2 if arm == "b" else 1))
    judged = example.judge(blocks)
    worse = example.comparison(judged, "b")
    assert worse.verdict is Verdict.WORSE
    plan = example.plan
    runs = runs_of(plan, (), {})
    stage = Stage(plan, plan.inputs[0].id, plan.judge, runs, judged.looks, (), 0)
    assert interim_analysis.best_group(stage, headline=(worse,)).cell_ids == ()
    assert worse.cell_id not in judged.best[0].cell_ids


def test_an_inconclusive_pair_has_no_additional_digits() -> None:
    assert str(rounded(0.9953, 0.990, 0.99998, margin=0.02).hi) == "0.99998"
    assert str(rounded(0.9953, 0.990, 0.99998, margin=0.02, keep=False).hi) == "1.000"


def test_combinations_left_out_by_one_rule_are_reported_once() -> None:
    example = Study(arms=("a", "b"), sizes=(1, 2))
    holes = tuple(
        Hole((("arm", "c"), ("size", f"{s}MiB")), message("excluded by rule 1")) for s in (1, 2)
    )
    judged = judge(
        replace(example.plan, holes=holes),
        example.blocks(draw),
        {},
        example.inputs(),
        example.looks(),
    )
    texts = [c.text for c in judged.claims if c.kind == "not-measured"]
    assert texts == ["Not measured: arm=c, size=1MiB, size=2MiB (excluded by rule 1)."]
