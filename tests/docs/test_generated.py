"""Tests that generated references are current and that every error code is explained."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench_framework.cli import reference
from bench_framework.scenario.codes import CODES
from bench_framework.scenario.schema import schema_text
from bench_framework.workflow.explanations import PAGES, RUN_CODES

ROOT = Path(__file__).parents[2]
ABSTRACT = {"BX000", "BC000", "BX200", "BX230"}
"""Default codes of classes whose errors always have a more specific code."""


@pytest.mark.parametrize("path", PAGES)
def test_a_generated_page_is_current(path: str) -> None:
    """Run `python -m bench_framework.workflow.explanations --write` to update the page."""
    assert (ROOT / path).read_text(encoding="utf-8") == PAGES[path]()


def test_the_command_line_reference_is_current() -> None:
    """Run `python -m bench_framework.cli.reference --write` to update the page."""
    assert (ROOT / reference.TARGET).read_text(encoding="utf-8") == reference.page()


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


def test_the_schema_is_current() -> None:
    assert (ROOT / "docs/reference/scenario.schema.json").read_text(
        encoding="utf-8"
    ) == schema_text()


def test_exactly_the_codes_in_the_sources_are_explained() -> None:
    sources = [
        p
        for p in (ROOT / "bench_framework").rglob("*.py")
        if p.name not in {"codes.py", "explanations.py"}
    ]
    raised = {
        code
        for path in sources
        for code in re.findall(r'"(B[CX]\d{3})"', path.read_text(encoding="utf-8"))
    }
    explained = set(CODES) | set(RUN_CODES)
    assert raised - explained - ABSTRACT == set()
    assert explained - raised == set()
    assert not set(CODES) & set(RUN_CODES)


def test_the_features_of_the_workers_are_those_of_the_allocators() -> None:
    """`nox -s generate` writes them."""
    checked = subprocess.run([sys.executable, ROOT / "native/generate.py"], check=False)
    assert checked.returncode == 0
