"""Words agree with the interval next to them. Swapped sides mirror both.

This file tests four thousand intervals. ``nox -s statistics -- words_of_intervals`` tests 200 000.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "statistics"))  # the folder is not a package

from interval_words import BETTER, MIRROR, WORSE, _sentence_agrees, examine

from bench_framework.model.verdict import Verdict


def test_sentences_of_4_000_random_intervals_agree_with_their_digits_from_both_sides() -> None:
    result = examine(4_000)
    assert result.contradictions == []
    assert result.intervals == 4_000
    assert 2_000 < result.decided < 3_900
    assert result.lowered < 60, "only an end on a threshold may read weaker from one side"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A takes 3.0 % less time than B [1.9, 4.1]", Verdict.WORSE),
        ("A takes 3.0 % less time than B [−0.1, 4.1]", Verdict.BETTER_SIZE_UNCERTAIN),
        ("A is 3.0 % slower than B [1.9, 4.1]", Verdict.WORSE),
        (
            "A is 1.0 % slower than B [0.5, 2.1] (significant, but below the margin of 2 %)",
            Verdict.WORSE_SIZE_UNCERTAIN,
        ),
        ("A and B are equivalent (within ±2 %) [−0.3, +2.1]", Verdict.EQUIVALENT),
        (
            "A vs B is inconclusive: A takes 1 % less time than B [−6.5, +3.2]",
            Verdict.INCONCLUSIVE,
        ),
        ("A is 2.0× slower than B [0.9, 2.4]", Verdict.WORSE),
    ],
)
def test_the_check_itself_sees_a_sentence_that_says_what_its_digits_do_not(
    text: str, name: Verdict
) -> None:
    assert not _sentence_agrees(text, name, 0.02)


def test_every_verdict_with_a_direction_has_its_mirror() -> None:
    assert {MIRROR[name] for name in BETTER} == set(WORSE)
    assert {MIRROR[name] for name in WORSE} == set(BETTER)
