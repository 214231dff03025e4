"""Before and after: the compared pairs, and verdicts that equal those of the judgement."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bench_framework.features.experiments import compute as experiments
from bench_framework.model.plan.build_spec import BuildSpec
from bench_framework.model.plan.declarations import NamedContrast
from bench_framework.model.result.judgement import judged_pairs
from bench_framework.model.verdict import Interval, Verdict
from tests.build import make_comparison, require
from tests.unit.judging.conftest import Crossed

AXES = {"engine": ["rayon", "tokio"], "alloc": ["sys", "je"]}


def wall(values: Mapping[str, str], where: str, number: int) -> float:
    noise = random.Random(f"{sorted(values.items())}/{where}/{number}").gauss(0, 0.005)
    values = {"engine": "rayon", "alloc": "sys", **values}
    factor = {"rayon": 1.0, "tokio": 1.3}[values["engine"]] * {"sys": 1.0, "je": 0.9}[
        values["alloc"]
    ]
    return factor * math.exp(noise)


def test_an_axis_of_arguments_or_of_three_features_is_not() -> None:
    assert experiments.pairs(Crossed(AXES).plan) == ()
    three = {**AXES, "alloc": ["sys", "je", "mi"]}
    assert experiments.pairs(Crossed(three, features=["alloc"]).plan) == ()


def test_revisions_are_before_and_after_however_many() -> None:
    plan = Crossed({"rev": ["v1", "v2", "v3"]}).plan
    built = tuple(
        replace(v, build=BuildSpec("crate", "bin", revision=dict(v.values)["rev"]))
        for v in plan.variants
    )
    pairs = experiments.pairs(replace(plan, variants=built))
    assert [(a.label, b.label) for a, b in pairs] == [("v1", "v2"), ("v1", "v3")]
    flags = tuple(
        replace(v, build=replace(v.build, rustflags=("-C", v.label)))
        for v in built
        if v.build is not None
    )
    # The compiler's flags changed too.
    assert experiments.pairs(replace(plan, variants=flags)) == ()


def test_a_contrast_with_all_adopted_experiments_against_none() -> None:
    plan = Crossed(
        {"engine": ["rayon", "tokio"], "parser": ["simd", "sonic"], "alloc": ["sys", "je"]},
        adopted=[("parser", "sonic"), ("alloc", "je")],
    ).plan
    ids = {variant.label: variant.id for variant in plan.variants}
    contrasts = tuple(
        NamedContrast(name, ids[name], ids["tokio " + before], (plan.inputs[0].id,), "wall")
        for name, before in (
            ("tokio sonic je", "simd sys"),
            ("tokio sonic sys", "simd sys"),  # lacks one of the experiments
            ("rayon sonic je", "simd je"),  # one of the experiments on both sides
        )
    )
    pairs = experiments.pairs(replace(plan, contrasts=contrasts))
    expected = [("rayon simd sys", "rayon sonic je"), ("tokio simd sys", "tokio sonic je")]
    assert [(a.label, b.label) for a, b in pairs] == expected
    # A selection of configurations can leave out variants of a contrast.
    variants = tuple(v for v in plan.variants if v.label != "tokio sonic je")
    pairs = experiments.pairs(replace(plan, contrasts=contrasts, variants=variants))
    assert [(a.label, b.label) for a, b in pairs] == expected[:1]


@pytest.mark.parametrize(
    ("verdict", "reverse_verdict"),
    [
        (Verdict.BETTER, Verdict.WORSE),
        (Verdict.EQUIVALENT, Verdict.EQUIVALENT),
        (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE),
        (Verdict.FAILED, Verdict.FAILED),
    ],
)
def test_a_comparison_from_its_other_side(verdict: Verdict, reverse_verdict: Verdict) -> None:
    interval = Interval(0.9, 0.88, 0.92, 0.99)
    comparison = make_comparison(
        "a", "b", "wall", "best", verdict, shown=interval, runs=3, runs_ref=4
    )
    reverse = judged_pairs([comparison])["wall"]["b", "a"]
    assert reverse.verdict is reverse_verdict
    assert (reverse.runs, reverse.runs_ref) == (4, 3)
    other_side = require(reverse.shown)
    assert (other_side.ratio, other_side.lo, other_side.hi) == pytest.approx(
        (1 / 0.9, 1 / 0.92, 1 / 0.88)
    )


def test_the_comparison_with_a_baseline_precedes_that_of_the_best_group() -> None:
    best = make_comparison("a", "b", "wall", "best", Verdict.INCONCLUSIVE)
    headline = make_comparison("b", "a", "wall", "headline", Verdict.WORSE)
    judged = judged_pairs([headline, best])["wall"]
    assert judged["b", "a"] is headline
    assert (judged["a", "b"].family, judged["a", "b"].verdict) == ("headline", Verdict.BETTER)
    assert judged_pairs([headline])["cpu"] == {}
