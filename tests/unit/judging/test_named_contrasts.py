"""Named contrasts: judged, counted and measured like the comparisons with the baseline."""

from dataclasses import replace

from bench_framework.compare.interim_analysis import look
from bench_framework.features.judge import judge
from bench_framework.model.declarations import NamedContrast
from bench_framework.model.looks import comparisons_planned, looks_of, rounds_needed
from bench_framework.model.plan import Plan
from bench_framework.model.policies import JudgePolicy, MeasurePolicy
from bench_framework.model.verdict import Verdict
from bench_framework.text.reasons import phrase
from bench_framework.text.write import lead
from tests.unit.judging.conftest import Study, timing

TIMES = {"a": 0.0, "quick": -0.3, "medium": -0.1, "alike": -0.1}


def naming(example: Study, *pairs: tuple[str, str], metric: str = "wall") -> Plan:
    ids = {dict(v.values)["arm"]: v.id for v in example.plan.variants}
    inputs = tuple(item.id for item in example.plan.inputs)
    contrasts = (NamedContrast(f"{a} or {b}", ids[a], ids[b], inputs, metric) for a, b in pairs)
    return replace(example.plan, contrasts=tuple(contrasts))


def test_contrasts_are_in_the_family_of_the_comparisons_with_the_baseline(
    study: type[Study],
) -> None:
    example = study(arms=tuple(TIMES), sizes=(1, 2))
    plan = naming(example, ("medium", "quick"), ("medium", "alike"), ("quick", "a"))
    # 3 candidates × 2 metrics × 2 inputs, and 2 contrasts without the baseline × 2 inputs.
    assert (comparisons_planned(example.plan), comparisons_planned(plan)) == (12, 16)
    looks = looks_of(plan)
    assert (looks.family, looks.needed) == (16, rounds_needed(looks.count, 16, 0.05))
    judged = judge(plan, example.blocks(timing(TIMES)), {}, example.inputs(), example.looks())
    family = [c for c in judged.comparisons if c.family in ("headline", "contrast")]
    assert len(family) == judged.looks.family == 16
    assert {c.p_adjusted is not None for c in family} == {True}
    (claim,) = (
        c
        for c in judged.claims
        if c.kind == "contrast" and lead(c) == "medium or quick" and c.scope == (("input", "2MiB"),)
    )
    assert claim.verdict is Verdict.WORSE
    assert claim.adjust == f"Holm over 16 comparisons, {looks.count} looks"
    assert claim.text.startswith("On 2MiB, medium is 28")


def test_a_contrast_with_the_baseline_has_its_verdict(study: type[Study]) -> None:
    example = study(arms=tuple(TIMES))
    plan = naming(example, ("quick", "a"), ("a", "quick"))
    assert comparisons_planned(plan) == comparisons_planned(example.plan)
    judged = judge(plan, example.blocks(timing(TIMES)), {}, example.inputs(), example.looks())
    straight, inverse = (c for c in judged.claims if c.kind == "contrast")
    headline = example.comparison(judged, "quick")
    assert headline.shown is not None
    assert (straight.verdict, straight.estimate) == (Verdict.BETTER, headline.shown.ratio)
    assert (inverse.verdict, inverse.lo) == (Verdict.WORSE, 1 / headline.shown.hi)


def test_measuring_goes_on_until_a_contrast_is_conclusive(study: type[Study]) -> None:
    arms = {"a": 0.0, "left": 0.5, "right": 0.46, "far": 1.0}
    policy = MeasurePolicy(rounds_max=200)
    example = study(arms=tuple(arms), rounds=200, measure=policy, policy=JudgePolicy(("wall",)))
    plan = naming(example, ("left", "right"))
    blocks = [b for b in example.blocks(timing(arms, 0.1, 3)) if b.round <= 18]
    here = plan.inputs[0].id
    assert look(example.plan, blocks, here, 0, 18).stop
    outcome = look(plan, blocks, here, 0, 18)
    assert not outcome.stop
    assert phrase(outcome.reason) == "1 of 4 comparisons still open"
    # The live table shows the comparisons with the baseline, and only `far` may leave.
    assert [c.cell_id for c in outcome.verdicts] == [example.cell(a).id for a in list(arms)[1:]]
    assert outcome.settled == (example.cell("far").id,)


def test_a_contrast_has_the_same_verdict_in_the_best_group(study: type[Study]) -> None:
    example = study(arms=tuple(TIMES))
    plan = naming(example, ("medium", "quick"))
    judged = judge(plan, example.blocks(timing(TIMES)), {}, example.inputs(), example.looks())
    (contrast,) = (c for c in judged.comparisons if c.family == "contrast")
    pair = {contrast.cell_id, contrast.ref_cell_id}
    (in_group,) = (c for c in judged.best[0].comparisons if {c.cell_id, c.ref_cell_id} == pair)
    assert in_group.shown is not None
    assert contrast.shown in (in_group.shown, in_group.shown.inverse)


def test_the_contrasts_of_a_group_are_one_line_of_the_summary(study: type[Study]) -> None:
    example = study(arms=tuple(TIMES), sizes=(1, 2))
    plan = naming(example, ("medium", "quick"), ("quick", "a"), ("alike", "a"))
    first, middle, last = plan.contrasts
    changed = (replace(first, group="quick"), middle, replace(last, group="quick"))
    plan = replace(plan, contrasts=changed)
    judged = judge(plan, example.blocks(timing(TIMES)), {}, example.inputs(), example.looks())
    claims = [c for c in judged.claims if c.kind in ("contrast", "grouped", "finding")]
    (grouped,) = (c for c in claims if c.kind == "grouped")
    assert lead(grouped) == "quick"
    assert grouped.text.startswith("On 2MiB, medium is 28")
    assert ". alike takes 10" in grouped.text
    # Key findings repeat a contrast for both inputs, but not the line of the group.
    assert [lead(c) for c in claims if not getattr(c.fact, "joined", False)] == [
        "medium or quick",
        "quick or a",
        "alike or a",
    ]
    assert [lead(c) for c in claims if getattr(c.fact, "group", "")] == [
        *["medium or quick"] * 2,
        *["alike or a"] * 2,
    ]
