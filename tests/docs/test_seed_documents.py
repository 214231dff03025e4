"""What docs/seed_documents.md quotes from the example pages stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {"000": "word-tally", "001": "runtimes", "002": "nvme", "003": "smol", "004": "tokio"}
FEWEST = 4
"""Quotes of each document: a page without any would be looked at by nobody."""
THIN = "\u202f"


def quotes() -> list[tuple[str, str]]:
    """Every word in curly quotation marks in the table of a document."""
    page = (ROOT / "docs" / "seed_documents.md").read_text(encoding="utf-8")
    found = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        number = part[:3]
        if number in PAGES:
            found += [(number, quote) for quote in re.findall(r"“((?:[^“”]|“[^“”]*”)+)”", part)]
    return found


def plain(text: str) -> str:
    """Without Markdown's escapes, and with one kind of space."""
    return text.replace("\\", "").replace(THIN, " ").replace("\u00a0", " ")


@pytest.mark.parametrize(("number", "quote"), quotes())
def test_a_quote_stands_on_the_page(number: str, quote: str) -> None:
    page = (ROOT / "results" / "examples" / PAGES[number] / "report.md").read_text(encoding="utf-8")
    assert plain(quote) in plain(page)


def test_every_document_is_quoted() -> None:
    counts = {number: sum(n == number for n, _ in quotes()) for number in PAGES}
    assert min(counts.values()) >= FEWEST, counts
