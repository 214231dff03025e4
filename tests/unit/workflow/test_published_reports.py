"""Tests of published reports: `benchctl report --publish` writes them, and `verify` recomputes them."""

import gzip
import shutil
from pathlib import Path

import pytest

import bench_framework
from bench_framework.cli.app import run_command_line
from bench_framework.errors import UsageError
from bench_framework.store import manifest
from bench_framework.workflow.records.embedded_runs import publish
from bench_framework.workflow.records.verification import verify


@pytest.fixture(scope="module")
def published(full: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "new" / "sort"
    assert (
        run_command_line(["report", str(full), "--format", "html", "--publish", str(folder)]) == 0
    )
    return folder


def test_a_published_report_has_every_file_but_journal_and_raw_files(
    full: Path, published: Path
) -> None:
    names = {str(path.relative_to(published)) for path in published.rglob("*") if path.is_file()}
    assert {"report.html", "report.md", "appendix.md", "runs.csv.gz", "cells.csv"} <= names
    assert any(name.startswith("figures/") for name in names)
    listed = set(manifest.read_manifest(full))
    left_out = listed - names
    assert left_out >= {"journal.jsonl", "runs.csv", "claims.json"}
    assert not {name for name in left_out if name.endswith((".md", ".html", ".svg"))}
    assert (
        gzip.decompress((published / "runs.csv.gz").read_bytes())
        == (full / "runs.csv").read_bytes()
    )
    for name in names & listed:
        assert (published / name).read_bytes() == (full / name).read_bytes()


def test_an_unchanged_published_report_has_no_differences(published: Path) -> None:
    result = verify(published.parent, str(published))
    assert result.differences == ()
    assert result.claims > 10
    assert result.files >= 10


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("report.md", "report.md: line "),
        ("appendix.md", "appendix.md: line "),
        ("cells.csv", "cells.csv: row "),
        ("runs.csv.gz", "runs.csv.gz: row "),
        ("report.html", "report.html: "),
    ],
)
def test_one_changed_digit_is_found(
    published: Path, tmp_path: Path, name: str, expected: str
) -> None:
    folder = shutil.copytree(published, tmp_path / "copy")
    path = folder / name
    data = path.read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    at = max(n for n, byte in enumerate(text) if 48 <= byte < 57)
    text = text[:at] + bytes([text[at] + 1]) + text[at + 1 :]
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    result = verify(tmp_path, str(folder))
    assert result.differences
    assert result.differences[0].startswith(expected)


@pytest.mark.parametrize("name", ["runs.csv.gz", "report.md", "figures"])
def test_a_missing_or_unreadable_file_is_a_difference(
    published: Path, tmp_path: Path, name: str
) -> None:
    folder = shutil.copytree(published, tmp_path / "copy")
    if name == "runs.csv.gz":
        (folder / name).write_bytes((folder / name).read_bytes()[:40])
    elif name == "figures":
        shutil.rmtree(folder / name)
    else:
        (folder / name).unlink()
    differences = verify(tmp_path, str(folder)).differences
    assert differences
    assert all("cannot be read" in line for line in differences)


def test_a_published_report_is_loaded_and_published_again(published: Path, tmp_path: Path) -> None:
    assert len(bench_framework.load(published).runs) > 10
    assert run_command_line(["report", str(published), "--publish", str(tmp_path / "again")]) == 0
    for path in published.rglob("*"):
        if path.is_file():
            copy = tmp_path / "again" / path.relative_to(published)
            assert copy.read_bytes() == path.read_bytes()


def test_a_folder_with_something_else_is_not_overwritten(published: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match="is no published report") as error:
        publish(published / "report.html", tmp_path)
    assert error.value.code == "BX104"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
