"""Tests of formulas: their text, their value, and what is not a formula."""

import contextlib

import pytest
from hypothesis import given, strategies as st

from bench_framework.model.formula import FormulaError, parse, phase_key
from bench_framework.text.reasons import phrase

RATES = {"generate": 20.0, "write": 5.0, phase_key("write", "fsync"): 50.0}
TIMES = {"generate": 1.0, "write": 4.0, phase_key("write", "fsync"): 0.5}


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("min(rate(generate), rate(write))", "bytes/s", 5.0),
        ("max(rate(generate), rate(write))", "bytes/s", 20.0),
        ("harmonic(rate(generate), rate(write))", "bytes/s", 4.0),
        ("rate(write) ÷ rate(generate)", "ratio", 0.25),
        ("(time(generate) + time(write)) × 2", "s", 10.0),
        ("time(write) - time(generate)", "s", 3.0),
        ("rate(write) * time(write) / (rate(generate) * time(generate))", "ratio", 1.0),
        ("-rate(write) / rate(write)", "ratio", -1.0),
        ("rate(write) / ideal", "ratio", 0.5),
        ("time(write, fsync) / time(write)", "ratio", 0.125),
        ("max(rate(generate), rate(write, fsync))", "bytes/s", 50.0),
    ],
)
def test_value_and_unit(text: str, unit: str, value: float) -> None:
    formula = parse(text, {"ideal": "bytes/s"})
    assert formula.unit == unit
    assert formula.value(RATES, TIMES, {"ideal": 10.0}) == pytest.approx(value)


def test_it_knows_what_it_needs() -> None:
    formula = parse("min(rate(a), rate(b)) / ideal", {"ideal": "bytes/s"})
    assert formula.cells == ("a", "b")
    assert formula.rows == ("ideal",)
    formula = parse("time(a, fill) / time(b, fill)")
    assert formula.cells == ("a", "b")
    assert formula.phases == (("a", "fill"), ("b", "fill"))
    assert formula.pair is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a valid formula"),
        ("min(", "not a valid formula"),
        ("rate(a) + time(a)", "different units"),
        ("min(rate(a), 1)", "different units"),
        ("rate(a) * rate(b)", "neither a rate nor a time nor a ratio"),
        ("1 / rate(a)", "neither a rate nor a time nor a ratio"),
        ("rate(a, b, c)", "takes the name of one cell, and optionally a phase"),
        ("rate(1)", "takes the name of one cell"),
        ("min()", "at least one value"),
        ("a", "not a formula above this one"),
        ("__import__('os').system('true')", "is not allowed in a formula"),
        ("(lambda: 1)()", "is not allowed in a formula"),
        ("rate(a) if 1 else 2", "is not allowed in a formula"),
        ("rate(a).real", "is not allowed in a formula"),
        ("[rate(a)]", "is not allowed in a formula"),
        ("2 ** 9", "is not allowed in a formula"),
        ("'a' + 'b'", "is not allowed in a formula"),
        ("True", "is not allowed in a formula"),
        ("eval(rate(a))", "no function `eval`"),
        ("min(*rate(a))", "is not allowed in a formula"),
        ("rate(a" + " " * 500 + ")", "longer than"),
        ("(" * 240 + "1" + ")" * 240, "not a valid formula"),
        ("-" * 499 + "1", ""),
        ("rate(a) * 1" + "0" * 400, "too large"),
        ("rate(a) * 1e999", "too large"),
    ],
)
def test_what_is_none_says_why(text: str, words: str) -> None:
    if words:
        with pytest.raises(FormulaError) as caught:
            parse(text)
        assert words in phrase(caught.value.phrase)
    else:
        assert parse(text).unit == "ratio"


@given(st.text(alphabet="rate(time)min,harmoc+-*/ 019.ab_\"'[]{}:=λ", max_size=60))
def test_no_text_does_anything_else_than_be_read_or_refused(text: str) -> None:
    try:
        formula = parse(text)
    except FormulaError:
        return
    names = dict.fromkeys(formula.cells, 2.0)
    with contextlib.suppress(ZeroDivisionError):
        assert isinstance(formula.value(names, names, {}), float)


def test_a_missing_figure_is_an_error_of_its_own() -> None:
    with pytest.raises(KeyError):
        parse("rate(a)").value({}, {}, {})
