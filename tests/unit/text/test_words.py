"""Code that computes contains no words: they are in `text/`, and in modules of `RENDERERS`."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import bench_framework

PACKAGE = Path(bench_framework.__file__).parent
COMPUTING = (
    "stats",
    "compare",
    "claims",
    "features",
    "scenario",
    "execution",
    "workflow",
    "model",
    "store",
    "extensions",
)
RENDERERS = ("section.py", "page.py", "command.py")
"""Ends of the names of modules with words."""
WORDS = re.compile(r"[a-z]{2,},? [a-z]{2,}|^ [a-z]{2,}|[a-z]{2,} $")
EXCEPTIONS = {
    "execution/build/binaries.py": "the name of a row that records store",
    "execution/build/configuration.py": "Rust",
    "execution/build/pgo.py": "output of other programs, and Rust",
    "execution/build/revisions.py": "output of git",
    "execution/build/symbols.py": "output of other programs",
    "execution/counting/instructions.py": "output of perf",
    "execution/failures.py": "a command of a shell",
    "execution/hyperfine.py": "origins that records store",
    "execution/machine/checks.py": "names of checks",
    "execution/machine/host.py": "keys of /proc/cpuinfo",
    "execution/machine/launcher.py": "errors of a program that imports nothing",
    "execution/machine/lock.py": "the content of the lock file, which all versions read",
    "execution/machine/programs.py": "Rust",
    "execution/machine/settings.py": "commands of a shell, and names of settings",
    "execution/symbols.py": "names of Rust",
    "extensions/audit/compute.py": "results of a statement",
    "extensions/audit/report.py": "the page of an audit",
    "extensions/audit/wording.py": "words by which statements are recognised",
    "extensions/fleet/cluster.py": "versions that hosts compare, and an error of Dask",
    "extensions/fleet/job.py": "Python",
    "extensions/history/site_pages.py": "SVG",
    "features/document.py": "errors for the author of an extension",
    "features/export.py": "file formats of other programs",
    "features/gate/self_test.py": "a command of a shell",
    "features/profile/flame_graph.py": "SVG",
    "model/metrics.py": "nouns and descriptions of metrics",
    "model/plan/policies.py": "the description of a key",
    "model/plan/published.py": "figures of a scenario",
    "model/plan/revisions.py": "the name of a base that records store",
    "model/record/functions.py": "names of Rust",
    "scenario/bundled.py": "commands in YAML",
    "scenario/document.py": "messages of the YAML parser, and notes at lines of a file",
    "scenario/schema/__init__.py": "the title of a JSON Schema",
    "scenario/validation_errors.py": "a page of errors",
    "store/embedded.py": "HTML",
    "store/frames.py": "docstrings, and the text of an object in a notebook",
    "store/harnesses.py": "names of formats",
    "workflow/scenarios/crate_scenario.py": "comments in YAML",
    "workflow/scenarios/new_files.py": "commands of a shell",
    "workflow/setup/benches.py": "output of cargo",
}
"""Files with strings of several words, with the reason. Codes that records store look like words."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def codes() -> frozenset[object]:
    """Return the members of all `Literal` types, which code compares and records store."""
    nodes = (node for path in PACKAGE.rglob("*.py") for node in ast.walk(tree_of(path)))
    types = (n for n in nodes if isinstance(n, ast.Subscript) and ast.unparse(n.value) == "Literal")
    return frozenset(n.value for t in types for n in ast.walk(t) if isinstance(n, ast.Constant))


def words_in(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of strings with words that are no docstrings, codes or regular expressions."""
    alone: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            alone.add(id(node.value))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            alone |= {id(part) for part in ast.walk(node)}
        if not isinstance(node, ast.Constant) or id(node) in alone or node.value in codes():
            continue
        if isinstance(node.value, str) and WORDS.search(node.value):
            yield node.lineno


@pytest.mark.parametrize("source", ['"two words"', 'f"{n} rounds of {m}"', 'f"host {name}"'])
def test_the_check_finds_words(source: str) -> None:
    assert list(words_in(ast.parse(f"x = {source}")))
    assert not list(
        words_in(ast.parse(f'"""A docstring."""\nx = "code-of-a-reason", {source[:0]!r}'))
    )


def test_code_that_computes_contains_no_words() -> None:
    words = {
        str(path.relative_to(PACKAGE)): lines
        for folder in COMPUTING
        for path in sorted((PACKAGE / folder).rglob("*.py"))
        if not path.name.endswith(RENDERERS) and (lines := list(words_in(tree_of(path))))
    }
    assert {name: lines for name, lines in words.items() if name not in EXCEPTIONS} == {}
    assert {*EXCEPTIONS} <= {*words}
