"""The page on extensions shows the files of the tested example."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "bench_framework" / "extensions" / "README.md"
EXAMPLE = ROOT / "tests" / "fixtures" / "extension"


def test_the_example_is_the_tested_one() -> None:
    toml, python, _ = re.findall(r"```\w+\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert toml == (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
    assert python == (EXAMPLE / "benchctl_example" / "__init__.py").read_text(encoding="utf-8")


def test_the_page_lists_each_extension() -> None:
    folders = {path.parent.name for path in PAGE.parent.glob("*/__init__.py")}
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {*rows} == folders
