"""Published claims: confirmed, refuted, inconclusive or not testable, by the record alone."""

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from bench_framework.features.judge import judge
from bench_framework.model.declarations import (
    DerivedRow,
    Experiment,
    Headline,
    NamedCell,
    NamedContrast,
    Takeaway,
)
from bench_framework.model.facts import Claim, PublishedResult
from bench_framework.model.plan import Plan
from bench_framework.model.policies import JudgePolicy
from bench_framework.model.published import Published, PublishedClaim
from bench_framework.text.write import say
from tests.unit.judging.conftest import Study

SPEEDS = {"a": 1.0, "quick": 0.5, "alike": 1.0, "slow": 1.3, "near": 0.97, "close": 0.99}
SOME_NOISE = 0.025
MEMORY = {"a": 34e6, "quick": 90e6}
MIB = 1 << 20


@pytest.fixture
def example(study: type[Study]) -> Study:
    return study(arms=tuple(SPEEDS), sizes=(1,), policy=JudgePolicy(margin=0.05))


def variant_id(plan: Plan, arm: str) -> str:
    return next(v.id for v in plan.variants if dict(v.values)["arm"] == arm)


def judged(
    example: Study, plan: Plan, spread: float = 0.004, speed: Any = None
) -> dict[str, list[Claim]]:
    noise = random.Random(8)
    blocks = example.blocks(
        lambda arm, where, _: (
            0.05
            * (speed(arm, where) if speed else SPEEDS.get(arm, 1.0))
            * math.exp(noise.gauss(0, spread))
        ),
        rss=lambda arm, *_: MEMORY.get(arm, 34e6) * (1 + 0.001 * noise.random()),
    )
    claims = judge(plan, blocks, {}, example.inputs(), example.looks()).claims
    kinds: dict[str, list[Claim]] = {}
    for claim in claims:
        kinds.setdefault(claim.kind, []).append(claim)
    return kinds


def fact_of(claim: Claim) -> PublishedResult:
    assert isinstance(claim.fact, PublishedResult)
    return claim.fact


def verdict(
    example: Study, figure: str, arm: str = "quick", *, spread: float = 0.004, **given: Any
) -> tuple[str, str]:
    """Return status and reason of a claim about a variant."""
    plan = example.plan
    claim = PublishedClaim(
        "text",
        figure,
        **{
            "test": "variant",
            "variant_id": variant_id(plan, arm),
            "input_ids": tuple(i.id for i in plan.inputs),
            "metric": "wall",
            **given,
        },
    )
    plan = replace(plan, published=Published("A report", "", "", (claim,)))
    (result,) = judged(example, plan, spread)["published"]
    assert result.text == say(result)
    fact = fact_of(result)
    return fact.status, fact.reason


@pytest.mark.parametrize(
    ("figure", "arm", "status", "reason"),
    [
        ("faster", "quick", "confirmed", ""),
        ("slower", "quick", "refuted", "faster"),
        ("faster", "slow", "refuted", "slower"),
        ("faster", "alike", "refuted", "equivalent"),
        ("2.0x faster", "quick", "confirmed", ""),
        ("-50 %", "quick", "confirmed", ""),
        ("9.6x faster", "quick", "direction confirmed, size refuted", ""),
        ("17 % slower", "slow", "direction confirmed, size refuted", ""),
        ("30 % slower", "slow", "confirmed", ""),
        ("30 % faster", "slow", "refuted", "slower"),
        ("8.4 % faster", "alike", "refuted", "equivalent"),
        ("2 % faster", "alike", "confirmed", "both are within ±5\u202f%"),
        ("equal", "alike", "confirmed", ""),
        ("within 3 %", "alike", "confirmed", ""),
        ("equal", "quick", "refuted", "faster"),
        ("within 0.5 %", "quick", "refuted", "faster"),
        ("within 0.01 %", "alike", "inconclusive", "equivalent within ±5\u202f%, but not within the figure"),
        ("within 0.5 %", "near", "refuted", "faster, size uncertain"),
        ("equal", "near", "inconclusive", "a difference is shown, which may be below 5\u202f%"),
        ("at most 5 % slower", "near", "confirmed", "faster, size uncertain"),
        ("at most 5 % slower", "alike", "confirmed", ""),
        ("at most 5 % slower", "slow", "refuted", "slower"),
        ("at most 30 % slower", "slow", "inconclusive", "the interval contains the limit"),
        ("at most 40 % slower", "slow", "confirmed", ""),
        ("at most 40 % less", "quick", "refuted", "faster"),
        ("at most 60 % less", "quick", "confirmed", "faster"),
    ],
)  # fmt: skip
def test_the_verdict_on_a_change(
    example: Study, figure: str, arm: str, status: str, reason: str
) -> None:
    assert verdict(example, figure, arm) == (status, reason)


