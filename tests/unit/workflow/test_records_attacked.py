"""Tests that changed, missing or replaced files of a record give a difference or one clear error."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.errors import RecordError
from bench_framework.store import manifest
from bench_framework.workflow.pages import report_record
from bench_framework.workflow.verification import verify_record
from tests.unit.workflow.measured_record import TEXT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def copied(record: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "results" / "demo" / record.name
    shutil.copytree(record, copy)
    return copy


def sealed_again(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    manifest.write_manifest(folder)


NESTED = "[" * 100_000
MANIFESTS: dict[str, Callable[[str], str]] = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "a list": lambda _: "[]",
    "nested": lambda _: NESTED,
    "an infinite version": lambda text: re.sub(
        r'"schema_version": \d+', '"schema_version": Infinity', text
    ),
    "a version that is not a number": lambda text: re.sub(
        r'"schema_version": \d+', '"schema_version": NaN', text
    ),
    "invalid digests": lambda text: re.sub(r'"runs.csv": "[0-9a-f]*"', '"runs.csv": 7', text),
    "a file twice": lambda text: text.replace('"files": {', '"files": {"runs.csv": "0",', 1),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_an_invalid_manifest_is_one_error(
    plain: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(plain, tmp_path)
    text = (path / "manifest.json").read_text(encoding="utf-8")
    (path / "manifest.json").write_text(MANIFESTS[name](text), encoding="utf-8")
    with pytest.raises(RecordError, match=r"manifest\.json cannot be read"):
        verify_record(tmp_path, str(path))
    assert run_command_line(["verify", str(path)]) in {2, 3}
    assert "BX411" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["../../../../../../etc/hostname", "/etc/hostname", "a\x00b", "\x1b[2Jred\u202e"]
)
def test_a_file_outside_of_the_record_is_not_read(
    plain: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(plain, tmp_path)
    content = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    content["files"][name] = "0" * 64
    (path / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    assert verify_record(tmp_path, str(path)).differences == (f"{name}: missing",)
    assert run_command_line(["verify", str(path)]) == 1
    assert not set("\x1b\x00\u202e") & set(capsys.readouterr().out)


def test_a_changed_plan_with_a_new_manifest_differs_from_the_journal(
    plain: Path, tmp_path: Path
) -> None:
    path = copied(plain, tmp_path)
    text = (path / "plan.json").read_text(encoding="utf-8")
    (path / "plan.json").write_text(
        text.replace("Which way is fastest?", "Which way is best?"), encoding="utf-8"
    )
    sealed_again(path)
    assert (
        "plan.json: differs from the plan in journal.jsonl"
        in verify_record(tmp_path, str(path)).differences
    )


def test_an_inconsistent_plan_with_a_new_manifest_is_reported(plain: Path, tmp_path: Path) -> None:
    path = copied(plain, tmp_path)
    text = (path / "plan.json").read_text(encoding="utf-8")
    (path / "plan.json").write_text(text.replace(TEXT.id, "nowhere", 1), encoding="utf-8")
    sealed_again(path)
    differences = verify_record(tmp_path, str(path)).differences
    assert "plan.json: differs from the plan in journal.jsonl" in differences
    with pytest.raises(RecordError) as caught:
        report_record(tmp_path, str(path))
    assert caught.value.code == "BX411"


def test_the_path_of_the_scenario_and_the_options_are_not_part_of_the_plan_digest(
    plain: Path, tmp_path: Path
) -> None:
    path = copied(plain, tmp_path)
    text = (path / "plan.json").read_text(encoding="utf-8")
    (path / "plan.json").write_text(
        text.replace('"demo.yaml"', '"elsewhere/demo.yaml"'), encoding="utf-8"
    )
    assert verify_record(tmp_path, str(path)).differences == ("plan.json: changed",)


@pytest.mark.parametrize(
    "name", ["runs.csv", "cells.csv", "comparisons.csv", "claims.json", "report.md", "report.html"]
)
def test_a_changed_digit_with_a_new_manifest_differs_from_the_journal(
    full: Path, tmp_path: Path, name: str
) -> None:
    path = copied(full, tmp_path)
    text = (path / name).read_text(encoding="utf-8")
    place = [m.start() for m in re.finditer(r"\d", text)][len(text) // 40]
    changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
    (path / name).write_text(changed, encoding="utf-8")
    sealed_again(path)
    differences = verify_record(tmp_path, str(path)).differences
    assert any(line.startswith(f"{name}: ") for line in differences), differences


@pytest.mark.parametrize(
    "name", ["plan.json", "journal.jsonl", "claims.json", "env.json", "scenario.yaml", "runs.csv"]
)
@pytest.mark.parametrize("how", ["gone", "folder", "link to nothing", "link to itself", "nested"])
def test_a_file_replaced_by_something_else_is_named(
    full: Path, tmp_path: Path, name: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(full, tmp_path) / name
    path.unlink()
    match how:
        case "folder":
            path.mkdir()
        case "link to nothing":
            path.symlink_to("/nonexistent/file")
        case "link to itself":
            path.symlink_to(path.name)
        case "nested":
            path.write_text(NESTED, encoding="utf-8")
    code = run_command_line(["verify", str(path.parent)])
    out, err = capsys.readouterr()
    assert code in {1, 2, 3}
    # A folder without a journal is not a record.
    assert (name if name != "journal.jsonl" or how == "nested" else "is no record") in out + err
    assert "BX900" not in err
