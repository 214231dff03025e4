"""The scenarios of docs/build.md are valid."""

import re
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line

PAGE = Path(__file__).parents[2] / "docs" / "build.md"
SCENARIOS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("text", SCENARIOS, ids=lambda text: text.split("name: ")[1].split()[0])
def test_a_scenario_of_the_page_is_valid(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bench.yaml"
    path.write_text(text, encoding="utf-8")
    assert run_command_line(["validate", str(path)]) == 0, capsys.readouterr().err
