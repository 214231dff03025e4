"""One headline metric, one verdict per pair and one direction in all parts of the analysis."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from bench_framework.features.judge import judge
from bench_framework.features.pareto import compute as pareto
from bench_framework.features.summary.view import SummaryView
from bench_framework.model.plan.arguments import BIN
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.reasons import ONE_PROGRAM
from bench_framework.model.record.run import Build
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.verdict import Verdict
from bench_framework.text.numbers import percent_up
from bench_framework.text.reasons import phrase
from tests.build import require
from tests.unit.judging.conftest import Crossed, Study, with_builds

AXES = {"engine": ["rayon", "tokio"], "parser": ["simd", "sonic"]}
RATES = {"rayon": 1.0, "tokio": 1.3, "simd": 1.0, "sonic": 1.1}


def noise(*parts: object, spread: float = 0.004) -> float:
    return math.exp(random.Random("/".join(map(str, parts))).gauss(0, spread))


@pytest.mark.parametrize(
    ("metrics", "headline"),
    [
        (("wall", "cpu"), "wall"),
        (("cpu", "wall"), "cpu"),
        (("instructions", "wall"), "wall"),
        (("binary_size", "instructions"), "binary_size"),
    ],
)
def test_the_headline_uses_the_first_metric_that_rounds_decide(
    metrics: tuple[str, ...], headline: str
) -> None:
    assert JudgePolicy(metrics=metrics).headline == headline


def test_best_group_effects_and_gaps_use_the_headlines_metric() -> None:
    example = Crossed(AXES)
    plan = replace(example.plan, judge=JudgePolicy(metrics=("cpu", "wall")))
    judged = judge(
        plan, example.blocks(lambda v, _, n: noise(*v.values(), n)), {}, [], example.looks()
    )
    assert {g.metric for g in judged.best} == {"cpu"}
    assert {e.metric for e in judged.structure.effects} == {"cpu"}
    assert {t.metric for t in judged.structure.contributions} == {"cpu"}


# -- more is better --------------------------------------------------------------------------------


def serving(plan: Plan) -> Plan:
    """Return the plan with requests per second as its metric, for which larger values are better."""
    rate = DeclaredMetric("rate", "stdout", "1/s", direction="higher")
    return replace(plan, metrics=(rate,), judge=JudgePolicy(metrics=("rate",)))


def served(example: Crossed, rate: Callable[[Mapping[str, str]], float]) -> Judgement:
    plan = serving(example.plan)
    blocks = []
    for block in example.blocks(lambda *_: 1.0):
        values = dict(plan.variant(plan.cell(block.cell_id).variant_id).values)
        rows = 1000 * rate(values) * noise(*values.values(), block.round)
        blocks.append(replace(block, metrics={"rate": rows}))
    return judge(plan, blocks, {}, [], example.looks())


def texts(judged: Judgement, kind: str) -> list[str]:
    return [c.text.replace("\u202f", " ") for c in judged.claims if c.kind == kind]


def test_a_larger_rate_is_called_higher_by_every_part() -> None:
    example = Crossed(AXES, features=("parser",))
    judged = served(example, lambda v: math.prod(RATES[x] for x in v.values()))
    engine, parser = texts(judged, "effect")
    assert engine.startswith("engine tokio vs rayon: 3")
    assert "% higher rate [" in engine
    assert parser.startswith("parser sonic vs simd: ")
    assert "% higher rate [" in parser
    (whole,) = texts(judged, "contributions")
    assert "higher rate" in whole
    assert "= 1.430 of the rate" in whole
    for kind in ("effect", "contributions", "before-after", "comparison", "main"):
        for text in texts(judged, kind):
            assert "lower rate" not in text, text
            assert " less " not in text, text
    assert [c.verdict for c in judged.claims if c.kind == "effect"] == [Verdict.BETTER] * 2


def test_a_rate_that_changes_sign_over_an_axis_has_the_right_direction() -> None:
    judged = served(
        Crossed(AXES),
        lambda v: 1.0 if v["parser"] == "simd" else 1.2 if v["engine"] == "rayon" else 0.7,
    )
    (text,) = [t for t in texts(judged, "effect") if t.startswith("parser")]
    assert text == (
        "parser sonic vs simd depends on the other axes: higher rate in 1 of 2 combinations, lower "
        "in 1; no mean is reported."
    )


def test_a_rate_of_zero_is_never_recommended() -> None:
    def rate(values: Mapping[str, str]) -> float:
        return 0.0 if values["parser"] == "sonic" else 1.2 if values["engine"] == "tokio" else 1.0

    (text,) = texts(served(Crossed(AXES), rate), "recommendation")
    assert text.startswith("Use tokio simd")


def test_intervals_of_a_rate_order_variants_that_were_not_compared() -> None:
    example = Crossed(AXES)
    judged = served(example, lambda v: math.prod(RATES[x] for x in v.values()))
    view = SummaryView(serving(example.plan), replace(judged, best=()), {}, ())
    cells = {view.label(cell.id): cell.id for cell in example.plan.cells}
    best, middle = cells["tokio sonic"], cells["tokio simd"]
    assert view.higher
    assert view.pair(best, middle) is None
    assert (view.order(best, middle), view.order(middle, best)) == (-1, 1)


# -- one verdict per pair --------------------------------------------------------------------------


def pair_of(arm: str, shift: float, n: int) -> float:
    return 0.05 * (1 + shift * (arm == "b")) * noise(arm, n, spread=0.02)


@pytest.mark.parametrize("shift", [0.0085, 0.009, 0.018])
def test_the_best_group_says_of_a_pair_what_the_headline_says(shift: float) -> None:
    """Two variants and two metrics: the best group's family is smaller and has more power."""
    example = Study(arms=("a", "b"), control=False)
    judged = example.judge(
        example.blocks(lambda arm, _, n: pair_of(arm, shift, n), cpu=lambda *_: 0.05)
    )
    ours, (group,) = example.comparison(judged, "b"), judged.best
    (reported,) = ((c.verdict, c.shown, c.p_adjusted) for c in group.comparisons)
    assert reported == (ours.verdict, ours.shown, ours.p_adjusted)
    (lead,) = [c for c in judged.claims if c.kind in ("main", "nothing")]
    assert (lead.kind == "main") is ours.verdict.settled
    assert len(group.cell_ids) == (1 if ours.verdict.decided else 2)


