"""Tests that the quotes in docs/seed_documents.md appear in the example reports."""

import re
from collections import Counter
from pathlib import Path

import pytest

from bench_framework.features.document import sections
from bench_framework.scenario.load import load

ROOT = Path(__file__).parents[2]
PAGES = {"000": "word-tally", "001": "runtimes", "002": "nvme", "003": "smol", "004": "tokio"}
DOCUMENTS = ("report", "appendix")
STATES = ("shown", "weak", "not shown")
FEWEST = 4
"""Minimum number of quotes per document, so that every example report is checked."""
THIN = "\u202f"


def quotes() -> list[tuple[str, str]]:
    """Return each text in curly quotation marks in the table of a document."""
    page = (ROOT / "docs" / "seed_documents.md").read_text(encoding="utf-8")
    pairs = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        number = part[:3]
        if number in PAGES:
            pairs += [(number, quote) for quote in re.findall(r"“((?:[^“”]|“[^“”]*”)+)”", part)]
    return pairs


def plain(text: str) -> str:
    """Remove the escapes of Markdown and replace narrow and fixed spaces."""
    return text.replace("\\", "").replace(THIN, " ").replace("\u00a0", " ")


def example(number: str) -> str:
    """Return report and appendix of the example of a document."""
    folder = ROOT / "results" / "examples" / PAGES[number]
    return "\n".join((folder / f"{n}.md").read_text(encoding="utf-8") for n in DOCUMENTS)


@pytest.mark.parametrize(("number", "quote"), quotes())
def test_a_quote_appears_in_the_example(number: str, quote: str) -> None:
    assert plain(quote) in plain(example(number))


def test_every_document_is_quoted() -> None:
    counts = {number: sum(n == number for n, _ in quotes()) for number in PAGES}
    assert min(counts.values()) >= FEWEST, counts


def test_the_counts_of_states_are_those_of_the_tables() -> None:
    page = (ROOT / "docs" / "seed_documents.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([0-4]\.\d+)[^|]*\|.*\| ([^|]+) \|$", page, flags=re.MULTILINE)
    counts = Counter(state for _, state in rows)
    assert set(counts) <= set(STATES)
    assert len({number for number, _ in rows}) == len(rows)
    summary = ", ".join(f"{counts[state]} {state}" for state in STATES)
    assert f"{len(rows)} items: {summary}" in " ".join(page.split())


def test_sections_in_italics_exist() -> None:
    page = (ROOT / "docs" / "seed_documents.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\*([A-Z][^*]+)\*", page)) <= {section.title for section in sections()}


def test_the_numbers_of_published_claims_are_those_of_the_scenarios() -> None:
    page = " ".join((ROOT / "docs" / "seed_documents.md").read_text(encoding="utf-8").split())
    published = {
        number: scenario.spec.published.claims
        for number, name in PAGES.items()
        if (scenario := load(ROOT / "scenarios" / f"{name}.yaml")).spec.published is not None
    }
    assert set(published) == set(PAGES)
    counts = [f"{len(claims)} {'claims ' * (n == '000')}of {n}" for n, claims in published.items()]
    assert f"{', '.join(counts[:-1])} and {counts[-1]}" in page
    tested = sum(c.test != "not-testable" for claims in published.values() for c in claims)
    assert f"of which {tested} are tested" in page
