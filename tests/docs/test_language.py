"""Tests that the repository uses the words of docs/style.md."""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import language

REMAINING: dict[str, int] = tomllib.loads(language.LIST.read_text(encoding="utf-8"))["remaining"]
"""Folders that still have findings, with their number. A number may only fall."""


def folder_of(path: str) -> str:
    """Return the folder of `REMAINING` that contains a file, or an empty text."""
    return next((folder for folder in REMAINING if path.startswith(f"{folder}/")), "")


def test_no_file_uses_a_word_or_a_name_that_the_style_guide_rules_out() -> None:
    paths = [path for path in language.tracked_files() if not folder_of(path)]
    assert len(paths) > 200
    assert [str(place) for path in paths for place in language.findings(path)] == []


def test_the_number_of_remaining_findings_does_not_grow() -> None:
    counts = Counter(
        folder
        for path in language.tracked_files()
        if (folder := folder_of(path))
        for _ in language.findings(path)
    )
    assert {
        folder: counts[folder] for folder in REMAINING if counts[folder] > REMAINING[folder]
    } == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It told the user.\n", ["told"]),
        ("def found(own: int) -> None: ...\n", ["found", "own"]),
        ('"""What it does."""\n', ["What"]),
        ('"""Return the sum (METHOD 7)."""\n', ["METHOD 7"]),
        ("lock.held = True  # the lock is held\n", []),
    ],
)
def test_a_finding_names_the_word(
    text: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "ROOT", tmp_path)
    name = "text.md" if text.startswith("It") else "text.py"
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert [place.word for place in language.findings(name)] == words
