"""Numbers for readers are formatted in `text.numbers` only."""

import ast
import re
from pathlib import Path

import pytest

import bench_framework

PACKAGE = Path(bench_framework.__file__).parent
FORMAT = re.compile(r",|[fge%]$")
EXCEPTIONS = {
    "text/numbers.py": "the module",
    "extensions/doctor/reference_programs.py": "names of files",
    "extensions/doctor/noise.py": "names of programs",
    "model/record/machine.py": "a fingerprint, which must not change",
    "report/svg.py": "coordinates of SVG",
    "extensions/history/site_pages.py": "coordinates of SVG",
    "features/profile/flame_graph.py": "coordinates of SVG",
    "report/render/junit.py": "seconds of JUnit XML",
    "report/render/html.py": "values of data attributes",
    "scenario/gate_policy.py": "a value of a YAML file",
    "stats/portable_math.py": "rounding of a result",
}
"""Files that format numbers themselves, with the reason."""


def formats_of(source: str) -> list[int]:
    """Return the lines with a format or a rounded number in an f-string, or with `format`."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            spec = ast.unparse(node.format_spec)[2:-1]
            if FORMAT.search(spec):
                lines.append(node.lineno)
        elif (
            isinstance(node, ast.FormattedValue)
            and re.search(r"\bround\(", ast.unparse(node.value))
        ) or (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"[^{}]*\{[^{}]*:[^{} ]*[.0-9][fge%]\}[^{}]*", node.value)
        ):
            lines.append(node.lineno)
    return lines


@pytest.mark.parametrize(
    "source",
    ['f"{x:.2f}"', 'f"{x:g}"', 'f"{x:.{n}f}"', 'f"{x:,}"', '"{:.1f}".format(x)', 'f"{round(x)} %"'],
)
def test_the_check_finds_each_kind_of_format(source: str) -> None:
    assert formats_of(source)
    assert not formats_of('f"{name:<10} {text!r} {size:>5}"')


def test_no_other_module_formats_numbers() -> None:
    formats = {
        str(path.relative_to(PACKAGE)): lines
        for path in sorted(PACKAGE.rglob("*.py"))
        if "_assets" not in path.parts  # copies of other folders in an installation
        if (lines := formats_of(path.read_text(encoding="utf-8")))
    }
    assert {*formats} == {*EXCEPTIONS}, formats
