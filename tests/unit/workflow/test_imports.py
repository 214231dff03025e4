"""Tests of imported records, from files to every command that opens one."""

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import bench_framework as bf
from bench_framework.cli.app import run_command_line
from bench_framework.errors import MachineError, RecordError, UsageError
from bench_framework.extensions.importers.workflow import import_files
from bench_framework.report.render import terminal
from bench_framework.store import finding, records
from bench_framework.store.frames import Frames
from bench_framework.workflow.comparison import compare_record
from bench_framework.workflow.pages import report_record
from bench_framework.workflow.records.verification import verify_record
from tests.documents import valid

FIXTURES = Path(__file__).parents[2] / "fixtures" / "hyperfine"
TEN = FIXTURES / "1.20-ten-commands.json"
FIRST = "label,mean,sd,n,unit\nsmol,177.1,7.5,100,ms\noptimised,191.2,13.7,100,ms\n"
SECOND = "label,mean,sd,n,unit\nsmol,205.4,16.7,20,ms\noptimised,201.7,14.3,20,ms\n"
WIDTH = 100


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(FIRST)
    second.write_text(SECOND)
    return first, second


def imported(tmp_path: Path, *paths: Path, **options: str) -> Path:
    return import_files(tmp_path / "results", list(paths), **options).record


def test_ten_commands_of_one_call_become_a_record_with_a_report(tmp_path: Path) -> None:
    folder = imported(tmp_path, TEN, name="ten")
    assert folder.parent.name == "ten"
    assert {p.name for p in folder.iterdir()} == {
        "appendix.html",
        "appendix.md",
        "builds.csv",
        "cells.csv",
        "claims.json",
        "columns.json",
        "comparisons.csv",
        "events.csv",
        "figures",
        "imported.json",
        "manifest.json",
        "report.html",
        "report.md",
        "runs.csv",
        "sources",
    }
    assert (folder / "sources" / "1-1.20-ten-commands.json").read_bytes() == TEN.read_bytes()
    page = (folder / "report.md").read_text() + (folder / "appendix.md").read_text()
    for one in json.loads(TEN.read_bytes())["results"]:
        assert one["command"] in page
    assert "Within one session" in page
    assert "running maximum" in page
    assert "9 comparisons, Holm-adjusted within the session" in page
    assert "What these files cannot show" in page
    assert page.count("1×12") >= 10
    assert "| Mean (SD), ms |" in page
    assert "fastest" not in page


def test_a_moved_imported_set_is_unchanged(tmp_path: Path, files: tuple[Path, Path]) -> None:
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    imported(tmp_path, *files).rename(moved)
    assert verify_record(tmp_path, str(moved)).differences == ()