def test_a_conclusive_pair_of_a_large_family_is_reported() -> None:
    """With many variants the best group is the larger family. The verdict of the headline is used."""
    arms = ("a", *(f"x{n}" for n in range(9)))
    example = Study(arms=arms, control=False, policy=JudgePolicy(metrics=("wall",)))

    def wall(arm: str, _: str, n: int) -> float:
        return 0.05 * (1.05 if arm == "x4" else 1.0) * noise(arm, n, spread=0.05)

    judged = example.judge(example.blocks(wall))
    decided = [c for c in judged.comparisons if c.verdict.decided]
    assert [c.cell_id for c in decided] == [example.cell("x4").id]
    (pair,) = [
        c
        for c in judged.best[0].comparisons
        if c.cell_id == decided[0].cell_id and c.p == decided[0].p
    ]
    assert pair.verdict is decided[0].verdict
    assert not [c for c in judged.claims if c.kind == "nothing"]
    assert example.cell("x4").id not in judged.best[0].cell_ids


def test_the_reported_noise_floor_is_that_of_the_headlines_metric() -> None:
    """The noise of CPU time does not affect the noise floor of wall time, and vice versa."""
    example = Study(arms=("a", "b"), policy=JudgePolicy(metrics=("wall", "cpu")))
    blocks = example.blocks(
        lambda arm, _, n: 0.05 * noise(arm, n, spread=0.002),
        cpu=lambda arm, _, n: 0.05 * noise("c", arm, n, spread=0.05),
    )
    for metrics, what in ((("wall", "cpu"), "time"), (("cpu", "wall"), "CPU time")):
        plan = replace(example.plan, judge=JudgePolicy(metrics=metrics))
        judged = judge(plan, blocks, {}, [], example.looks())
        floors = {f.metric: f.fraction for f in judged.floors}
        assert require(floors["cpu"]) > 5 * require(floors["wall"])
        (trust,) = [c for c in judged.claims if c.kind == "trust"]
        assert trust.noise_floor == floors[metrics[0]]
        floor = percent_up(floors[metrics[0]] or 0.0)
        assert f"{what} comparison is" in trust.text
        # A floor above the margin shows no equality.
        passed = f"The A/A check passed (noise floor {floor})"
        imprecise = (
            f"too imprecise to show that the baseline and its copy are equal (noise floor {floor}"
        )
        assert (imprecise if metrics[0] == "cpu" else passed) in trust.text


