"""Tests that the repository uses the words of docs/style.md."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import language


def test_no_file_uses_a_word_or_a_name_that_the_style_guide_rules_out() -> None:
    paths = list(language.tracked_files())
    assert len(paths) > 200
    assert [str(place) for path in paths for place in language.findings(path)] == []


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
