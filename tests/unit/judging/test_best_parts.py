"""The single changes of a record, and the parts of a variant for which another value is better."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bench_framework.features.judge import judge
from bench_framework.features.summary.best import answer_advice, recommendations
from bench_framework.features.summary.parts import best_parts, part_claims, single_changes
from bench_framework.features.summary.view import SummaryView
from bench_framework.model.facts import Claim
from bench_framework.model.facts.answers import Alternative
from bench_framework.model.facts.parts import BestParts
from bench_framework.model.facts.summary import Recommendation
from bench_framework.model.metrics import LEAST_BYTES, PEAK_RSS
from bench_framework.model.plan.declarations import (
    Axis,
    AxisValue,
    Experiment,
    Headline,
    NamedContrast,
)
from bench_framework.model.plan.plan import Hole, Plan
from bench_framework.model.reasons import Reason, ReasonCode
from bench_framework.model.verdict import Verdict
from bench_framework.text.write import brief, say
from tests.build import require
from tests.unit.judging.conftest import Study

BASE = "tokio simd system"
"""Values of the axes engine, parser and allocator of the baseline; an arm has these, in this order."""
LADDER = {
    BASE: 1.0,
    "tokio sonic system": 1.1,
    "tokio sonic jemalloc": 0.9,
    "rayon sonic jemalloc": 0.7,
}
AXES = ("engine", "parser", "allocator")


def view_of(
    times: Mapping[str, float],
    holes: Mapping[str, ReasonCode] | None = None,
    experiment: str = "",
    noise: float = 0.004,
) -> SummaryView:
    """Return a record whose arms have three axes; `experiment` is an arm that changes a parameter instead."""
    example = Study(arms=tuple(times))

    def values(arm: str) -> tuple[tuple[str, str], ...]:
        return tuple(zip(AXES, (BASE if arm == experiment else arm).split(), strict=True))

    variants = tuple(
        replace(v, values=values(v.label), experiment=v.label if v.label == experiment else None)
        for v in example.plan.variants
    )
    renamed = {old.id: new.id for old, new in zip(example.plan.variants, variants, strict=True)}
    names = [{values(arm)[i][1]: None for arm in times} for i in range(3)]
    axes = tuple(
        Axis(axis, "run", tuple(AxisValue(name, name) for name in of_axis))
        for axis, of_axis in zip(AXES, names, strict=True)
    )
    plan = replace(
        example.plan,
        variants=variants,
        cells=tuple(replace(c, variant_id=renamed[c.variant_id]) for c in example.plan.cells),
        axes=axes,
        baseline_id=renamed[example.plan.baseline_id],
        design="ladder",
        holes=tuple(Hole(values(arm), Reason(code)) for arm, code in (holes or {}).items()),
        experiments=(
            (Experiment(experiment, renamed[id_of(example.plan, experiment)], (("buffer", "1M"),)),)
            if experiment
            else ()
        ),
    )
    draw = random.Random(8)
    blocks = example.blocks(lambda arm, *_: times.get(arm, 1.0) * math.exp(draw.gauss(0, noise)))
    judgement = judge(plan, blocks, {}, example.inputs(), example.looks())
    return SummaryView(plan, judgement, {}, example.inputs())


def id_of(plan: Plan, label: str) -> str:
    return next(v.id for v in plan.variants if v.label == label)


def parts_of(view: SummaryView, label: str) -> BestParts | None:
    cell = next(c for c in view.plan.cells if c.variant_id == id_of(view.plan, label))
    return best_parts(view, cell.id)


def changes_of(view: SummaryView) -> set[tuple[str, str, str]]:
    (item,) = view.plan.inputs
    return {(c.axis, c.value, c.reference) for c in single_changes(view, item.id)}


def test_single_changes_are_pairs_that_differ_in_one_axis() -> None:
    view = view_of(LADDER)
    changes = {(axis, frozenset(values)) for axis, *values in changes_of(view)}
    assert changes == {
        ("parser", frozenset({"sonic", "simd"})),
        ("allocator", frozenset({"jemalloc", "system"})),
        ("engine", frozenset({"rayon", "tokio"})),
    }


def test_a_part_that_is_worse_and_was_never_left_out_has_a_command() -> None:
    holes = {"rayon simd jemalloc": ReasonCode.NO_STEP}
    parts = require(parts_of(view_of(LADDER, holes), "rayon sonic jemalloc"))
    ((worse,), measured, command) = parts.worse, parts.measured, parts.command
    assert (worse.axis, worse.value, worse.better) == ("parser", "sonic", "simd")
    assert (worse.evidence.subject, worse.evidence.reference) == (BASE, "tokio sonic system")
    assert worse.evidence.estimate == pytest.approx(1 / 1.1, rel=0.01)
    assert require(worse.evidence.verdict).better
    assert measured == ""
    assert command == (
        "benchctl run s.yaml -S design=full -k 'engine=rayon parser=simd allocator=jemalloc'"
    )


def test_the_combination_of_the_best_parts_is_named_if_it_was_measured() -> None:
    view = view_of({**LADDER, "rayon simd jemalloc": 0.65})
    parts = require(parts_of(view, "tokio sonic system"))
    better = {(value.axis, value.better) for value in parts.worse}
    assert better == {("parser", "simd"), ("allocator", "jemalloc"), ("engine", "rayon")}
    assert (parts.measured, parts.command) == ("rayon simd jemalloc", "")


def test_evidence_in_a_variant_that_is_more_alike_decides() -> None:
    # With tokio, simd is the better parser; with rayon, sonic is.
    view = view_of({**LADDER, "rayon simd jemalloc": 0.72})
    assert parts_of(view, "rayon sonic jemalloc") is None
    # This one is as much like the pair with tokio as like the one with rayon.
    parts = require(parts_of(view, "tokio sonic jemalloc"))
    assert [value.axis for value in parts.worse] == ["engine"]


def test_no_difference_in_the_same_context_outweighs_one_in_another() -> None:
    view = view_of({**LADDER, "rayon simd jemalloc": 0.7})
    assert parts_of(view, "rayon sonic jemalloc") is None


def test_an_inconclusive_comparison_in_the_same_context_outweighs_a_difference_in_another() -> None:
    times = {**LADDER, "tokio sonic system": 1.3}
    assert parts_of(view_of(times, noise=0.03), "rayon sonic jemalloc") is not None
    view = view_of({**times, "rayon simd jemalloc": 0.705}, noise=0.03)
    (pair,) = (
        c
        for c in view.judgement.every
        if {*map(view.label, (c.cell_id, c.ref_cell_id))}
        == {"rayon sonic jemalloc", "rayon simd jemalloc"}
        and c.metric == "wall"
    )
    assert pair.verdict is Verdict.INCONCLUSIVE
    assert parts_of(view, "rayon sonic jemalloc") is None


def test_a_little_less_memory_does_not_decide_between_best_variants() -> None:
    view = view_of({BASE: 1.0, "tokio simd jemalloc": 0.7, "tokio simd mimalloc": 0.702})
    names = {view.label(c.id): c.id for c in view.plan.cells}
    for factor, chosen in ((1.2, "tokio simd jemalloc"), (1.3, "tokio simd mimalloc")):
        view.medians[names["tokio simd jemalloc"], PEAK_RSS] = factor * 1e8
        view.medians[names["tokio simd mimalloc"], PEAK_RSS] = 1e8
        (claim,) = recommendations(view)
        assert claim.subject == chosen
    view.medians[names["tokio simd jemalloc"], PEAK_RSS] = 1.9 * LEAST_BYTES
    view.medians[names["tokio simd mimalloc"], PEAK_RSS] = LEAST_BYTES
    (claim,) = recommendations(view)
    assert claim.subject == "tokio simd jemalloc"


def answering(view: SummaryView, left: str, right: str) -> SummaryView:
    """Return the results with a headline that compares two arms."""
    (item,) = view.plan.inputs
    ids = (id_of(view.plan, label) for label in (left, right))
    contrast = NamedContrast("answer", next(ids), next(ids), (item.id,), "wall")
    plan = replace(view.plan, contrasts=(contrast,), headline=Headline(contrast="answer"))
    return SummaryView(plan, view.judgement, {}, ())


def test_the_contrast_of_the_answer_has_its_two_configurations() -> None:
    view = view_of({BASE: 1.0, "tokio simd jemalloc": 0.7, "rayon simd system": 0.9})
    (item,) = view.plan.inputs
    with_answer = answering(view, "rayon simd system", BASE)
    (_, *cells) = require(with_answer.answer_contrast(item.id))
    assert [with_answer.label(c.id) for c in cells] == ["rayon simd system", BASE]
    assert view.answer_contrast(item.id) is None


ENGINES = {
    BASE: 1.0,
    "tokio simd jemalloc": 0.9,
    "pool sonic jemalloc": 0.95,
    "rayon sonic jemalloc": 0.7,
    "rayon simd jemalloc": 0.6,
}


@pytest.mark.parametrize(
    ("left", "right", "members"),
    [
        # They differ in the engine only.
        ("pool sonic jemalloc", "rayon sonic jemalloc", ("tokio simd jemalloc",)),
        # They differ in each axis. The recommended variant has a third engine, and the parser of one of them.
        ("pool sonic jemalloc", BASE, ("tokio simd jemalloc",)),
        # They differ in the parser and the allocator, and the recommended variant has a value of one of them.
        ("rayon sonic jemalloc", BASE, None),
        # The answer has the figures.
        ("tokio simd jemalloc", "rayon simd jemalloc", None),
    ],
)
def test_the_best_variant_without_the_recommended_value_of_the_axis_of_the_answer(
    left: str, right: str, members: tuple[str, ...] | None
) -> None:
    claims = [*answer_advice(answering(view_of(ENGINES), left, right))]
    if members is None:
        assert claims == []
        return
    (claim,) = claims
    assert isinstance(claim.fact, Alternative)
    assert (claim.fact.members, claim.fact.axis) == (members, "engine")
    assert (claim.subject, claim.reference) == (members[0], "rayon simd jemalloc")
    assert brief(claim).startswith(
        "Without engine=rayon, tokio simd jemalloc is fastest: it is 50.1\u202f% slower ["
    )


def test_variants_without_a_value_that_do_not_differ_are_named_together() -> None:
    times = {**ENGINES, "pool simd jemalloc": 0.9005}
    view = answering(view_of(times), "pool sonic jemalloc", "rayon sonic jemalloc")
    (claim,) = answer_advice(view)
    assert isinstance(claim.fact, Alternative)
    assert {*claim.fact.members} == {"tokio simd jemalloc", "pool simd jemalloc"}
    assert " are fastest and do not differ significantly. " in say(claim)


def test_of_variants_that_differ_in_one_axis_only_no_other_one_is_named() -> None:
    times = {BASE: 1.0, "pool simd system": 0.9, "rayon simd system": 0.7}
    assert [*answer_advice(answering(view_of(times), "pool simd system", BASE))] == []


def test_other_criteria_decide_between_equivalent_sides_of_the_answer() -> None:
    times = {BASE: 1.0, "tokio sonic system": 1.001, "tokio simd jemalloc": 0.7}
    view = answering(view_of(times), "tokio sonic system", BASE)
    (claim,) = answer_advice(view)
    assert say(claim) == (
        f"Choose between tokio sonic system and {BASE} by other criteria; both are slower than tokio simd jemalloc."
    )
    # The reason of the recommendation names both.
    alike = answering(view_of({**times, "tokio simd jemalloc": 0.9995}), "tokio sonic system", BASE)
    assert [*answer_advice(alike)] == []


def test_an_excluded_combination_has_no_command() -> None:
    holes = {"rayon simd jemalloc": ReasonCode.EXCLUDED}
    parts = require(parts_of(view_of(LADDER, holes), "rayon sonic jemalloc"))
    assert (parts.measured, parts.command) == ("", "")


def test_an_experiment_that_is_better_is_listed_and_not_combined() -> None:
    times = {BASE: 1.0, "large buffer": 0.8, "tokio simd jemalloc": 0.7}
    parts = require(parts_of(view_of(times, experiment="large buffer"), "tokio simd jemalloc"))
    assert parts.worse == ()
    ((experiment,), command) = parts.experiments, parts.command
    assert (experiment.axis, experiment.value, experiment.better) == ("buffer", "", "1M")
    assert command == ""


def test_a_small_significant_gain_of_an_experiment_is_listed() -> None:
    times = {BASE: 1.0, "large buffer": 0.98, "tokio simd jemalloc": 0.7}
    parts = require(parts_of(view_of(times, experiment="large buffer"), "tokio simd jemalloc"))
    (experiment,) = parts.experiments
    assert experiment.evidence.verdict is Verdict.BETTER_SIZE_UNCERTAIN
    # A small gain in an axis is no reason against a variant.
    assert parts_of(view_of({BASE: 1.0, "tokio sonic system": 0.98}), BASE) is None


def test_an_experiment_is_not_listed_for_its_own_variant() -> None:
    times = {BASE: 1.0, "large buffer": 0.8}
    assert parts_of(view_of(times, experiment="large buffer"), "large buffer") is None


def test_an_experiment_is_stated_for_the_variant_that_is_most_like_the_compared_ones() -> None:
    times = {**ENGINES, "large buffer": 0.92}
    view = answering(view_of(times, experiment="large buffer"), "pool sonic jemalloc", BASE)
    summary = [*recommendations(view), *answer_advice(view)]
    (claim,) = [c for c in part_claims(view, summary) if require_parts(c).experiments]
    assert brief(claim, alone=True) == (
        f"Not measured: tokio simd jemalloc with large buffer, which is faster in {BASE}."
    )


def require_parts(claim: Claim) -> BestParts:
    assert isinstance(claim.fact, BestParts)
    return claim.fact


def test_a_variant_with_the_best_value_of_each_axis_has_no_fact() -> None:
    times = {BASE: 1.0, "tokio simd jemalloc": 0.8}
    assert parts_of(view_of(times), "tokio simd jemalloc") is None


def test_a_best_variant_with_a_worse_part_is_not_recommended_if_there_is_another() -> None:
    times = {BASE: 1.0, "tokio sonic system": 1.1, "rayon sonic system": 0.7}
    (claim,) = recommendations(view_of(times))
    assert claim.subject == "rayon sonic system"
    assert isinstance(claim.fact, Recommendation)
    assert claim.fact.flawed == ()
    view = view_of({**times, "rayon simd jemalloc": 0.701})
    assert len(view.judgement.best[0].cell_ids) > 1
    (claim,) = recommendations(view)
    assert claim.subject == "rayon simd jemalloc"
    assert isinstance(claim.fact, Recommendation)
    assert (claim.fact.ties, claim.fact.flawed) == ((), ("rayon sonic system",))
    assert say(claim).endswith(
        "Single parts of rayon sonic system are worse where they were compared."
    )
