"""Tests of `benchctl site` as a process, with the remote of a git repository."""

import shutil
from pathlib import Path

import pytest

from bench_framework.workflow.pages import judge_record, write_pages
from tests.documents import valid
from tests.integration import processes
from tests.unit.workflow.measured_record import measured


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a remote and two records."""
    processes.git(tmp_path, "init", "-q")
    processes.git(tmp_path, "remote", "add", "origin", "https://me:secret@git.example/a/b.git")
    with measured(tmp_path / "results") as record:
        judgement = judge_record(record)
        record.save(judgement)
        write_pages(record, judgement, formats=("html",))
    shutil.copytree(record.path, record.path.with_name(f"{record.path.name}-2"))
    return tmp_path


def benchctl(folder: Path, *words: str, code: int = 0) -> processes.Done:
    return processes.benchctl(folder, *words, env=processes.real(COLUMNS="100"), code=code)


@pytest.mark.slow
def test_the_command_writes_updates_and_links_to_the_remote(repository: Path) -> None:
    done = benchctl(repository, "site", "public")
    assert done.stdout == "public/index.html: 2 records\n"
    assert "wrote 6 and removed 0 files" in done.stderr
    page = (repository / "public" / "demo" / "index.html").read_text(encoding="utf-8")
    assert f"https://git.example/a/b/commit/{'9' * 40}" in page
    assert "secret" not in page
    assert "nothing changed" in benchctl(repository, "site", "public").stderr
    other = valid(
        "site",
        benchctl(
            repository, "site", "public", "--repository", "https://other.example/x", "--json"
        ).stdout,
    )
    assert sorted(other["written"]) == ["demo/index.html", "index.html"]
    assert other["records"] == 2
    (repository / "results" / "demo" / "20260302T1704Z-2" / "manifest.json").unlink()
    assert "left out demo/20260302T1704Z-2: it is not finished" in (
        benchctl(repository, "site", "public").stderr
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["results/demo"], "contain each other"),
        (["notes.txt"], "notes.txt is not a folder"),
        (["public", "--repository", "git@x:a/b"], "give an https URL"),
        (["public", "--dir", "none"], "no finished record under none"),
        ([], "Missing argument 'OUT'"),
    ],
)
@pytest.mark.slow
def test_wrong_usage_gives_one_error(repository: Path, words: list[str], message: str) -> None:
    (repository / "notes.txt").write_text("mine")
    done = benchctl(repository, "site", *words, code=2)
    assert message in done.stderr
    assert not (repository / "public").exists()
