"""Published figures as text: one scale for all changes of a table, in the digits of the document."""

from dataclasses import replace

import pytest

from bench_framework.model.facts import PublishedResult
from bench_framework.model.facts.evidence import Evidence
from bench_framework.model.facts.published import Outcome, PublishedTest
from bench_framework.model.verdict import Verdict
from bench_framework.text.numbers import DASH
from bench_framework.text.published import measured_figure, needs_factors, published_figure

THIN = "\u202f"


def result(
    figure: str, ratio: float = 1.0, *, metric: str | None = "wall", higher: bool = False
) -> PublishedResult:
    """Return a result with one test, whose interval is ±1 % around the ratio."""
    verdict = Verdict.EQUIVALENT if ratio == 1 else Verdict.BETTER
    evidence = Evidence(
        metric=metric,
        estimate=ratio,
        lo=ratio * 0.99,
        hi=ratio * 1.01,
        margin=0.05,
        verdict=verdict,
    )
    test = PublishedTest(form="ratio", outcome=Outcome.REPRODUCED, evidence=evidence, higher=higher)
    return PublishedResult(
        outcome=Outcome.REPRODUCED, quotes=("text",), figure=figure, tests=(test,)
    )


@pytest.mark.parametrize(
    ("results", "factors"),
    [
        ([result("faster", 0.5), result("slower", 2.0)], False),
        ([result("faster", 0.499)], True),
        ([result("slower", 2.01)], True),
        ([result("2.0x faster"), result("-50 %"), result("2.0x slower"), result("+100 %")], False),
        ([result("2.1x faster")], True),
        ([result("51 % less")], True),
        ([result("within 200 %")], False),
        ([], False),
    ],
)
def test_changes_are_factors_if_one_of_them_is_outside_half_and_double(
    results: list[PublishedResult], *, factors: bool
) -> None:
    assert needs_factors(results) is factors


def test_the_table_has_factors_if_the_page_has() -> None:
    fact = result("1.08x slower", 0.93)
    (test,) = fact.tests
    of_page = replace(test, evidence=replace(test.evidence, in_times=True))
    assert not needs_factors([fact])
    assert needs_factors([fact, replace(fact, tests=(of_page,))])


@pytest.mark.parametrize(
    ("fact", "percent", "factor"),
    [
        (result("-17 %"), f"−17{THIN}%", "1.20× faster"),
        (result("17 % faster"), f"−17{THIN}%", "1.20× faster"),
        (result("2.0 % faster"), f"−2.0{THIN}%", "1.02× faster"),
        (result("1.59x slower"), f"+59{THIN}%", "1.59× slower"),
        (result("1.08x slower"), f"+8{THIN}%", "1.08× slower"),
        (result("2x faster"), f"−50{THIN}%", "2× faster"),
        (result("60-70 % faster", metric=None, higher=True), f"+60 to +70{THIN}%", "1.60–1.70×"),
        (result("1.57x", metric=None, higher=True), f"+57{THIN}%", "1.57×"),
        (result("faster"), "faster", "faster"),
        (result("equal"), "no difference", "no difference"),
        (result("within 0.5 %"), f"±0.5{THIN}%", f"±0.5{THIN}%"),
        (result("at most 5 % slower"), f"at most +5{THIN}%", f"at most +5{THIN}%"),
        (result("at most 2.5 % slower"), f"at most +2.5{THIN}%", f"at most +2.5{THIN}%"),
        (result("at most 0.4 % less"), f"at most −0.4{THIN}%", f"at most −0.4{THIN}%"),
        (result("linear"), "linear", "linear"),
        (result("60 %"), f"60{THIN}%", f"60{THIN}%"),
        (result("1.28-1.38 GB/s"), f"1.28–1.38{THIN}GB/s", f"1.28–1.38{THIN}GB/s"),
        (result(""), DASH, DASH),
    ],
)
def test_a_published_figure_keeps_its_digits(
    fact: PublishedResult, percent: str, factor: str
) -> None:
    assert published_figure(fact, times=False) == percent
    assert published_figure(fact, times=True) == factor


def test_a_measured_figure_has_the_scale_of_the_published_one() -> None:
    (test,) = result("-17 %", 0.8).tests
    assert str(measured_figure(test, "-17 %", times=False)) == f"−20.0{THIN}% [−20.8, −19.2]"
    assert str(measured_figure(test, "-17 %", times=True)) == "1.25× faster [1.23, 1.27]"
    (open_,) = result("-17 %", 1.0).tests
    assert str(measured_figure(open_, "-17 %", times=True)) == "1.00× [0.99, 1.01]"
    no_figure = PublishedTest(form="ratio", outcome=Outcome.NOT_TESTED, evidence=Evidence())
    assert measured_figure(no_figure, "-17 %", times=True) is None
