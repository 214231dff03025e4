"""Tests of the reports in results/examples: each follows from the runs that it contains."""

import re
from pathlib import Path

import pytest

from bench_framework.workflow.records.verification import verify

EXAMPLES = Path(__file__).parents[2] / "results" / "examples"
NAMES = ("nvme", "runtimes", "smol", "tokio", "word-tally")
QUICK = ("smol",)
"""The example that is judged again in seconds."""
MOST_LINES, MOST_WORDS, MOST_FIRST = 150, 1000, 250
"""Most lines and words of a report, and most words before its results."""
LARGEST = 1 << 20
PATHS = re.compile(r"/(root|home|work)/")


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]
)
def test_an_example_follows_from_its_runs(name: str) -> None:
    result = verify(EXAMPLES, str(EXAMPLES / name))
    assert result.differences == (), "`nox -s generate` renders the examples again"
    assert result.claims > 20


@pytest.mark.parametrize("name", NAMES)
def test_the_report_of_an_example_is_short(name: str) -> None:
    text = (EXAMPLES / name / "report.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert len(text.split()) <= MOST_WORDS
    assert len(text.partition("\n## ")[0].split()) <= MOST_FIRST


@pytest.mark.parametrize("name", NAMES)
def test_the_files_of_an_example_are_small_and_name_no_folder_of_the_machine(name: str) -> None:
    for path in (EXAMPLES / name).rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert len(data) <= LARGEST, path
            assert not PATHS.search(data.decode(errors="replace")), path
