"""Generated references are what the code says today, and every code is explained."""

from __future__ import annotations

import re
from pathlib import Path

from bench_framework.scenario.codes import CODES
from bench_framework.scenario.schema import schema_text
from bench_framework.workflow.explanations import RUN_CODES, page

ROOT = Path(__file__).parents[2]
ABSTRACT = {"BX000", "BC000", "BX200", "BX230", "BX500", "BX501"}
"""Defaults of classes whose errors always name a code of their own, and the gate's, which is not built yet."""


def test_the_page_of_codes_is_current() -> None:
    assert (ROOT / "docs/reference/codes.md").read_text(encoding="utf-8") == page()


def test_the_schema_is_current() -> None:
    assert (ROOT / "docs/reference/scenario.schema.json").read_text(encoding="utf-8") == schema_text()


def test_every_code_in_the_sources_is_explained_and_no_other() -> None:
    sources = [
        p for p in (ROOT / "bench_framework").rglob("*.py") if p.name not in {"codes.py", "explanations.py"}
    ]
    raised = {
        code for path in sources for code in re.findall(r'"(B[CX]\d{3})"', path.read_text(encoding="utf-8"))
    }
    explained = set(CODES) | set(RUN_CODES)
    assert raised - explained - ABSTRACT == set()
    assert explained - raised == set()
    assert not set(CODES) & set(RUN_CODES)
