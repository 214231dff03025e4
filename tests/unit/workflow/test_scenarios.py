"""Names of bundled scenarios on the command line."""

import errno
import os
from pathlib import Path

import pytest

from bench_framework import assets
from bench_framework.cli.app import run_command_line
from bench_framework.errors import MachineError
from bench_framework.workflow.run_options import find_scenario
from bench_framework.workflow.scenarios.new_files import start_folder
from tests.files import write_files


def test_every_bundled_scenario_has_its_name_with_hyphens_or_underscores() -> None:
    shipped = assets.shipped_scenarios()
    assert "word-tally" in shipped
    for name, path in shipped.items():
        assert find_scenario(name) == path
        assert find_scenario(name.replace("-", "_")) == path


SORT = """version: 1
name: sort
question: Is b faster?
worker: {command: [sort]}
axes: {arm: [a, b]}
command: ["{bin}", "{arm}"]
baseline: {arm: a}
"""


def test_a_scenario_in_a_folder_below_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path, {"bench/sort.yaml": SORT, ".github/smoke.yaml": ""})
    monkeypatch.chdir(tmp_path)
    for name in ("sort", "srt", "sort.yaml"):
        assert run_command_line(["run", name]) == 2
        assert "did you mean `bench/sort.yaml`?" in capsys.readouterr().err, name
    assert run_command_line(["run", "smoke"]) == 2
    assert "smoke.yaml" not in capsys.readouterr().err
    for words in (["gate", "sort"], ["report", "sort"], ["history", "bench/sort.yaml"]):
        assert run_command_line(words) == 2
        text = capsys.readouterr().err
        assert "measure the scenario first: benchctl run bench/sort.yaml\n" in text, words


def test_only_files_with_a_worker_or_axes_are_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path, {"compose.yaml": "services: {}\n", "sort.yaml": SORT})
    monkeypatch.chdir(tmp_path)
    for words in (["report", "compose"], ["run", "compos"]):
        assert run_command_line(words) == 2
        assert "benchctl run compose.yaml" not in (text := capsys.readouterr().err), words
        assert "did you mean" not in text, words


@pytest.mark.parametrize(
    ("command", "fix"),
    [
        ("gate --bench all", "run the command in the folder of a crate"),
        ("bisect --bench all --good v1", "run the command in the folder of a crate"),
        ("ablate -- x", "use --crate FOLDER"),
        ("init -- x", "use --crate FOLDER"),
        ("gate --base v1", "benchctl gate --base v1 --bench all"),
        ("import x", "`benchctl help import`"),
        ("baseline show old", "`benchctl baseline save old`"),
        ("baseline compare parse@old", "`benchctl baseline save old parse`"),
    ],
)
def test_an_error_in_an_empty_folder_has_a_next_step(
    command: str,
    fix: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command_line(command.split()) == 2
    assert fix in " ".join(capsys.readouterr().err.split())
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("files", [0, 1])
def test_a_full_disk_leaves_no_new_file(
    files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def fsync(_: int) -> None:
        nonlocal written
        if written == files:
            raise OSError(errno.ENOSPC, "No space left on device")
        written += 1

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(MachineError) as caught:
        start_folder(tmp_path / "bench")
    assert caught.value.code == "BX235"
    assert [*(tmp_path / "bench").iterdir()] == []
    monkeypatch.undo()
    assert len(start_folder(tmp_path / "bench")) == 2


def test_init_can_be_repeated_if_the_disk_fills_before_the_last_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace, renamed = Path.replace, list[Path]()

    def full(path: Path, target: Path) -> Path:
        if renamed:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        renamed.append(target)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(MachineError):
        start_folder(tmp_path / "bench")
    monkeypatch.undo()
    assert [path.name for path in (tmp_path / "bench").iterdir()] == ["scenario.schema.json"]
    assert len(start_folder(tmp_path / "bench")) == 2
