"""Tests that the commands of the tutorial work on its files and print the output that it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
MISTAKE, CORRECTED = "fnv: {feature: [fnv]", "fnv: {features: [fnv]"


def consoles() -> list[tuple[str, str]]:
    """Return each command line of the page with the output that the page shows."""
    return [
        (command, output)
        for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
        for command, output in re.findall(
            r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE
        )
    ]


@pytest.fixture
def crate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the files of the page to an empty folder, with an empty cache, and change to it."""
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


def test_validate_and_plan_print_the_output_on_the_page(
    crate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = [
        (line, text) for line, text in consoles() if line.split()[1] in {"validate", "plan"}
    ]
    assert [line.split()[1] for line, _ in expected] == ["validate", "validate", "plan"]
    for number, (line, output) in enumerate(expected):
        code = run_command_line(shlex.split(line)[1:])
        printed = capsys.readouterr()
        assert without_free_space(printed.out + printed.err) == without_free_space(output)
        assert code == (2 if number == 0 else 0)
        path = crate / "bench/table.yaml"
        path.write_text(
            path.read_text(encoding="utf-8").replace(MISTAKE, CORRECTED), encoding="utf-8"
        )


def test_init_prints_the_guesses_on_the_page(
    crate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ((line, output),) = [item for item in consoles() if item[0].split()[1] == "init"]
    assert run_command_line(shlex.split(line)[1:]) == 0
    printed = capsys.readouterr()
    assert printed.err + printed.out == output
    assert run_command_line(["validate", "bench/top-words.yaml"]) == 0


def test_every_scenario_of_the_page_is_valid_after_the_correction(
    crate: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenarios = sorted((crate / "bench").glob("*.yaml"))
    assert [path.name for path in scenarios] == ["script.yaml", "split.yaml", "table.yaml"]
    for path in scenarios:
        path.write_text(
            path.read_text(encoding="utf-8").replace(MISTAKE, CORRECTED), encoding="utf-8"
        )
        assert run_command_line(["validate", str(path)]) == 0, capsys.readouterr().err


def test_every_command_of_the_page_exists(capsys: pytest.CaptureFixture[str]) -> None:
    names = {line.split()[1] for line, _ in consoles() if line.startswith("benchctl ")}
    assert {"init", "validate", "plan", "run", "verify", "compare"} <= names
    for name in names:
        assert run_command_line(["help", name]) == 0, capsys.readouterr().err
