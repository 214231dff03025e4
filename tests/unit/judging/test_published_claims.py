"""Published figures: the outcome of each kind on its boundaries, grouping, and the author's texts."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from bench_framework.features.judge import judge
from bench_framework.features.published import compute
from bench_framework.features.published.compute import outcome_of
from bench_framework.features.results import TOO_FEW, NamedResult
from bench_framework.model.facts import Claim, HeadlineAnswer, PublishedCounts, PublishedResult
from bench_framework.model.facts.published import Outcome
from bench_framework.model.plan.declarations import (
    DerivedRow,
    Experiment,
    Headline,
    NamedCell,
    NamedContrast,
    Takeaway,
)
from bench_framework.model.plan.plan import Plan
from bench_framework.model.plan.policies import JudgePolicy
from bench_framework.model.plan.published import (
    OtherResult,
    Published,
    PublishedClaim,
    parse_figure,
)
from bench_framework.model.reasons import CONTROL_DIFFERS, ONE_PROGRAM, UNSTABLE, Reason, ReasonCode
from bench_framework.model.result.judgement import Judgement
from bench_framework.model.verdict import Interval, Verdict
from bench_framework.text.write import say
from tests.unit.judging.conftest import Study

MARGIN = 0.05
REPRODUCED, LARGER, SMALLER = Outcome.REPRODUCED, Outcome.LARGER, Outcome.SMALLER
OPPOSITE, SAME, OPEN = Outcome.OPPOSITE, Outcome.NO_DIFFERENCE, Outcome.IMPRECISE
FAR, WEAK = Outcome.NOT_REPRODUCED, Outcome.SAME_DIRECTION
UNTESTED = Outcome.NOT_TESTED
OPEN_VERDICT = Verdict.INCONCLUSIVE
EFFECT = math.log(0.8)
"""An effect of −20 % on the log scale."""


def measured(
    ratio: float, lo: float, hi: float, verdict: Verdict | None = None, **given: Any
) -> NamedResult:
    """Return a measured ratio, with the verdict of its interval unless another one is given."""
    if verdict is None:
        inside = lo > 1 / (1 + MARGIN) and hi < 1 + MARGIN
        decided = Verdict.BETTER if hi < 1 else Verdict.WORSE
        open_ = Verdict.EQUIVALENT if inside else OPEN_VERDICT
        verdict = open_ if lo <= 1 <= hi else decided
    values = {"metric": "wall", "margin": MARGIN, **given}
    level = values.pop("level", 0.95)
    return NamedResult("input", Interval(ratio, lo, hi, level), verdict, **values)


def wide(width: float) -> NamedResult:
    """Return −20 % with an interval whose half-width is a share of the effect, on the log scale."""
    half = abs(EFFECT) * width
    lo, hi = (math.exp(EFFECT + side * half) for side in (-1, 1))
    return measured(0.8, lo, hi)


@pytest.mark.parametrize(
    ("figure", "e", "outcome", "code"),
    [
        # The interval contains the published size: its width decides.
        ("20 % less", wide(0.2499), REPRODUCED, None),
        ("20 % less", wide(0.2501), OPEN, ReasonCode.TOO_WIDE_FOR_SIZE),
        ("1.25x faster", wide(0.2499), REPRODUCED, None),
        # 17 % stands for 16.5 to 17.5 %.
        ("17 % less", measured(0.84, 0.82, 0.8351), REPRODUCED, None),
        ("17 % less", measured(0.84, 0.8351, 0.86), SMALLER, None),
        ("17 % less", measured(0.80, 0.78, 0.8249), LARGER, None),
        ("17 % slower", measured(1.25, 1.2, 1.3), LARGER, None),
        ("60 % slower", measured(1.25, 1.2, 1.3), SMALLER, None),
        # The other direction is that of the verdict, also within the margin.
        ("17 % less", measured(1.0501, 1.01, 1.1, Verdict.WORSE_SIZE_UNCERTAIN), OPPOSITE, None),
        ("17 % less", measured(1.0499, 1.01, 1.1, Verdict.WORSE_SIZE_UNCERTAIN), OPPOSITE, ReasonCode.BELOW_MARGIN),
        # A direction alone.
        ("faster", measured(0.9, 0.85, 0.99, Verdict.BETTER_SIZE_UNCERTAIN), REPRODUCED, None),
        ("faster", measured(0.953, 0.92, 0.99, Verdict.BETTER_SIZE_UNCERTAIN), WEAK, ReasonCode.BELOW_MARGIN),
        ("slower", measured(0.953, 0.92, 0.99, Verdict.BETTER_SIZE_UNCERTAIN), OPPOSITE, ReasonCode.BELOW_MARGIN),
        ("slower", measured(0.9, 0.85, 0.94), OPPOSITE, None),
        ("slower", measured(1.2, 1.1, 1.3), REPRODUCED, None),
        ("faster", measured(0.98, 0.9, 1.1), OPEN, ReasonCode.NO_DIRECTION),
        ("faster", measured(0.98, 0.9525, 0.999, Verdict.BETTER_SIZE_UNCERTAIN), WEAK, ReasonCode.BELOW_MARGIN),
        # No difference: equivalent, or not significant and within the margin.
        ("faster", measured(0.99, 0.96, 1.02), SAME, None),
        ("17 % less", measured(0.99, 0.96, 1.02), SAME, None),
        ("2 % less", measured(0.98, 0.96, 0.999, Verdict.BETTER_SIZE_UNCERTAIN), OPEN, ReasonCode.TOO_WIDE_FOR_SIZE),
        ("4 % less", measured(0.99, 0.96, 1.02), SAME, ReasonCode.BOTH_WITHIN_MARGIN),
        ("5 % less", measured(0.99, 0.96, 1.02), SAME, None),
        # Noise that hides the direction, but not that the published size is far away.
        ("9.6x faster", measured(1.0, 0.8, 1.25), FAR, ReasonCode.SIZE_EXCLUDED),
        ("17 % less", measured(1.0, 0.8, 1.25), OPEN, ReasonCode.NO_DIRECTION),
        # A factor without a word is a ratio.
        ("1.57x", measured(1.6, 1.5, 1.7, Verdict.BETTER, higher=True), REPRODUCED, None),
        ("1.57x", measured(0.96, 0.9, 1.04, OPEN_VERDICT, higher=True), FAR, ReasonCode.SIZE_EXCLUDED),
        ("60-70 % faster", measured(1.73, 1.68, 1.93, Verdict.BETTER, higher=True), REPRODUCED, None),
        ("60-70 % faster", measured(0.7, 0.6, 0.8, Verdict.WORSE, higher=True), OPPOSITE, None),
    ],
)  # fmt: skip
def test_the_outcome_of_a_change(
    figure: str, e: NamedResult, outcome: Outcome, code: ReasonCode | None
) -> None:
    assert outcome_of(parse_figure(figure), e) == (outcome, Reason(code) if code else None)


@pytest.mark.parametrize(
    ("figure", "e", "outcome", "code"),
    [
        ("equal", measured(0.99, 0.96, 1.02), REPRODUCED, None),
        ("equal", measured(0.98, 0.9525, 0.999, Verdict.BETTER_SIZE_UNCERTAIN), REPRODUCED, None),
        ("equal", measured(0.9, 0.85, 0.94), OPPOSITE, None),
        ("equal", measured(0.953, 0.92, 0.99, Verdict.BETTER_SIZE_UNCERTAIN), OPEN, ReasonCode.BELOW_MARGIN),
        ("equal", measured(0.98, 0.9, 1.1), OPEN, ReasonCode.NO_DIRECTION),
        ("within 3 %", measured(1.0, 0.98, 1.02), REPRODUCED, None),
        ("within 0.5 %", measured(1.0, 0.98, 1.02), SAME, ReasonCode.WITHIN_MARGIN),
        ("within 0.5 %", measured(1.2, 1.1, 1.3), OPPOSITE, None),
        ("within 10 %", measured(1.07, 1.06, 1.09), REPRODUCED, None),
        ("within 10 %", measured(1.09, 1.06, 1.12), OPEN, ReasonCode.CONTAINS_LIMIT),
        ("within 10 %", measured(1.2, 1.12, 1.3), OPPOSITE, None),
        ("at most 5 % slower", measured(1.0, 0.98, 1.049), REPRODUCED, None),
        ("at most 5 % slower", measured(0.9, 0.85, 0.95), REPRODUCED, ReasonCode.BETTER_THAN_LIMIT),
        ("at most 5 % slower", measured(1.04, 1.02, 1.06), OPEN, ReasonCode.CONTAINS_LIMIT),
        ("at most 5 % slower", measured(1.08, 1.06, 1.1), OPPOSITE, None),
        ("at most 60 % less", measured(0.5, 0.45, 0.55), REPRODUCED, None),
        ("at most 40 % less", measured(0.5, 0.45, 0.55), OPPOSITE, None),
        ("60 %", measured(0.6, 0.46, 0.74, None), REPRODUCED, None),
        ("60 %", measured(0.6, 0.44, 0.76, None), OPEN, ReasonCode.TOO_WIDE_FOR_SIZE),
        ("60 %", measured(0.544, 0.517, 0.582, None), SMALLER, None),
        ("38 %", measured(0.456, 0.418, 0.483, None), LARGER, None),
        ("38 %", measured(-0.1, -0.2, -0.05, OPEN_VERDICT), OPPOSITE, None),
        ("12 MB", measured(12e6, 12e6, 12e6, OPEN_VERDICT), REPRODUCED, None),
    ],
)  # fmt: skip
def test_the_outcome_of_other_figures(
    figure: str, e: NamedResult, outcome: Outcome, code: ReasonCode | None
) -> None:
    assert outcome_of(parse_figure(figure), e) == (outcome, Reason(code) if code else None)


@pytest.mark.parametrize(
    ("ratio", "noise", "outcome"),
    [(0.9, 0.111, REPRODUCED), (0.9, 0.112, OPEN), (1.1, 0.099, OPPOSITE), (1.1, 0.101, OPEN)],
)
def test_an_estimate_below_the_noise_floor_is_no_effect(
    ratio: float, noise: float, outcome: Outcome
) -> None:
    result, reason = outcome_of(
        parse_figure("faster"), measured(ratio, ratio - 0.02, ratio + 0.02), noise
    )
    assert result is outcome
    assert reason == (Reason(ReasonCode.BELOW_NOISE) if outcome is OPEN else None)


@pytest.mark.parametrize(
    ("e", "outcome"),
    [
        (measured(0.8, 0.78, 0.82, OPEN_VERDICT, reason=UNSTABLE), OPEN),
        (measured(0.8, 0.78, 0.82, OPEN_VERDICT, reason=CONTROL_DIFFERS), OPEN),
        (measured(0.8, 0.78, 0.82, level=0.94), OPEN),
        (measured(0.8, 0.78, 0.82, reason=ONE_PROGRAM), UNTESTED),
        (measured(0.8, 0.78, 0.82, Verdict.OTHER_OUTPUT), UNTESTED),
        (NamedResult("input", reason=Reason(ReasonCode.NOT_MEASURED)), UNTESTED),
    ],
)
def test_what_a_comparison_cannot_show_has_its_reason(e: NamedResult, outcome: Outcome) -> None:
    for figure in ("20 % less", "faster", "equal", "at most 30 % less"):
        result, reason = outcome_of(parse_figure(figure), e)
        assert result is outcome
        assert reason == (e.reason or (TOO_FEW if outcome is OPEN else None))


def test_the_interval_of_an_equivalence_has_the_level_of_its_test() -> None:
    equal = measured(1.0, 0.98, 1.02, level=0.9)
    assert outcome_of(parse_figure("equal"), equal) == (REPRODUCED, None)
    assert outcome_of(parse_figure("faster"), equal) == (SAME, None)


SPEEDS = {"a": 1.0, "quick": 0.5, "alike": 1.0, "slow": 1.3, "near": 0.97, "close": 0.99}
MEMORY = {"a": 34e6, "quick": 90e6}


@pytest.fixture
def example() -> Study:
    return Study(arms=tuple(SPEEDS), sizes=(1,), policy=JudgePolicy(margin=0.05))


def variant_id(plan: Plan, arm: str) -> str:
    return next(v.id for v in plan.variants if dict(v.values)["arm"] == arm)


def judgement_of(example: Study, plan: Plan, speed: Any = None) -> Judgement:
    noise = random.Random(8)
    blocks = example.blocks(
        lambda arm, where, _: (
            0.05
            * (speed(arm, where) if speed else SPEEDS.get(arm, 1.0))
            * math.exp(noise.gauss(0, 0.004))
        ),
        rss=lambda arm, *_: MEMORY.get(arm, 34e6) * (1 + 0.001 * noise.random()),
    )
    return judge(plan, blocks, {}, example.inputs(), example.looks())


def judged(example: Study, plan: Plan, speed: Any = None) -> dict[str, list[Claim]]:
    kinds: dict[str, list[Claim]] = {}
    for claim in judgement_of(example, plan, speed=speed).claims:
        kinds.setdefault(claim.kind, []).append(claim)
    return kinds


def fact_of(claim: Claim) -> PublishedResult:
    assert isinstance(claim.fact, PublishedResult)
    assert claim.text == say(claim)
    return claim.fact


def about(plan: Plan, figure: str, arm: str = "quick", **given: Any) -> PublishedClaim:
    """Return a claim about a variant."""
    fields: dict[str, Any] = {
        "test": "variant",
        "variant_id": variant_id(plan, arm),
        "input_ids": tuple(i.id for i in plan.inputs),
        "metric": "wall",
        **given,
    }
    return PublishedClaim(fields.pop("text", f"{arm} is {figure}"), figure, **fields)


def results(
    example: Study, plan: Plan, *claims: PublishedClaim, speed: Any = None
) -> list[PublishedResult]:
    """Return the results of published claims on a record."""
    plan = replace(plan, published=Published("A report", "", "", claims))
    return [fact_of(claim) for claim in judged(example, plan, speed=speed)["published"]]


@pytest.mark.parametrize(
    ("figure", "arm", "outcome"),
    [
        ("faster", "quick", REPRODUCED),
        ("2.0x faster", "quick", REPRODUCED),
        ("-50 %", "quick", REPRODUCED),
        ("9.6x faster", "quick", SMALLER),
        ("17 % slower", "slow", LARGER),
        ("30 % faster", "slow", OPPOSITE),
        ("8.4 % faster", "alike", SAME),
        ("equal", "alike", REPRODUCED),
        ("equal", "quick", OPPOSITE),
    ],
)
def test_a_record_decides(example: Study, figure: str, arm: str, outcome: Outcome) -> None:
    (fact,) = results(example, example.plan, about(example.plan, figure, arm))
    assert fact.outcome is outcome
    (test,) = fact.tests
    assert test.evidence.noise_floor is not None
    assert test.evidence.estimate == pytest.approx(SPEEDS[arm], rel=0.02)


def test_a_value_is_measured_for_the_variant_alone(example: Study) -> None:
    memory = about(example.plan, "90.0 MB", metric="peak_rss")
    less = about(example.plan, "33.7 MB", metric="peak_rss", text="less memory")
    facts = results(example, example.plan, memory)
    assert [f.outcome for f in facts] == [REPRODUCED]
    assert [f.outcome for f in results(example, example.plan, less)] == [LARGER]


@pytest.mark.parametrize("gone", [{"input_ids": ("0" * 12,)}, {"variant_id": "0" * 12}])
def test_a_claim_that_was_not_measured_is_not_tested(gone: dict[str, Any]) -> None:
    example = Study(arms=tuple(SPEEDS), sizes=(1, 2))
    for figure, metric in (("faster", "wall"), ("12 MB", "peak_rss")):
        claim = about(example.plan, figure, metric=metric, **gone)
        (fact,) = results(example, example.plan, claim)
        assert (fact.outcome, fact.reason) == (UNTESTED, Reason(ReasonCode.NOT_MEASURED))


def test_claims_of_one_comparison_are_one_row_with_the_most_precise_figure(example: Study) -> None:
    plan = example.plan
    inputs = tuple(i.id for i in plan.inputs)
    quick = variant_id(plan, "quick")
    contrast = NamedContrast("quick or not", quick, plan.baseline_id, inputs, "wall")
    plan = replace(plan, contrasts=(contrast,))
    by_name = PublishedClaim("2.00x", "2.00x faster", "contrast", "quick or not", "", inputs)
    facts = results(
        example,
        plan,
        about(plan, "faster"),
        about(plan, "2x faster"),
        by_name,
        about(plan, "equal"),
    )
    assert [(f.quotes, f.figure) for f in facts] == [
        (("quick is faster", "quick is 2x faster", "2.00x"), "2.00x faster"),
        (("quick is equal",), "equal"),
    ]
    assert [f.outcome for f in facts] == [REPRODUCED, OPPOSITE]


def test_counts_are_those_of_comparisons_and_of_statements_without_one(example: Study) -> None:
    plan = example.plan
    untested = [PublishedClaim(t, "", "not-testable", "no such machine") for t in ("a", "b")]
    claims = (about(plan, "faster"), about(plan, "2x faster"), *untested)
    kinds = judged(example, replace(plan, published=Published("A report", "", "", claims)))
    (counts,) = kinds["published-counts"]
    assert isinstance(counts.fact, PublishedCounts)
    assert counts.fact.counts == ((REPRODUCED, 1), (UNTESTED, 2))
    assert [fact_of(c).quotes for c in kinds["published"]][1:] == [("a", "b")]
    assert fact_of(kinds["published"][1]).note == "no such machine"


def test_only_figures_of_the_document_refute(example: Study) -> None:
    plan = example.plan
    wrong = about(plan, "slower", disproved="the document gives 12 and 24 ms")
    alone = PublishedClaim("b", "", "not-testable", "another disk", disproved="12 is not 13")
    facts = results(example, plan, wrong, about(plan, "30 % slower"), alone)
    assert [f.outcome for f in facts] == [Outcome.REFUTED, OPPOSITE, Outcome.REFUTED]
    assert [f.note for f in facts] == ["the document gives 12 and 24 ms", "", "12 is not 13"]
    assert [len(f.tests) for f in facts] == [1, 1, 0]
    assert [f.measured for f in facts] == [OPPOSITE, None, None]


def test_a_pair_with_two_differences_reproduces_nothing(example: Study) -> None:
    plan = example.plan
    claims = (
        about(plan, "faster"),
        about(plan, "slower"),
        about(plan, "2.0x faster", "slow"),
        about(plan, "equal"),
        about(plan, "at most 60 % less"),
        about(plan, "equal", "alike"),
        about(plan, "faster", "alike"),
    )
    plan = replace(plan, published=Published("A report", "", "", claims))
    judgement = judgement_of(example, plan)
    base, *others = (example.cell(arm).id for arm in ("a", "quick", "slow", "alike"))
    pairs = {(base, others[0]), (others[1], base), (others[2], base)}

    def second(candidate: str, reference: str, metric: str) -> bool:
        return metric == "wall" and (candidate, reference) in pairs

    facts = [
        claim.fact
        for claim in compute.published_claims(plan, judgement, {}, second)
        if isinstance(claim.fact, PublishedResult)
    ]
    # Without an effect, nothing could have been caused by the second difference.
    effects = [UNTESTED, UNTESTED, UNTESTED, UNTESTED]
    assert [f.outcome for f in facts] == [*effects, REPRODUCED, REPRODUCED, SAME]
    assert facts[0].reason == Reason(ReasonCode.TWO_DIFFERENCES)
    assert facts[0].tests[0].evidence.estimate == pytest.approx(0.5, rel=0.01)


def test_the_result_of_another_scenario_is_named(example: Study) -> None:
    other = OtherResult("tokio", "all changes", "+11 %", "2026-11-24", "It reads small files whole")
    claim = about(example.plan, "faster", title="Quick", other_results=(other,))
    plan = replace(example.plan, published=Published("A report", "", "", (claim,)))
    (result,) = judged(example, plan)["published"]
    assert result.subject == "Quick"
    assert fact_of(result).other_results == (other,)
    assert "+11 %" in result.text


def test_a_contrast_and_a_derived_value_test_claims(example: Study) -> None:
    plan = example.plan
    ids = [variant_id(plan, arm) for arm in ("quick", "slow")]
    inputs = tuple(i.id for i in plan.inputs)
    plan = replace(
        plan,
        contrasts=(NamedContrast("quick or slow", ids[0], ids[1], inputs, "wall"),),
        named=(NamedCell("base", plan.baseline_id), NamedCell("quick", ids[0])),
        derived=(DerivedRow("share", "rate(base) / rate(quick)"),),
    )
    claims = (
        PublishedClaim("text", "2.6x faster", "contrast", "quick or slow", "", inputs),
        PublishedClaim("text", "50 %", "derived", "share", "", inputs),
        PublishedClaim("text", "17 % less", "derived", "share", "", inputs),
        PublishedClaim("text", "1.2 GB/s", "derived", "quick", "", inputs),
    )
    facts = results(example, plan, *claims)
    assert [f.outcome for f in facts] == [REPRODUCED, REPRODUCED, LARGER, SMALLER]
    assert [t.form for f in facts for t in f.tests] == ["ratio", "value", "ratio", "value"]


def test_a_claim_about_every_input_must_hold_on_each() -> None:
    example = Study(arms=("a", "b"), sizes=(1, 2, 4))
    of_b = {"1MiB": 1.3, "2MiB": 1.0, "4MiB": 0.5}

    def speed(arm: str, where: str) -> float:
        return of_b[where] if arm == "b" else 1.0

    claim = about(example.plan, "faster", "b")
    (fact,) = results(example, example.plan, claim, speed=speed)
    assert fact.outcome is OPPOSITE
    assert fact.on == 1
    assert [t.outcome for t in fact.tests] == [OPPOSITE, SAME, REPRODUCED]
    of_b["1MiB"] = 0.4
    (fact,) = results(example, example.plan, claim, speed=speed)
    assert (fact.outcome, fact.on) == (SAME, 1)
    of_b["2MiB"] = 0.6
    (fact,) = results(example, example.plan, claim, speed=speed)
    assert (fact.outcome, fact.on) == (REPRODUCED, 0)


@pytest.mark.parametrize(
    ("power", "outcome"), [(1.0, REPRODUCED), (0.5, FAR), (2.0, FAR), (1.05, OPEN)]
)
def test_a_linear_claim_is_tested_by_the_exponents(power: float, outcome: Outcome) -> None:
    example = Study(arms=("a", "b"), sizes=(1, 2, 4))
    claim = PublishedClaim("text", "linear", "scaling", "", example.plan.baseline_id, (), "wall")
    (fact,) = results(
        example, example.plan, claim, speed=lambda _, where: int(where.removesuffix("MiB")) ** power
    )
    assert fact.outcome is outcome
    assert [t.sizes for t in fact.tests] == [("1MiB", "2MiB"), ("2MiB", "4MiB")]


def test_a_takeaway_quotes_the_result_of_one_input() -> None:
    example = Study(arms=("a", "b"), sizes=(1, 2))
    experiment = Experiment("other", variant_id(example.plan, "b"), (("arm", "b"),))
    plan = replace(
        example.plan,
        experiments=(experiment,),
        takeaways=(Takeaway("{experiment: other}"), Takeaway("{experiment: other, input: 2MiB}")),
    )
    both, one = judged(example, plan)["takeaway"]
    assert [line.count(" on ") for line in (both.text, one.text)] == [2, 1]
    assert one.text.endswith(" on 2MiB.")
    (item,) = (i.id for i in plan.inputs if i.label == "2MiB")
    assert set(one.cells) <= {c.id for c in plan.cells if c.input_id == item}


def test_takeaways_quote_the_record_if_their_condition_is_fulfilled(example: Study) -> None:
    plan = example.plan
    ids = [variant_id(plan, arm) for arm in ("quick", "slow")]
    inputs = tuple(i.id for i in plan.inputs)
    plan = replace(
        plan,
        contrasts=(NamedContrast("quick or slow", ids[0], ids[1], inputs, "wall"),),
        experiments=(Experiment("fast", ids[0], (("arm", "quick"),)),),
        headline=Headline("quick or slow", "better"),
        takeaways=(
            Takeaway("It is {contrast: quick or slow}; {experiment: fast, metric: peak_rss}."),
            Takeaway("{experiment: fast} {as is}"),
            Takeaway("Of {experiment: fast}, {experiment: gone}."),
            Takeaway("Quick pays.", "quick or slow is better"),
            Takeaway("Slow pays.", "fast is worse"),
        ),
        next_steps=("Try {experiment: fast} again.",),
    )
    claims = judged(example, plan)
    first, second, third = claims["takeaway"]
    assert third.text == "Quick pays."
    answer = claims["answer"][0].fact
    assert isinstance(answer, HeadlineAnswer)
    assert answer.says == "yes"
    assert first.text.startswith("It is 2.6")
    assert "× faster [" in first.text
    assert "as much memory [" in first.text
    assert set(first.cells) == {example.cell(arm).id for arm in ("a", "quick", "slow")}
    assert second.text.endswith("] {as is}.")
    messages = (e.message for e in judgement_of(example, plan).events if e.code == "BX349")
    lines = sorted(messages, key=len)
    assert [("does not hold" in line, "was not measured" in line) for line in lines] == [
        (True, False),
        (False, True),
    ]
    assert claims["next-step"][0].text.startswith("Try 2")
    assert first.text == say(first)