@pytest.mark.parametrize(
    ("figure", "status"),
    [
        ("faster", "inconclusive"),
        ("equal", "inconclusive"),
        ("2 % faster", "inconclusive"),
        ("within 0.5 %", "inconclusive"),
        ("at most 50 % slower", "inconclusive"),
        # Noise does not hide that the ratio is far from the published one.
        ("9.6x faster", "refuted"),
    ],
)
def test_noise_confirms_nothing(example: Study, figure: str, status: str) -> None:
    assert verdict(example, figure, "alike", spread=0.3)[0] == status


@pytest.mark.parametrize(
    ("figure", "status", "reason"),
    [
        ("1 % faster", "confirmed", "both are within ±5\u202f%"),
        ("1 % slower", "refuted", "equivalent"),
    ],
)
def test_a_small_change_in_the_other_direction_is_refuted(
    example: Study, figure: str, status: str, reason: str
) -> None:
    """The comparison is equivalent, and its 95 % confidence interval is below 1."""
    assert verdict(example, figure, "close", spread=SOME_NOISE) == (status, reason)


@pytest.mark.parametrize(
    ("figure", "status"), [("90.0 MB", "confirmed"), ("92 MB", "confirmed"), ("33.7 MB", "refuted")]
)
def test_a_value_is_confirmed_within_the_margin(example: Study, figure: str, status: str) -> None:
    assert verdict(example, figure, metric="peak_rss")[0] == status


def test_a_value_outside_the_interval_is_confirmed_with_a_reason(example: Study) -> None:
    assert verdict(example, "90.0 MB", metric="peak_rss") == ("confirmed", "")
    reason = "the interval is within 5\u202f% of the figure"
    assert verdict(example, "92 MB", metric="peak_rss") == ("confirmed", reason)


def test_a_claim_that_was_not_measured_is_inconclusive(example: Study) -> None:
    for figure, metric in (("faster", "wall"), ("12 MB", "peak_rss")):
        assert verdict(example, figure, variant_id="0" * 12, metric=metric) == ("inconclusive", "")


def test_a_claim_about_an_input_that_was_left_out_is_inconclusive(study: type[Study]) -> None:
    example = study(arms=tuple(SPEEDS), sizes=(1, 2))
    for figure, metric in (("faster", "wall"), ("12 MB", "peak_rss")):
        missing = verdict(example, figure, metric=metric, input_ids=("0" * 12,))
        assert missing == ("inconclusive", "not measured")


def test_an_untestable_claim_has_the_authors_reason(example: Study) -> None:
    untestable = PublishedClaim("text", "", "not-testable", "no such machine")
    plan = replace(example.plan, published=Published("A report", "", "", (untestable,)))
    claims = judged(example, plan)
    (claim,) = claims["published"]
    assert claim.text == "“text”: not testable here; no such machine."
    assert claims["published-counts"][0].text == "1 claim of “A report”: 1 not testable here."


