"""Published figures: what a text states, with the numbers that are rounded to it."""

import re

import pytest

from bench_framework.model.plan.published import parse_figure


@pytest.mark.parametrize(
    ("text", "lo", "hi", "better"),
    [
        ("2.1x faster", 1 / 2.15, 1 / 2.05, True),
        ("2x faster", 1 / 2.5, 1 / 1.5, True),
        ("1.59× slower", 1.585, 1.595, False),
        ("-17 %", 0.825, 0.835, True),
        ("−17%", 0.825, 0.835, True),
        ("+46%", 1.455, 1.465, False),
        ("8.4 % faster", 0.9155, 0.9165, True),
        ("~10% less", 0.895, 0.905, True),
        ("60-70% more", 1.595, 1.705, False),
        ("60 to 70 % more", 1.595, 1.705, False),
    ],
)
def test_a_change_is_a_ratio_of_values(text: str, lo: float, hi: float, better: bool) -> None:
    figure = parse_figure(text)
    assert figure.kind == "change"
    assert figure.ratio(higher=False) == pytest.approx((lo, hi))
    assert figure.better(higher=False) is better


def test_faster_is_more_where_larger_values_are_better() -> None:
    faster, less = parse_figure("60-70 % faster"), parse_figure("20 % less")
    assert faster.ratio(higher=True) == pytest.approx((1.595, 1.705))
    assert parse_figure("2.0x faster").ratio(higher=True) == pytest.approx((1.95, 2.05))
    assert less.ratio(higher=True) == pytest.approx((0.795, 0.805))
    assert (faster.better(higher=True), less.better(higher=True)) == (True, False)


@pytest.mark.parametrize(
    ("text", "base", "lo", "hi"),
    [
        ("5.9MB", "bytes", 5.85e6, 5.95e6),
        ("0.75-0.80 GB/s", "bytes/s", 0.745e9, 0.805e9),
        ("177.1 ms", "s", 0.17705, 0.17715),
        ("60 %", "%", 0.595, 0.605),
        ("1.57x", "x", 1.565, 1.575),
        ("45", "", 44.5, 45.5),
    ],
)
def test_a_value_is_in_its_base_unit(text: str, base: str, lo: float, hi: float) -> None:
    figure = parse_figure(text)
    assert (figure.kind, figure.base) == ("value", base)
    assert (figure.lo, figure.hi) == pytest.approx((lo, hi))


@pytest.mark.parametrize(
    ("text", "kind"),
    [("faster", "direction"), ("the same", "equal"), ("linear", "linear"), ("equal", "equal")],
)
def test_words_alone_are_figures(text: str, kind: str) -> None:
    assert parse_figure(text).kind == kind


def test_within_has_the_published_bound() -> None:
    figure = parse_figure("within 0.5 %")
    assert (figure.kind, figure.hi) == ("equal", 0.005)


@pytest.mark.parametrize(
    "text",
    ["", "fast", "-5x", "+5 MB", "100 % less", "12 MB less", "1e5", "-5 % less", "2 1", "80-75 %less",
     "0x faster", "nan %", "x", "2-1x faster", "5-1 s", f"{'9' * 400}x faster", f"{'9' * 400} s"],
)  # fmt: skip
def test_other_texts_are_not_figures(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        parse_figure(text)
