"""Code that computes contains no words: they are in `text/`, and in modules of `RENDERERS`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import bench_framework

PACKAGE = Path(bench_framework.__file__).parent
COMPUTING = ("stats", "compare", "claims", "features", "scenario", "extensions")
RENDERERS = ("section.py", "page.py", "command.py")
"""Ends of the names of modules with words."""
WORDS = re.compile(r"[a-z]{2,},? [a-z]{2,}|^ [a-z]{2,}|[a-z]{2,} $")
EXCEPTIONS = {
    "compare/functions.py": "a regular expression",
    "claims/factory.py": "the subject of a claim",
    "extensions/audit/compute.py": "results of a statement",
    "extensions/audit/report.py": "the page of an audit",
    "extensions/audit/wording.py": "words by which statements are recognised",
    "extensions/fleet/cluster.py": "versions that hosts compare, and an error of Dask",
    "extensions/fleet/hosts.py": "a state of a host, and a command",
    "extensions/fleet/job.py": "Python",
    "extensions/fleet/measurement.py": "lines of a command",
    "extensions/history/site_pages.py": "SVG",
    "features/document.py": "errors for the author of an extension",
    "features/effects/compute.py": "the name of axes that advance together",
    "features/experiments/compute.py": "states of an experiment",
    "features/export.py": "file formats of other programs",
    "features/gate/self_test.py": "a command of a shell",
    "features/judge.py": "states of a record",
    "features/profile/flame_graph.py": "SVG",
    "features/published/compute.py": "a state of growth",
    "features/race/compute.py": "the subject of a claim",
    "features/scaling/compute.py": "a state of growth",
    "features/summary/answers.py": "a state of growth",
    "features/summary/bullets.py": "states of a contrast",
    "features/summary/claims.py": "the origin of a contrast",
    "features/summary/command_lines.py": "a state of outputs",
    "features/summary/confidence.py": "the subject of a claim, and a state of the control",
    "scenario/bundled.py": "commands in YAML",
    "scenario/checks/inputs.py": "a note at a line of a file",
    "scenario/checks/published.py": "kinds of results",
    "scenario/checks/rules.py": "keys and values to be added to a file",
    "scenario/document.py": "messages of the YAML parser, and notes at lines of a file",
    "scenario/expansion.py": "labels of inputs",
    "scenario/load.py": "the name of an encoding, and a fault that is compared",
    "scenario/revisions.py": "the question of a plan, and descriptions of its revisions",
    "scenario/scalars.py": "kinds of values",
    "scenario/schema/__init__.py": "the title of a JSON Schema",
    "scenario/validation_errors.py": "a page of errors",
}
"""Files with strings of several words, with the reason. Codes that records store look like words."""


def words_in(source: str) -> Iterator[int]:
    """Yield the lines of strings with words, without docstrings."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in alone:
            continue
        if isinstance(node.value, str) and WORDS.search(node.value):
            yield node.lineno


@pytest.mark.parametrize("source", ['"two words"', 'f"{n} rounds of {m}"', 'f"host {name}"'])
def test_the_check_finds_words(source: str) -> None:
    assert list(words_in(f"x = {source}"))
    assert not list(words_in(f'"""A docstring."""\nx = "code-of-a-reason", {source[:0]!r}'))


def test_code_that_computes_contains_no_words() -> None:
    words = {
        str(path.relative_to(PACKAGE)): lines
        for folder in COMPUTING
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        if not path.name.endswith(RENDERERS)
        and (lines := list(words_in(path.read_text(encoding="utf-8"))))
    }
    assert {name: lines for name, lines in words.items() if name not in EXCEPTIONS} == {}
    assert {*EXCEPTIONS} <= {*words}
