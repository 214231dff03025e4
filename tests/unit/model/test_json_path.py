"""Paths into JSON."""

import pytest

from bench_framework.model.faults import FaultCode
from bench_framework.model.json_path import follow, parse, show
from bench_framework.text.reasons import phrase


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ("a",)),
        ("latency.p99", ("latency", "p99")),
        ("$.rows[0].value", ("rows", 0, "value")),
        ("rows.0.value", ("rows", "0", "value")),
        ("[2]", (2,)),
        ("$['a b'].c", ("a b", "c")),
        ('x["y.z"]', ("x", "y.z")),
    ],
)
def test_a_path_is_read(text: str, steps: tuple[str | int, ...]) -> None:
    assert parse(text) == steps
    assert parse(show(steps)) == steps


@pytest.mark.parametrize("text", ["", "$", "a[b", "a..b", "a b", "a[]", "['a", "a."])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- its phrase is checked
        parse(text)
    assert caught.value.args[0].code in {FaultCode.FROM_HERE, FaultCode.IT_IS_EMPTY}


def test_a_path_is_followed() -> None:
    document = {"rows": [{"value": 1}, {"value": 2}], "0": "zero"}
    assert follow(document, parse("rows[1].value")) == 2
    assert follow(document, parse("rows.1.value")) == 2
    assert follow(document, ("0",)) == "zero"


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        (("x",), "there is no `x` at its top"),
        (("rows", 7), "there is no `7` in `rows`"),
        (("n", "x"), "in `n`"),
        (("rows", "²"), "there is no `²` in `rows`"),
        (("rows", "9" * 5000), "in `rows`"),
    ],
)
def test_what_is_not_there_is_named(steps: tuple[str | int, ...], words: str) -> None:
    with pytest.raises(LookupError) as caught:
        follow({"rows": [1], "n": 5}, steps)
    assert words in phrase(caught.value.args[0])
