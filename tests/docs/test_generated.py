"""Tests that generated references are current and that every error code is explained."""

import re
import subprocess
import sys
from pathlib import Path

from bench_framework.text.errors import explanations

ROOT = Path(__file__).parents[2]
ABSTRACT = {"BC000"}
"""The code of all errors of a scenario together, each of which has its own code."""


def test_the_pages_that_follow_from_the_program_are_current() -> None:
    """`python docs/generate.py --write` updates them."""
    checked = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py"], check=False, capture_output=True, text=True
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_page_lists_every_shipped_scenario_with_its_question() -> None:
    page = (ROOT / "scenarios/README.md").read_text(encoding="utf-8")
    files = sorted((ROOT / "scenarios").glob("*.yaml"))
    assert files
    for path in files:
        question = re.search(
            r"^question: (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        assert question is not None
        assert f"| [{path.stem}]({path.name}) | {question[1]} |" in page


def test_exactly_the_codes_in_the_sources_are_explained() -> None:
    raised = {
        code
        for path in (ROOT / "bench_framework").rglob("*.py")
        for code in re.findall(r'"(B[CX]\d{3})[".]', path.read_text(encoding="utf-8"))
    }
    assert raised - ABSTRACT == set(explanations())
    assert list(explanations()) == sorted(explanations())


def test_the_features_of_the_workers_are_those_of_the_allocators() -> None:
    """`nox -s generate` writes them."""
    checked = subprocess.run([sys.executable, ROOT / "native/generate.py"], check=False)
    assert checked.returncode == 0
