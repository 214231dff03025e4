"""The sentences that no report may say: the page that lists them and the tests that refuse them are one list."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_of_refused_sentences_lists_every_test_and_nothing_else() -> None:
    page = (ROOT / "docs" / "seed_documents.md").read_text(encoding="utf-8")
    table = page.partition("## Statements that a report does not make")[2]
    listed = re.findall(r"`(test_\w+)`", table)
    written = [
        node.name
        for path in sorted((ROOT / "tests" / "unit" / "checklist").glob("test_*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert len(written) == len(set(written))
    assert sorted(listed) == sorted(written)