def test_if_the_control_differs_the_best_group_is_inconclusive() -> None:
    """Neither the baseline nor the other pairs are conclusive on an input whose A/A control differs."""
    example = Study(arms=("a", "b", "c"), control=True)
    factors = {"a": 1.0, "b": 1.2, "c": 1.5}

    def judged(control: float) -> Judgement:
        return example.judge(
            example.blocks(
                lambda arm, _, n: (control if arm == "control" else factors[arm]) * noise(arm, n)
            )
        )

    sound, tripped = judged(1.0), judged(1.1)
    assert [c.verdict for c in sound.best[0].comparisons] == [Verdict.WORSE] * 3
    assert sound.best[0].cell_ids == (example.cell("a").id,)
    assert {c.verdict for c in tripped.best[0].comparisons} == {Verdict.INCONCLUSIVE}
    assert {phrase(c.reason) for c in tripped.best[0].comparisons} == {
        "the A/A control differs significantly"
    }
    assert len(tripped.best[0].cell_ids) == 3


# -- one program -----------------------------------------------------------------------------------


def compiled(
    example: Crossed, code: Callable[[Mapping[str, str]], str]
) -> tuple[Plan, dict[str, Build]]:
    """Return the plan with a build per variant and one command, and with the code of each build."""
    plan, specs = with_builds(example.plan)
    plan = replace(plan, cells=tuple(replace(c, command=((BIN,),)) for c in plan.cells))
    codes = {specs[v.label].id: code(dict(v.values)) for v in plan.variants}
    return plan, {
        id_: Build(id_, ok=True, sha256=id_, code_sha256=digest, size_bytes=9)
        for id_, digest in codes.items()
    }


def of_code(
    example: Crossed, code: Callable[[Mapping[str, str]], str], **factors: float
) -> Judgement:
    """Return times that differ by name for the same code, as on a biased machine."""
    plan, builds = compiled(example, code)

    def wall(values: Mapping[str, str], _: str, n: int) -> float:
        return math.prod(factors.get(v, 1.0) for v in values.values()) * noise(*values.values(), n)

    return judge(plan, example.blocks(wall), builds, [], example.looks())


def differences(judged: Judgement) -> list[str]:
    kinds = ("effect", "interaction", "contributions", "before-after", "comparison", "front")
    return [
        t
        for t in [t for kind in kinds for t in texts(judged, kind)]
        if any(word in t for word in ("% less", "% more", "faster", "slower", "equivalent"))
    ]