def test_a_contrast_and_a_derived_value_test_claims(example: Study) -> None:
    plan = example.plan
    ids = [variant_id(plan, arm) for arm in ("quick", "slow")]
    inputs = tuple(i.id for i in plan.inputs)
    plan = replace(
        plan,
        contrasts=(NamedContrast("quick or slow", ids[0], ids[1], inputs, "wall"),),
        named=(NamedCell("base", plan.baseline_id), NamedCell("quick", ids[0])),
        derived=(DerivedRow("share", "rate(base) / rate(quick)"),),
        published=Published(
            "A report",
            "",
            "",
            (
                PublishedClaim("text", "2.6x faster", "contrast", "quick or slow", "", inputs),
                PublishedClaim("text", "50 %", "derived", "share", "", inputs),
                PublishedClaim("text", "80 %", "derived", "share", "", inputs),
                PublishedClaim("text", "17 % less", "derived", "share", "", inputs),
                PublishedClaim("text", "1.2 GB/s", "derived", "quick", "", inputs),
            ),
        ),
    )
    claims = judged(example, plan)["published"]
    assert [fact_of(c).status for c in claims] == [
        "confirmed",
        "confirmed",
        "refuted",
        "direction confirmed, size refuted",
        "refuted",
    ]
    assert fact_of(claims[0]).measured.startswith("quick or slow: 2.6")
    assert "% [" in fact_of(claims[1]).measured
    assert fact_of(claims[4]).measured.startswith("quick: 0.04")


def with_claim_on_every_input(plan: Plan) -> Plan:
    """Add the published claim that b is faster on every input."""
    claim = PublishedClaim(
        "text",
        "faster",
        "variant",
        variant_id=variant_id(plan, "b"),
        input_ids=tuple(i.id for i in plan.inputs),
        metric="wall",
    )
    return replace(plan, published=Published("A report", "", "", (claim,)))


def test_a_claim_about_every_input_must_be_confirmed_on_each(study: type[Study]) -> None:
    example = study(arms=("a", "b"), sizes=(1, 2))
    plan = with_claim_on_every_input(example.plan)
    turns = judged(
        example, plan, speed=lambda arm, where: 1.3 if (arm, where) == ("b", "2MiB") else 1 - (arm == "b") / 2
    )  # fmt: skip
    (result,) = turns["published"]
    assert fact_of(result).status == "refuted"
    assert fact_of(result).reason == "slower, on 1 of 2 inputs"
    assert fact_of(result).measured.endswith("on 2MiB")
    assert result.verdict is None


def test_a_claim_that_is_refuted_in_two_ways_has_both_reasons(study: type[Study]) -> None:
    example = study(arms=("a", "b"), sizes=(1, 2, 4))
    plan = with_claim_on_every_input(example.plan)
    of_b = {"1MiB": 1.3, "2MiB": 1.0, "4MiB": 0.5}
    (result,) = judged(example, plan, speed=lambda arm, where: of_b[where] if arm == "b" else 1)[
        "published"
    ]
    assert fact_of(result).status == "refuted"
    assert fact_of(result).reason == "slower, on 1 of 3 inputs; equivalent, on 1 of 3 inputs"


@pytest.mark.parametrize(
    ("power", "status", "reason"),
    [(1.0, "confirmed", ""), (0.5, "refuted", "sub-linear"), (1.05, "inconclusive", "")],
)
def test_a_linear_claim_is_tested_by_the_exponents(
    study: type[Study], power: float, status: str, reason: str
) -> None:
    example = study(arms=("a", "b"), sizes=(1, 2, 4))
    plan = example.plan
    claim = PublishedClaim("text", "linear", "scaling", "", plan.baseline_id, (), "wall")
    plan = replace(plan, published=Published("A report", "", "", (claim,)))
    scaled = judged(example, plan, speed=lambda _, where: int(where.removesuffix("MiB")) ** power)
    (result,) = scaled["published"]
    assert fact_of(result).status == status
    assert fact_of(result).reason == (reason or fact_of(result).reason)
    assert "exponent" in fact_of(result).measured


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
            Takeaway("{experiment: gone} {as is}"),
            Takeaway("Quick pays.", "quick or slow is better"),
            Takeaway("Slow pays.", "fast is worse"),
        ),
        next_steps=("Try {experiment: fast} again.",),
    )
    claims = judged(example, plan)
    first, second, third = claims["takeaway"]
    assert third.text == "Quick pays."
    assert claims["answer"][0].text.startswith("Yes: quick is 2.6")
    assert first.text.startswith("It is 2.6")
    assert "× faster [" in first.text
    assert "as much memory [" in first.text
    assert set(first.cells) == {example.cell(arm).id for arm in ("a", "quick", "slow")}
    assert second.text == "not measured {as is}."
    assert claims["next-step"][0].text.startswith("Try 2")
    assert first.text == say(first)
