"""Tests of published reports: `benchctl report --publish` writes them, and `verify` recomputes them."""

import gzip
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import bench_framework
from bench_framework.cli.app import run_command_line
from bench_framework.errors import UsageError
from bench_framework.model.plan.invocation import Invocation
from bench_framework.store import embedded, manifest
from bench_framework.workflow.records.embedded_runs import judge_embedded, publish, render_embedded
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


def test_a_published_report_does_not_name_the_folder_of_the_records(
    published: Path, tmp_path: Path
) -> None:
    page, folder = tmp_path / "report.html", tmp_path / "again"
    content = embedded.read(page_text := (published / "report.html").read_text("utf-8"))
    plan = content.frame.plan
    plan = replace(plan, invocation=replace(plan.invocation, results="/tmp/of-job"))
    content = replace(content, frame=replace(content.frame, plan=plan))
    page.write_text(render_embedded(content, judge_embedded(content))["report.html"], "utf-8")
    publish(page, folder)
    assert (folder / "report.html").read_text("utf-8") == page_text
    assert verify(tmp_path, str(folder)).differences == ()


def test_the_command_of_a_published_report_without_a_scenario_has_no_folder() -> None:
    words = ("--dir", "/tmp/job", "sweep", "--dir=here", "--name", "x", "--", "--dir", "{n}")
    public = Invocation(words=words).public
    assert public.command("", None) == "benchctl sweep --name x -- --dir '{n}'"


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


EXAMPLE = Path(__file__).parents[3] / "results/examples/smol"
SCENARIO = EXAMPLE.parents[2] / "scenarios/smol.yaml"


@pytest.mark.slow
def test_a_published_report_takes_the_words_of_a_later_scenario(tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLE, tmp_path / "smol")
    measured = embedded.read((folder / "report.html").read_text()).frame.plan
    text = SCENARIO.read_text()
    changes = {
        "label: native build": "label: for this CPU",
        "question: With one thread each": "question: With equal threads",
        "8 blocking threads (BLOCKING_MAX_THREADS) instead of 500:": "Fewer blocking threads:",
        "name: buffers of 128 KiB against 64 KiB": "name: larger buffers",
    }
    for before, after in changes.items():
        assert text.count(before) >= 1
        text = text.replace(before, after)
    text = text.replace("buffers of 128 KiB against 64 KiB", "larger buffers")
    later = tmp_path / "later.yaml"
    later.write_text(text)
    assert run_command_line(["report", str(folder), "--wording", str(later), "--format", "md"]) == 0
    page = (folder / "report.md").read_text()
    assert "# With equal threads" in page
    assert "Fewer blocking threads: " in page
    assert "for this CPU" in (folder / "cells.csv").read_text()
    assert verify(tmp_path, str(folder)).differences == ()
    content = embedded.read((folder / "report.html").read_text())
    assert content.scenario_text == text
    assert content.frame.wording
    assert content.frame.wording in (folder / "appendix.md").read_text()
    assert content.frame.plan.scenario_sha256 == measured.scenario_sha256
    assert [c.command for c in content.frame.plan.cells] == [c.command for c in measured.cells]


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("margin: 5%", "margin: 2%", "judge"),
        ("buffer: [64KiB, 128KiB]", "buffer: [64KiB, 128KiB, 256KiB]", "axes"),
        ("seed: 42", "seed: 43", "inputs"),
        ("--output, none, ", "--output, none, --verbose, ", "cells"),
        ("yes: better}", "yes: worse}", "headline"),
        ("name: smol", "name: smol2", "name"),
    ],
)
def test_other_words_are_refused_with_another_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], before: str, after: str, what: str
) -> None:
    folder = shutil.copytree(EXAMPLE, tmp_path / "smol")
    text = SCENARIO.read_text()
    later = tmp_path / "later.yaml"
    later.write_text(text.replace(before, after, 1))
    assert later.read_text() != text
    assert run_command_line(["report", str(folder), "--wording", str(later)]) == 2
    assert f"in more than words: {what}" in capsys.readouterr().err
    for path in EXAMPLE.rglob("*"):
        if path.is_file():
            assert (folder / path.relative_to(EXAMPLE)).read_bytes() == path.read_bytes()


def test_a_record_keeps_its_words(full: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["report", str(full), "--wording", str(SCENARIO)]) == 2
    assert "--wording needs --publish or a published report" in capsys.readouterr().err


def test_what_an_interrupted_publication_left_is_replaced(published: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pub"
    (folder / "figures").mkdir(parents=True)
    (folder / ".report.html.17.part").write_text("<!doc")
    (folder / "figures" / ".x.svg.17.part").write_text("<svg")
    publish(published / "report.html", folder)
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {str(p.relative_to(published)) for p in published.rglob("*") if p.is_file()}


def test_files_of_the_user_in_a_folder_of_figures_are_not_removed(
    published: Path, tmp_path: Path
) -> None:
    (tmp_path / "pub" / "figures").mkdir(parents=True)
    (tmp_path / "pub" / "figures" / "mine.svg").write_text("keep")
    with pytest.raises(UsageError, match="is no published report"):
        publish(published / "report.html", tmp_path / "pub")
    assert (tmp_path / "pub" / "figures" / "mine.svg").read_text() == "keep"