def test_001_an_axis_that_reaches_no_binary_has_no_effect_in_any_table() -> None:
    """001: sonic-rs on an engine that never used it, and −8.4 % from drift. No table reports an effect."""
    judged = of_code(Crossed(AXES), lambda v: v["engine"], sonic=0.916)
    (parser,) = [t for t in texts(judged, "effect") if t.startswith("parser")]
    assert parser.startswith(f"parser sonic vs simd: {phrase(ONE_PROGRAM)} [")
    (both,) = texts(judged, "interaction")
    assert phrase(ONE_PROGRAM) in both
    effects = {e.changes[0].axis: e for e in judged.structure.effects if len(e.changes) == 1}
    assert (effects["parser"].mean.verdict, effects["parser"].significant_in) == (
        Verdict.INCONCLUSIVE,
        0,
    )
    assert [c.contrast.reason for c in effects["parser"].cells] == [ONE_PROGRAM] * 2
    (shares,) = judged.structure.contributions
    assert shares.steps[1].contrast.reason == ONE_PROGRAM
    (reported,) = texts(judged, "contributions")
    assert "parser: simd → sonic: the same program" in reported
    assert not [
        t for t in differences(judged) if t.startswith(("parser", "rayon sonic vs rayon simd"))
    ]


def test_an_axis_that_reaches_one_engine_has_an_effect_only_there() -> None:
    judged = of_code(
        Crossed(AXES),
        lambda v: v["engine"] + (v["parser"] if v["engine"] == "tokio" else ""),
        sonic=0.9,
    )
    (parser,) = [
        e for e in judged.structure.effects if e.changes[0].axis == "parser" and len(e.changes) == 1
    ]
    assert [(c.where, c.contrast.verdict, c.contrast.reason) for c in parser.cells] == [
        ("rayon", Verdict.INCONCLUSIVE, ONE_PROGRAM),
        ("tokio", Verdict.BETTER, None),
    ]
    assert (parser.mean.verdict, parser.significant_in) == (Verdict.BETTER, 1)
    (shares,) = judged.structure.contributions
    assert phrase(shares.steps[1].contrast.reason) == ""


@pytest.mark.parametrize("design", ["ladder", "one-at-a-time"])
def test_a_step_that_leaves_the_program_as_it_was_contributes_nothing(design: Any) -> None:
    example = Crossed(
        {"parser": ["simd", "sonic"], "alloc": ["sys", "je"], "lto": ["off", "on"]},
        design=design,
        drop=lambda v: (
            design == "ladder"
            and tuple(v.values())
            not in {
                ("simd", "sys", "off"),
                ("sonic", "sys", "off"),
                ("sonic", "je", "off"),
                ("sonic", "je", "on"),
            }
        ),
    )
    judged = of_code(example, lambda v: v["alloc"] + v["lto"], sonic=0.9, je=0.8, on=0.95)
    (table,) = judged.structure.contributions
    first = table.steps[0].contrast
    assert (first.verdict, first.reason) == (Verdict.INCONCLUSIVE, ONE_PROGRAM)
    assert table.steps[1].contrast.verdict is Verdict.BETTER
    if table.remainder is not None:
        assert table.remainder.reason != ONE_PROGRAM
    assert not any("parser: simd → sonic: 1" in t for t in texts(judged, "contributions"))


def test_before_and_after_of_one_program_is_no_change() -> None:
    judged = of_code(Crossed({"parser": ["simd", "sonic"]}), lambda _: "one", sonic=0.9)
    (text,) = texts(judged, "before-after")
    assert phrase(ONE_PROGRAM) in text
    assert "inconclusive" not in text
    assert differences(judged) == []


def test_no_variant_is_behind_its_own_twin() -> None:
    ahead, behind = (
        pareto.VariantCosts(n, {"wall": e, "peak_rss": e}, {})
        for n, e in (("a", (1e7, 2e7)), ("b", (3e7, 4e7)))
    )
    assert [s.beaten_by for s in pareto.standings([ahead, behind])] == [(), ("a",)]
    twins = frozenset((frozenset(("a", "b")),))
    assert [(s.beaten_by, s.least) for s in pareto.standings([ahead, behind], twins)] == [
        ((), ("wall", "peak_rss")),
        ((), ("wall", "peak_rss")),
    ]
