"""Tests that every line of Python in docs/notebook.md works on an example record."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from bench_framework.workflow.pages import judge_record
from tests.unit.workflow.measured_record import copy_record, measured

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_ten_questions_have_one_line_each() -> None:
    answers = re.split(r"^### \d+\. ", PAGE, flags=re.MULTILINE)[1:]
    assert len(answers) == 10
    for answer in answers:
        (block,) = re.findall(
            r"^```python\n(.*?)^```", answer.split("\n## ")[0], re.DOTALL | re.MULTILINE
        )
        assert block.count("\n") == 1


def test_the_lines_of_the_page_have_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run the blocks in their order, in a folder with the examples and two further records."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "examples").symlink_to(ROOT / "results" / "examples")
    with measured(tmp_path / "results") as record:
        record.save(judge_record(record))
        record.seal()
    copy_record(record.path, record.path.with_name("20260303T1704Z"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BENCHCTL_RESULTS", raising=False)
    names: dict[str, Any] = {}
    for block in BLOCKS:
        tree = ast.parse(block)
        shows = isinstance(last := tree.body[-1], ast.Expr)
        if isinstance(last, ast.Expr):
            tree.body[-1] = ast.Assign([ast.Name("result", ast.Store())], last.value)
        exec(compile(ast.fix_missing_locations(tree), "docs/notebook.md", "exec"), names)
        result = names.pop("result", None)
        if result is None:
            assert not shows or "print(" in block or "savefig(" in block, block
            assert capsys.readouterr().out or "print(" not in block
        else:
            assert len(getattr(result, "data", result)) if hasattr(result, "__len__") else result
    assert sorted(set(names["both"]["record"])) == ["after", "before"]
    assert (tmp_path / "answer.svg").is_file()
