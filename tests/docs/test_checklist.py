"""Tests that docs/seed_documents.md lists every test of statements that a report does not make."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_lists_exactly_the_tests_of_refused_statements() -> None:
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