def test_names_with_control_characters_give_valid_pages_and_figures(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text(
        "label,mean,sd,n,unit\n\x1b[31mred\x07,1,.1,10,ms\n\u202etxt,2,.1,10,ms\n"
    )
    folder = imported(tmp_path, tmp_path / "odd.csv")
    for path in (folder / "report.html", folder / "report.md", *(folder / "figures").iterdir()):
        assert not {"\x1b", "\x07"} & set(path.read_text())
    for path in (folder / "figures").iterdir():
        assert "\u202e" not in path.read_text()
        assert "\\x1b[31mred" in "".join(ET.fromstring(path.read_text()).itertext())


@pytest.mark.parametrize("spread", ["20", "1000"])
def test_a_spread_of_a_thousand_times_the_mean_gives_an_unbounded_interval(
    tmp_path: Path, spread: str
) -> None:
    (tmp_path / "wild.csv").write_text(f"label,mean,sd,n,unit\na,1,{spread},10,ms\nb,2,1,10,ms\n")
    folder = imported(tmp_path, tmp_path / "wild.csv")
    page = (folder / "appendix.md").read_text().replace("\u202f", " ")
    assert "| 2.00 | [0.00, ∞] |" in page
    assert "+∞" in page
    assert "0000000" not in page
    assert verify_record(tmp_path / "results", "@last").differences == ()


def test_every_command_that_opens_a_record_opens_an_imported_one(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    folder = imported(tmp_path, *files)
    root = tmp_path / "results"
    assert verify_record(root, "@last").differences == ()
    before = (folder / "report.html").read_bytes()
    assert report_record(root, "first").record == folder
    assert (folder / "report.html").read_bytes() == before
    table = compare_record(root, str(folder), baseline=None, candidate=None, metrics=("wall",))
    assert [c.verdict.value for c in table.comparisons] == ["worse", "inconclusive"]
    reversed_ = compare_record(
        root, "@last", baseline="optimised", candidate="smol", metrics=("wall",)
    )
    assert [c.verdict.value for c in reversed_.comparisons] == ["better", "inconclusive"]
    assert "Within one session (second.csv), not interleaved" in terminal.render(
        reversed_.document, width=WIDTH, color=False, unicode=True
    )
    with pytest.raises(UsageError, match="rayon"):
        compare_record(root, "@last", baseline="rayon", candidate=None, metrics=("wall",))
    with pytest.raises(UsageError, match="has no metric instructions"):
        compare_record(root, "@last", baseline=None, candidate=None, metrics=("instructions",))
    with pytest.raises(UsageError, match="the candidate is the baseline"):
        compare_record(root, "@last", baseline=None, candidate="smol", metrics=("wall",))


def test_a_notebook_gets_frames_without_rounds(tmp_path: Path) -> None:
    frames = bf.load(imported(tmp_path, TEN))
    assert isinstance(frames, Frames)
    assert len(frames.runs[frames.runs["metric"] == "wall"]) == 120
    assert "round" not in frames.runs.columns
    assert len(frames.comparisons[frames.comparisons["kind"] == "headline"]) == 9
    assert len(frames.comparisons[frames.comparisons["kind"] == "best"]) == 45
    assert set(frames.cells["runs"]) == {12}
    assert set(frames.comparisons["family_size"]) == {9}
    assert frames.claims["text"].str.startswith("Within one session, not interleaved").all()
    assert repr(frames).endswith("10 cells, exploratory>")


def test_commands_that_need_rounds_refuse_an_imported_record(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    folder = imported(tmp_path, *files)
    with pytest.raises(RecordError) as caught:
        records.Record.open(folder)
    assert caught.value.code == "BX455"
    assert finding.find_records(tmp_path / "results") == []
    assert finding.find_records(tmp_path / "results", without_rounds=True) == [folder]


def test_verify_finds_changed_sources_figures_claims_and_pages(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    folder = imported(tmp_path, *files)
    changes = {
        "sources/1-first.csv": ("191.2", "171.2", "does not follow from sources/1-first.csv"),
        "imported.json": ("0.1912", "0.1712", "claims.json: "),
        "claims.json": ("is 8.0", "is 0.8", "claims.json: "),
        "report.md": ("one session", "two sessions", "report.md: line 5: expected"),
    }
    for name, (old, new, words) in changes.items():
        path = folder / name
        original = path.read_text()
        assert old in original
        path.write_text(original.replace(old, new))
        differences = "\n".join(verify_record(tmp_path / "results", "@last").differences)
        assert words in differences
        assert f"{name}: changed" in differences
        path.write_text(original)
    (folder / "sources" / "2-second.csv").write_text("nothing")
    differences = "\n".join(verify_record(tmp_path / "results", "@last").differences)
    assert "sources/2-second.csv: the file is neither" in differences


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"baseline": "rayon"}, "no file contains"),
        ({"name": "../x"}, "is not a valid name"),
        ({"name": ""}, "is not a valid name"),
    ],
)
def test_a_wrong_option_is_an_error_and_nothing_is_written(
    tmp_path: Path, files: tuple[Path, Path], options: dict[str, str], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        imported(tmp_path, *files, **options)
    assert not (tmp_path / "results").exists()


def test_the_same_file_twice_is_an_error(tmp_path: Path, files: tuple[Path, Path]) -> None:
    shutil.copy(files[0], tmp_path / "copy.csv")
    with pytest.raises(UsageError, match="given twice"):
        imported(tmp_path, files[0], tmp_path / "copy.csv")


def test_two_files_are_reported_side_by_side_and_not_compared(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    page = (imported(tmp_path, *files) / "report.md").read_text()
    assert "Times of different sessions are not compared" in page
    assert "first.csv" in page
    assert "second.csv" in page


def test_a_report_of_two_files_lists_every_command_and_is_about_one_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(FIRST + "own,150.5,6.1,100,ms\n")
    runs = (("smol", 11.0), ("smol", 11.2), ("smol", 11.1), ("optimised", 5.0), ("optimised", 5.1))
    lines = ("label,time,unit", *(f"{name},{time},ms" for name, time in runs), "optimised,5.2,ms")
    second.write_text("\n".join(lines))
    page = (imported(tmp_path, first, second) / "report.md").read_text()
    lead, results = page.split("## Results\n")
    assert "**Within one session (second.csv)" in lead
    # The times of the second file are runs. Those of the first one are means.
    assert results.startswith("Time by command, second.csv: median over runs.")
    assert "| own | ▼ 1.18× faster [1.16, 1.20] | — |" in results
    page = (imported(tmp_path, first) / "report.md").read_text()
    assert "Time by command, first.csv: mean. Bold: best." in page


def test_a_single_run_of_each_command_is_the_reason_for_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "once.csv"
    file.write_text("label,time,unit\nsmol,11,ms\noptimised,1,ms\n")
    page = (imported(tmp_path, file) / "report.md").read_text()
    assert "nothing is conclusive: a single run has no verdict." in page
    assert "once each; a single run has no interval;" in page


def test_a_bad_file_next_to_a_good_one_writes_nothing(
    tmp_path: Path, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    files[1].write_text("label,mean,sd,n\nsmol,1,-1,3\n")
    code = run_command_line(["--dir", str(tmp_path / "results"), "import", *map(str, files)])
    printed = capsys.readouterr().err
    assert code == 2
    assert "BX452" in printed
    assert "second.csv" in printed
    assert not (tmp_path / "results").exists()


def test_a_failed_import_leaves_no_partial_record(
    tmp_path: Path, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("in the middle")

    monkeypatch.setattr("bench_framework.report.render.markdown.render", refuse)
    with pytest.raises(RuntimeError, match="in the middle"):
        imported(tmp_path, *files, name="set")
    assert list((tmp_path / "results").iterdir()) == []


def test_an_import_that_cannot_be_written_names_no_measurement(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    (tmp_path / "results").write_text("in the way")
    with pytest.raises(MachineError, match="cannot be written") as caught:
        imported(tmp_path, *files)
    assert caught.value.effect == "nothing was imported"


def test_two_imports_within_a_minute_are_two_records(
    tmp_path: Path, files: tuple[Path, Path]
) -> None:
    one, other = imported(tmp_path, *files, name="set"), imported(tmp_path, *files, name="set")
    assert one != other
    texts = [
        (folder / "claims.json").read_text().replace(folder.name, "") for folder in (one, other)
    ]
    assert texts[0] == texts[1]


def test_json_names_the_record_and_its_files(
    tmp_path: Path, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_command_line(
        ["import", *map(str, files), "--json", "--dir", str(tmp_path / "results")]
    )
    document = valid("report", capsys.readouterr().out)
    assert code == 0
    assert Path(document["record"]).is_dir()
    assert all(Path(path).is_file() for path in document["files"])


def test_results_of_harnesses_become_records_that_can_be_verified(tmp_path: Path) -> None:
    for number, name in enumerate(("fib 20", "fib 21"), 1):
        new = tmp_path / "criterion" / name / "new"
        new.mkdir(parents=True)
        times = [10.0 * number * (1000 + i % 3) for i in range(20)]
        sample = {"sampling_mode": "Flat", "iters": [10.0] * 20, "times": times}
        (new / "sample.json").write_text(json.dumps(sample))
    runs = [
        {"name": label, "run_type": "iteration", "time_unit": "ms"}
        | {"real_time": wall + i % 3 / 100, "cpu_time": wall / 2 + i % 3 / 100}
        for label, wall in (("a", 10.0), ("b", 20.0))
        for i in range(10)
    ]
    google = tmp_path / "google.json"
    google.write_text(json.dumps({"context": {}, "benchmarks": runs}))
    expected = ((tmp_path / "criterion", "fib 20", {"wall"}), (google, "a", {"wall", "cpu"}))
    for path, baseline, metrics in expected:
        record = imported(tmp_path, path)
        assert verify_record(tmp_path, str(record)).differences == ()
        judgement = bf.load(record).judgement
        assert judgement is not None
        assert {c.verdict.value for c in judgement.comparisons} == {"worse"}
        assert {c.metric for c in judgement.comparisons} == metrics
        (answer,) = (c for c in judgement.claims if c.kind == "main")
        assert answer.reference == baseline
        assert answer.text in (record / "report.md").read_text(encoding="utf-8")
    assert "JSON of Google Benchmark" in (record / "appendix.md").read_text(encoding="utf-8")
