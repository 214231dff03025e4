"""The answers of the worker tally by the plainest means; the Rust tests read the same examples.

`tests/fixtures/protocol/tally-answers.json` contains texts with the words that each tokenizer must find in them.
The words of `unicode` were written down by hand from UAX #29; those of `ascii` and every digest are computed
here as well.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

FIXTURE = Path(__file__).parents[2] / "fixtures" / "protocol" / "tally-answers.json"


@dataclass(frozen=True, slots=True)
class Example:
    text: str
    tokenizer: str
    case: str
    words: list[tuple[str, int]]
    digest: str


def examples() -> list[Example]:
    return [
        Example(
            row["text"],
            row["tokenizer"],
            row["case"],
            [(w, n) for w, n in row["words"]],
            row["digest"],
        )
        for row in json.loads(FIXTURE.read_text(encoding="utf-8"))
    ]


def ascii_words(text: str) -> list[str]:
    """Runs of ASCII letters, digits and apostrophes, one character after the other."""
    words: list[str] = []
    inside = False
    for letter in text:
        assert letter.isascii()
        if letter.isalnum() or letter == "'":
            if inside:
                words[-1] += letter
            else:
                words.append(letter)
            inside = True
        else:
            inside = False
    return words


def folded(word: str, case: str) -> str:
    return {"original": word, "lower": word.lower(), "upper": word.upper()}[case]


def ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    """Most frequent first, ties by the bytes of the word."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0].encode()))


def digest(words: list[tuple[str, int]]) -> str:
    """For each word in order: length of its bytes (u64, little endian), bytes, count (u64, little endian)."""
    sha256 = hashlib.sha256()
    for word, count in words:
        encoded = word.encode()
        sha256.update(len(encoded).to_bytes(8, "little"))
        sha256.update(encoded)
        sha256.update(count.to_bytes(8, "little"))
    return f"sha256:{sha256.hexdigest()}"


@pytest.mark.parametrize("example", examples())
def test_a_digest_is_over_the_sorted_words(example: Example) -> None:
    assert example.digest == digest(ordered(Counter(dict(example.words))))


@pytest.mark.parametrize(
    "example", [example for example in examples() if example.tokenizer == "ascii"]
)
def test_ascii_words_are_runs(example: Example) -> None:
    counts = Counter(folded(word, example.case) for word in ascii_words(example.text))
    assert example.words == ordered(counts)


def test_both_tokenizers_and_every_case_have_examples() -> None:
    assert {(example.tokenizer, example.case) for example in examples()} == {
        (tokenizer, case)
        for tokenizer in ("ascii", "unicode")
        for case in ("original", "lower", "upper")
    }
