"""Carets are under the text that they mark, for any preceding characters."""

import pytest
from rich.cells import cell_len

from bench_framework.errors import Position, Problem, ScenarioError
from bench_framework.scenario.load import render


def rendered(line: str, at: Position, label: str = "", advice: str | None = None) -> list[str]:
    problem = Problem("BC102", "wrong", file="f", at=at, label=label, fix=advice)
    return render(ScenarioError((problem,), {"f": line})).splitlines()


@pytest.mark.parametrize(
    ("before", "wide"),
    [
        ("ab: ", 4),
        ("語: ", 4),
        ("a\tb", 6),
        ("é", 1),
        ("e\u0301", 1),
        ("🙂", 2),
        ("\u200b", 6),
        ("ｆ", 2),
    ],
)
def test_columns_are_those_of_the_terminal(before: str, wide: int) -> None:
    lines = rendered(f"{before}bad", Position(1, len(before) + 1, 3))
    assert lines[4] == "  | " + " " * wide + "^^^"
    assert cell_len(lines[3][: lines[3].index("bad")]) == 4 + wide


def test_a_wide_word_has_wide_carets() -> None:
    assert rendered("k: 語語", Position(1, 4, 2))[4] == "  |    ^^^^"


def test_a_long_line_is_cut_around_the_carets() -> None:
    lines = rendered("x" * 500 + "BAD" + "y" * 500, Position(1, 501, 3))
    assert cell_len(lines[3]) <= 116
    start = lines[4].index("^")
    assert lines[3][start : start + 3] == "BAD"
    assert lines[3].count("…") == 2


def test_a_long_value_is_cut_too() -> None:
    lines = rendered("k: " + "z" * 400, Position(1, 4, 400))
    assert cell_len(lines[3]) <= 116
    assert lines[4].count("^") == 60


def test_control_characters_are_escaped() -> None:
    text = "\n".join(
        rendered("k: \x1b[31m\u202e", Position(1, 4, 6), label="\x1b]0;x\x07", advice="a\nb")
    )
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\x1b[31m\\u202e" in text
    assert "fix: a\\nb" in text


def test_a_place_beyond_the_text_is_only_named() -> None:
    assert rendered("k: v", Position(9, 1))[1] == " --> f:9:1"


def test_two_places_on_one_line() -> None:
    problem = Problem(
        "BC104", "twice", "f", Position(1, 5), "again", also=((Position(1, 1), "first"),), note="n"
    )
    lines = render(ScenarioError((problem,), {"f": "a   a"})).splitlines()
    assert lines[2:7] == ["  |", "1 | a   a", "  | - first", "  |     ^ again", "  = note: n"]


def test_neighbouring_lines_have_no_dots() -> None:
    problem = Problem("BC104", "twice", "f", Position(2, 1), also=((Position(1, 1), ""),))
    lines = render(ScenarioError((problem,), {"f": "a\na"})).splitlines()
    assert lines[3:7] == ["1 | a", "  | -", "2 | a", "  | ^"]


def test_a_problem_without_a_place_is_still_reported() -> None:
    problem = Problem("BC003", "there is no file", file="x.yaml", fix="write one")
    assert render(ScenarioError((problem,), {})) == (
        "error[BC003]: there is no file\n --> x.yaml\n  = fix: write one\n\n"
        "1 error in 1 file. Nothing was built or run."
    )


def test_carriage_returns_end_lines_too() -> None:
    assert rendered("a: 1\r\nb: 2\rc: 3", Position(3, 4))[3] == "3 | c: 3"
