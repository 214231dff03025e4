"""The answers that the worker `search` is held against are what the plain search in Python finds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import search_oracle as oracle


def test_the_answers_are_what_the_plain_search_finds() -> None:
    kept = json.loads((oracle.FIXTURES / "answers.json").read_text(encoding="utf-8"))
    assert kept == oracle.answers()
    assert len({answer["digest"] for answer in kept}) > len(kept) // 2
    assert all(answer["bad"] for answer in kept)


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ('{"type":"summary","summary":"s"}', ("s",)),
        ('{"type":"system","content":"c","message":{}}', ("c",)),
        (
            '{"type":"user","message":{"content":[{"type":"tool_use","name":"n","input":{"k":["a",{"b":"c"},1]}}]}}',
            ("n", "a", "c"),
        ),
        (
            '{"type":"user","message":{"content":[{"type":"tool_result","content":"r"},{"type":"image"}]}}',
            ("r",),
        ),
    ],
)
def test_text_of_each_kind(line: str, pieces: tuple[str, ...]) -> None:
    assert oracle.parse_line(line.encode()).pieces == pieces


def test_time_is_a_point_in_time() -> None:
    assert oracle.time_of("1970-01-01T01:00:00.5+01:00") == (0, 500_000_000)
    with pytest.raises(oracle.BadLineError):
        oracle.time_of("2025-02-29T00:00:00Z")
