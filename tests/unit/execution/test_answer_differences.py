"""The share of differing lines, and the advice about lines that differ."""

from pathlib import Path

import pytest

from bench_framework.execution.answer_differences import (
    LONGEST_LINE,
    differing_share,
    first_difference,
)
from bench_framework.model.plan.policies import AnswerPolicy
from bench_framework.text.reasons import phrase
from tests.build import require


def both(folder: Path, one: str, other: str) -> tuple[Path, Path]:
    (folder / "one").write_text(one)
    (folder / "other").write_text(other)
    return folder / "one", folder / "other"


@pytest.mark.parametrize(
    ("one", "other", "advice"),
    [
        ("took 12 ms", "took 9.5 ms", r"a time: answer: {ignore: ['[\d.]+ ?ms']}"),
        ("took 1.5s", "took 2.25s", r"a time: answer: {ignore: ['[\d.]+ ?([nuµm]?s|min)\b']}"),
        ("on 2026-01-02", "on 2026-01-03", "a date: answer"),
        ("on 2026-01-02T10:00:01Z", "on 2026-01-02T10:00:02Z", "a date: answer"),
        ("at 0x7ff1", "at 0x7ee2", r"an address: answer: {ignore: ['0x[0-9a-f]+']}"),
        ('{"a": 1, "t": 2}', '{"a": 1, "t": 3}', "keys of JSON: answer: {json: {ignore: [t]}}"),
        ('{"a": 1, "t": 2}', '{"t": 2, "a": 1}', "equal as JSON: answer: {compare: json}"),
        ("1\n2", "2\n1", "their order: answer: {compare: sorted-lines}"),
        ("sum 0.30000000000000004", "sum 0.3", "numbers: answer: {tolerance: 1e-12}"),
        ("count 1000001 of 0.3", "count 1000002 of 0.3", "a number: answer: {ignore"),
        ("it's pid 77", "it's pid 99", r"a number: answer: {ignore: ['it''s pid [\d.]+']}"),
        ("red", "green", ""),
        ("1", "2", ""),
        ("a", "a\nb", ""),
    ],
)
def test_the_form_that_would_help_is_proposed(
    tmp_path: Path, one: str, other: str, advice: str
) -> None:
    difference = require(first_difference(AnswerPolicy(), *both(tmp_path, one, other)))
    given = phrase(difference.advice(varying=True))
    assert advice in given
    assert bool(advice) == bool(given)


def test_another_number_of_another_variant_is_not_excused(tmp_path: Path) -> None:
    difference = require(first_difference(AnswerPolicy(), *both(tmp_path, "sum 4", "sum 5")))
    assert difference.advice() is None


def test_advice_keeps_what_the_scenario_sets(tmp_path: Path) -> None:
    files = both(tmp_path, "x 3 ms at 0x1", "x 3 ms at 0x2")
    difference = require(first_difference(AnswerPolicy(ignore=("a",)), *files))
    assert phrase(difference.advice()).endswith("set ignore: ['a', '0x[0-9a-f]+'] under `answer`")


def test_advice_does_not_search_long_lines_of_digits(tmp_path: Path) -> None:
    digits = "3" * 1_000_000  # the search would need hours
    difference = require(
        first_difference(AnswerPolicy(), *both(tmp_path, digits + "1\n", digits + "2\n"))
    )
    assert difference.advice(varying=True) is None


def test_of_long_lines_the_part_that_differs_is_shown(tmp_path: Path) -> None:
    one, other = "x" * 5000 + "A" + "y" * 5000, "x" * 5000 + "B" + "y" * 5000
    difference = require(first_difference(AnswerPolicy(), *both(tmp_path, one, other)))
    [(_, text)] = difference.details("a", "b")
    _, left, right = text.splitlines()
    assert left.startswith("a: …x")
    assert "xAy" in left
    assert "xBy" in right
    assert len(left) < LONGEST_LINE + 10


@pytest.mark.parametrize(
    ("policy", "one", "other", "share"),
    [
        (AnswerPolicy(tolerated_share=0.5), "a\nb\nc\nd\n", "a\nc\nd\n", 1 / 4),
        (AnswerPolicy(tolerated_share=0.5), "a\nb\nc\nd\n", "a\nx\nc\nd\n", 1 / 4),
        (AnswerPolicy(tolerated_share=0.5), "a\nb\nc\nd\n", "b\na\nc\nd\n", 2 / 4),
        (AnswerPolicy(tolerated_share=0.5), "a\na\nb\n", "a\nb\n", 1 / 3),
        (AnswerPolicy(tolerated_share=0.5), "", "a\n", 1.0),
        (AnswerPolicy(tolerance=1e-3), "x 1\ny 2\n", "x 1.0001\ny 2.0001\n", 0.0),
        (AnswerPolicy(tolerance=1e-3), "x 1\n", "y 1\n", 1.0),
        (AnswerPolicy(tolerance=1e-3), "x 1\n", "x 1 2\n", 1.0),
        (AnswerPolicy(tolerance=1e-3), f"x {'9' * 400}\n", f"x {'8' * 400}\n", 1.0),
        (AnswerPolicy(tolerance=1e-3, tolerated_share=0.5), "1\n2\n3\n", "1.0001\n5\n3\n", 1 / 3),
    ],
)
def test_the_share_of_differing_lines(
    tmp_path: Path, policy: AnswerPolicy, one: str, other: str, share: float
) -> None:
    assert differing_share(policy, *both(tmp_path, one, other)) == share


@pytest.mark.parametrize(
    ("one", "other", "option"),
    [
        ("1\n2", "2\n1", "their order: --answer sorted-lines"),
        ("a 3 ms", "a 4 ms", "a time: --answer \"{ignore: ['[\\d.]+ ?ms']}\""),
        ("$x 77", "$x 99", "a number: --answer '{ignore: ['\"'\"'\\$x [\\d.]+'\"'\"']}'"),
        ("0.30000000000000004", "0.3", "numbers: --answer '{tolerance: 1e-12}'"),
    ],
)
def test_advice_for_a_command_line_can_be_pasted(
    tmp_path: Path, one: str, other: str, option: str
) -> None:
    difference = require(first_difference(AnswerPolicy(), *both(tmp_path, one, other)))
    assert phrase(difference.advice(varying=True, option=True)).endswith(option)
