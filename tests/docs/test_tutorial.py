"""The tutorial's files are what its commands read: `validate` and `plan` print what stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
MISTAKE, MENDED = "fnv: {feature: [fnv]", "fnv: {features: [fnv]"


def consoles() -> list[tuple[str, str]]:
    """Each command line of the page with what it is said to print, in order."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
    return [
        (command, output)
        for block in blocks
        for command, output in re.findall(
            r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE
        )
    ]


@pytest.fixture
def crate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The crate as the page writes it, and an empty cache: nothing is built, no input is there."""
    for name, text in re.findall(
        r"^`([^`\n]+)`:\n\n```\w+\n(.*?)```", PAGE, flags=re.DOTALL | re.MULTILINE
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BENCHCTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def without_free_space(text: str) -> str:
    return re.sub(r"[0-9.]+\s[KMGT]?i?B free", "… free", text).strip()


def test_validate_and_plan_print_what_the_page_says(
    crate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = [(line, text) for line, text in consoles() if line.split()[1] in {"validate", "plan"}]
    assert [line.split()[1] for line, _ in shown] == ["validate", "validate", "plan"]
    for number, (line, wanted) in enumerate(shown):
        code = run_command_line(shlex.split(line)[1:])
        said = capsys.readouterr()
        assert without_free_space(said.out + said.err) == without_free_space(wanted)
        assert code == (2 if number == 0 else 0)
        path = crate / "bench/table.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace(MISTAKE, MENDED), encoding="utf-8")


def test_every_scenario_of_the_page_is_valid_once_mended(
    crate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = sorted((crate / "bench").glob("*.yaml"))
    assert [path.name for path in scenarios] == ["script.yaml", "split.yaml", "table.yaml"]
    for path in scenarios:
        path.write_text(path.read_text(encoding="utf-8").replace(MISTAKE, MENDED), encoding="utf-8")
        assert run_command_line(["validate", str(path)]) == 0, capsys.readouterr().err


def test_every_command_of_the_page_exists(capsys: pytest.CaptureFixture[str]) -> None:
    names = {line.split()[1] for line, _ in consoles() if line.startswith("benchctl ")}
    assert {"init", "validate", "plan", "run", "verify", "compare"} <= names
    for name in names:
        assert run_command_line(["help", name]) == 0, capsys.readouterr().err
