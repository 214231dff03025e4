"""Tests of `verify`: it finds one changed character anywhere in a record or a page."""

import base64
import bz2
import csv
import gc
import io
import json
import random
import re
import shutil
from pathlib import Path

import pytest

import bench_framework
from bench_framework import assets
from bench_framework.cli.app import run_command_line
from bench_framework.errors import RecordError, UsageError
from bench_framework.store import manifest, run_table
from bench_framework.store.frames import Frames
from bench_framework.store.records import Record
from bench_framework.workflow import pages
from bench_framework.workflow.pages import report_record
from bench_framework.workflow.records.integrity import (
    change_warning,
    line_differences,
    table_differences,
)
from bench_framework.workflow.records.verification import verify, verify_page, verify_record
from tests.build import require
from tests.documents import valid
from tests.unit.workflow.measured_record import ROUNDS, TEXT, altered, copied, table, written

REPORT_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "report.md"


def test_an_unchanged_record_has_no_differences(plain: Path, full: Path) -> None:
    for path in (plain, full):
        result = verify_record(path.parent, str(path))
        assert result.differences == ()
        assert result.source == "runs.csv"
        assert result.claims > 10
        assert result.files >= 10


@pytest.mark.parametrize("place", ["other/moved", "a/b c/d/é/renamed", "2"])
def test_a_record_that_was_moved_or_renamed_is_unchanged(
    full: Path, tmp_path: Path, place: str
) -> None:
    moved = tmp_path / place
    shutil.copytree(full, moved)
    assert verify_record(tmp_path, str(moved)).differences == ()
    report_record(tmp_path, str(moved))
    assert (moved / "report.html").read_bytes() == (full / "report.html").read_bytes()
    assert verify_record(tmp_path, str(moved)).differences == ()


def test_the_terminal_lists_the_files_of_a_moved_record_where_they_are(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(full, tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    document = require(report_record(tmp_path, "moved", formats=("term",)).document)
    assert document.files[0] == "moved/report.html"


def test_blocks_read_from_the_table_are_identical(plain: Path) -> None:
    record = Record.open(plain)
    text = (plain / "runs.csv").read_text(encoding="utf-8")
    blocks, _ = run_table.read(text, record.plan, record.contents.builds)
    assert blocks == record.contents.blocks
    assert len(blocks) == 4 * ROUNDS


@pytest.mark.parametrize(("columns", "missing"), [(0, "kind, cell_id, block"), (1, "kind, ")])
def test_a_table_without_the_columns_of_rows_is_refused(
    plain: Path, columns: int, missing: str
) -> None:
    record = Record.open(plain)
    text = written([row[:columns] for row in table(plain)]) if columns else ""
    with pytest.raises(RecordError, match=f"it lacks the columns {missing}"):
        run_table.read(text, record.plan, record.contents.builds)


TOUCHED = ("cell_id", "round", "wall_s", "user_s", "sys_s", "status", "warmup")
"""Columns in which one wrong field changes a claim or makes the table unreadable."""


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_one_character_changed_in_any_column_is_found_with_file_row_and_column(
    plain: Path, tmp_path: Path, step: int
) -> None:
    """The default run tests each `step`-th column and the ones that change a claim."""
    copy = copied(plain, tmp_path)
    rows = table(plain)
    at, run = rows[0].index("variant"), rows[0].index("run")
    number = next(
        n for n, row in enumerate(rows) if row[at] == "fast" and row[run] == "1" and n > 40
    )
    assert len(rows[0]) > 90
    for name in {*rows[0][::step], *TOUCHED}:
        column = rows[0].index(name)
        changed = [list(row) for row in rows]
        changed[number][column] = altered(rows[number][column])
        (copy / "runs.csv").write_text(written(changed), encoding="utf-8")
        result = verify_record(copy.parent, str(copy)).differences
        assert "runs.csv: changed" in result, name
        start = f"runs.csv: row {number + 1}, {name}: expected "
        assert any(line.startswith(start) for line in result), (name, result)
        if name in TOUCHED:
            affected = [
                x for x in result if x.startswith(("claims.json: c", "runs.csv cannot be read: "))
            ]
            assert affected, (name, result)


def test_only_the_claims_that_a_changed_run_affects_are_named(plain: Path, tmp_path: Path) -> None:
    copy = copied(plain, tmp_path)
    rows = table(plain)
    variant, wall = rows[0].index("variant"), rows[0].index("wall_s")
    for row in rows[1:]:
        if row[variant] == "slow":
            row[wall] = repr(float(row[wall]) * 1.2)
    (copy / "runs.csv").write_text(written(rows), encoding="utf-8")
    result = [
        x
        for x in verify_record(copy.parent, str(copy)).differences
        if x.startswith("claims.json: c")
    ]
    assert any("slow is " in x for x in result)
    assert not any("fast takes 10" in x and "slow" not in x for x in result)


@pytest.mark.parametrize(
    ("name", "content"), [("plan.json", b"{"), ("journal.jsonl", b"{}\n"), ("claims.json", b"null")]
)
def test_an_unreadable_file_is_a_difference(
    plain: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    copy = copied(plain, tmp_path)
    (copy / name).write_bytes(content)
    result = verify_record(tmp_path, str(copy))
    assert f"{name}: changed" in result.differences
    assert (
        "cannot be read" in result.differences[-1]
        or "does not begin with a header" in result.differences[-1]
    )


def test_an_inconsistent_file_is_reported_as_corruption(plain: Path, tmp_path: Path) -> None:
    copy = copied(plain, tmp_path)
    (copy / "plan.json").write_text((copy / "plan.json").read_text().replace(TEXT.id, "nowhere"))
    with pytest.raises(RecordError, match="is corrupted") as caught:
        report_record(tmp_path, str(copy))
    assert caught.value.code == "BX411"
    assert ("changed", "plan.json") in caught.value.details
    result = verify_record(tmp_path, str(copy)).differences
    assert result[0] == "plan.json: changed"
    assert "files were changed after it was written" in result[-1]


def test_a_failure_with_an_intact_record_is_not_reported_as_corruption(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = copied(plain, tmp_path)
    monkeypatch.setattr("bench_framework.workflow.pages.render_files", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report_record(tmp_path, str(copy))


def test_missing_columns_of_an_earlier_version_are_not_a_difference(plain: Path) -> None:
    rows = table(plain)
    text = written(rows)
    older = written([row[:-14] for row in rows])
    assert table_differences(older, text) == []
    assert table_differences(written([*rows[:1], *rows[2:]]), text)[0].startswith(
        f"expected {len(rows) - 1} rows"
    )
    assert table_differences(text.replace("wall_s", "while_s", 1), text) == [
        "unknown columns: while_s"
    ]


@pytest.mark.parametrize(
    ("missing", "reason"),
    [
        ({"position", "answer_source"}, "row 2: position: Field required"),
        ({"cell_id"}, "it lacks the columns cell_id"),
        ({"kind"}, "it lacks the columns kind"),
    ],
)
def test_a_table_without_required_columns_is_reported_and_the_journal_is_recomputed(
    plain: Path, tmp_path: Path, missing: set[str], reason: str
) -> None:
    copy = copied(plain, tmp_path)
    rows = table(plain)
    numbers = [n for n, name in enumerate(rows[0]) if name not in missing]
    shorter = [[row[n] for n in numbers] for row in rows]
    (copy / "runs.csv").write_text(written(shorter), encoding="utf-8")
    manifest.write_manifest(copy)
    result = verify_record(copy.parent, str(copy))
    assert result.differences[-1].startswith(f"runs.csv cannot be read: {reason}")
    assert result.source == "the journal"


@pytest.mark.parametrize(
    ("text", "cause", "fix"),
    [
        (None, "No such file or directory", "finish an interrupted run with `benchctl run FILE`"),
        ("[]", "it is not the manifest of a record", "restore manifest.json"),
        ("{}", "it is not the manifest of a record", "restore manifest.json"),
        ("{", "Expecting property name", "restore manifest.json"),
    ],
)
def test_an_unreadable_manifest_is_an_error_with_effect_and_fix(
    plain: Path, tmp_path: Path, text: str | None, cause: str, fix: str
) -> None:
    copy = copied(plain, tmp_path)
    (copy / "manifest.json").unlink()
    if text is not None:
        (copy / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=r"manifest\.json cannot be read") as raised:
        verify_record(copy.parent, str(copy))
    assert dict(raised.value.details)["cause"].startswith(cause)
    assert raised.value.effect == "the files of the record were not checked"
    assert (raised.value.fix or "").startswith(fix)
    warning = change_warning(copy.parent, str(copy)) or ""
    # A record without a manifest is unfinished, and commands may use it.
    assert warning.startswith("warning[BX415]: " if text else "")
    assert bool(warning) == (text is not None)


@pytest.mark.parametrize("name", ["cells.csv", "comparisons.csv", "builds.csv", "claims.json"])
def test_one_digit_changed_in_another_file_names_it(full: Path, tmp_path: Path, name: str) -> None:
    copy = copied(full, tmp_path)
    text = (copy / name).read_text(encoding="utf-8")
    at = [m.start() for m in re.finditer(r"\d", text)][len(text) // 7]
    (copy / name).write_text(
        text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :], encoding="utf-8"
    )
    assert f"{name}: changed" in verify_record(copy.parent, str(copy)).differences


def alone(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_page_alone_is_recomputed_from_its_runs(page: str, tmp_path: Path) -> None:
    result = verify(tmp_path, str(alone(tmp_path, page)))
    assert result == verify_page(tmp_path / "report.html")
    assert result.differences == ()
    assert result.notes == ()
    assert result.source == "the runs in the page"
    assert result.claims > 10


def test_one_digit_changed_anywhere_in_a_page_is_found_with_its_line(
    page: str, tmp_path: Path
) -> None:
    data = page.index('id="record-data"')
    link = page.index("data:application/x-bzip2"), page.index('">Every run')
    digits = [
        m.start()
        for m in re.finditer(r"\d", page)
        if m.start() < data and not link[0] < m.start() < link[1]
    ]
    # The expected page takes long to render and is the same for every change.
    for number, place in enumerate(random.Random(4).sample(digits, 20)):
        changed = page[:place] + str((int(page[place]) + 1) % 10) + page[place + 1 :]
        result = (
            list(verify_page(alone(tmp_path, changed)).differences)
            if (number < 2)
            else line_differences(changed, page)
        )
        assert len(result) == 1
        assert result[0].startswith(f"line {page[:place].count(chr(10)) + 1}: expected "), result


def test_lines_that_are_added_or_exchanged_are_found(page: str) -> None:
    first = page.index("<section ")
    assert line_differences(page[:first] + "<p hidden>\n" + page[first:], page)[-1].startswith(
        "expected "
    )
    lines = page.split("\n")
    lines[20:80] = reversed(lines[20:80])
    assert re.fullmatch(r"and \d+ more lines", line_differences("\n".join(lines), page)[-1])
    assert line_differences(page, page) == []


@pytest.mark.parametrize("part", ["runs", "record"])
def test_runs_that_cannot_be_read_are_one_difference(page: str, tmp_path: Path, part: str) -> None:
    pattern = r'x-bzip2;base64,([^"]*)"' if part == "runs" else r'id="record-data">([^<]*)<'
    match = require(re.search(pattern, page))
    for spoilt in (match[1][:-8], "", "????", packed("[" * 100_000), packed("{}")):
        differences = verify_page(alone(tmp_path, page.replace(match[1], spoilt))).differences
        assert len(differences) == 1, spoilt
        assert differences[0].startswith("the runs in the page: "), differences


def test_a_page_without_runs_is_one_clear_error(
    full: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = copied(full, tmp_path)
    report_record(tmp_path, str(copy), formats=("html",), embed_runs=False)
    assert verify_record(tmp_path, str(copy)).differences == ()
    path = alone(tmp_path, (copy / "report.html").read_text(encoding="utf-8"))
    assert run_command_line(["verify", str(path)]) == 2
    printed = " ".join(capsys.readouterr().err.split())
    assert "BX414" in printed
    assert "no runs in this page" in printed
    assert "use the record's folder instead" in printed
    with pytest.raises(RecordError, match="no runs in this page"):
        bench_framework.load(path)
    with pytest.raises(UsageError, match="cannot be read"):
        verify_page(tmp_path / "nothing.html")


def test_a_page_with_too_many_runs_contains_them_only_on_request(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = copied(full, tmp_path)
    monkeypatch.setattr(pages, "MOST_EMBEDDED", 100)
    for requested, contained in ((None, False), (True, True)):
        report_record(tmp_path, str(copy), formats=("html",), embed_runs=requested)
        assert ("record-data" in (copy / "report.html").read_text(encoding="utf-8")) == contained
        assert verify_record(tmp_path, str(copy)).differences == ()


@pytest.mark.parametrize(("old", "new"), [('"demo"', r'"\ud800"'), (TEXT.id, "nowhere")])
def test_a_plan_in_a_page_that_cannot_be_judged_is_one_difference(
    page: str, tmp_path: Path, old: str, new: str
) -> None:
    match = require(re.search(r'id="record-data">([^<]*)<', page))
    text = bz2.decompress(base64.b64decode(match[1])).decode()
    assert old in text
    forged = page.replace(match[1], packed(text.replace(old, new, 1)))
    [difference] = verify_page(alone(tmp_path, forged)).differences
    assert difference.startswith("the runs in the page: ")


def packed(text: str) -> str:
    return base64.b64encode(bz2.compress(text.encode())).decode()


def test_changed_runs_in_a_page_change_its_expected_text(
    full: Path, page: str, tmp_path: Path
) -> None:
    link = require(re.search(r'x-bzip2;base64,([^"]*)"', page))
    text = bz2.decompress(base64.b64decode(link[1])).decode()
    columns = {name: values for name, *values in csv.reader(io.StringIO(text, newline=""))}
    # The runs are sorted by configuration, and `seq` is their order in runs.csv.
    assert columns["cell_id"] == sorted(columns["cell_id"])
    seq = [*columns].index("seq")
    rows = sorted(map(list, zip(*columns.values(), strict=True)), key=lambda row: int(row[seq]))
    assert written([[*columns], *rows]) == (full / "runs.csv").read_text(encoding="utf-8")
    columns["wall_s"] = [
        repr(float(wall) * 1.5) if variant == "fast" else wall
        for variant, wall in zip(columns["variant"], columns["wall_s"], strict=True)
    ]
    forged = page.replace(link[1], packed(written([[n, *v] for n, v in columns.items()])))
    assert len(verify_page(alone(tmp_path, forged)).differences) >= 2


def test_embedding_runs_needs_the_html_page(full: Path) -> None:
    with pytest.raises(UsageError, match="--embed-runs"):
        report_record(full.parent, str(full), formats=("md",), embed_runs=True)


def test_a_page_with_its_runs_is_loaded_like_its_record(full: Path, tmp_path: Path) -> None:
    copy = copied(full, tmp_path)
    page = tmp_path / "elsewhere.html"
    shutil.copy(copy / "report.html", page)
    from_page, from_record = bench_framework.load(page), bench_framework.load(copy)
    assert isinstance(from_page, Frames)
    assert isinstance(from_record, Frames)
    for name in ("runs", "cells", "comparisons", "claims"):
        assert getattr(from_page, name).equals(getattr(from_record, name)), name
    assert from_page.env == from_record.env
    folder = from_page.path
    assert folder.is_dir()
    del from_page
    gc.collect()
    assert not folder.exists()


@pytest.mark.parametrize("command", ["verify", "--json verify"])
def test_the_command_prints_the_line_and_exits_with_1(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    changed = page.replace("configurations measured", "configurations sorted", 1)
    assert changed != page
    assert run_command_line([*command.split(), str(alone(tmp_path, changed))]) == 1
    assert "configurations sorted" in capsys.readouterr().out
    assert run_command_line([*command.split(), str(alone(tmp_path, page))]) == 0
    assert (
        "consistent with itself (1 file checked, " in " ".join(capsys.readouterr().out.split())
    ) == (command == "verify")


def test_the_command_prints_a_document(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["--json", "verify", str(alone(tmp_path, page))]) == 0
    document = valid("verify", capsys.readouterr().out)
    assert (document["files"], document["digest"]) == (1, None)


def test_a_page_of_custom_templates_contains_them_and_is_rendered_with_them(
    full: Path, tmp_path: Path
) -> None:
    copy = copied(full, tmp_path)
    custom = tmp_path / "custom"
    (custom / "partials").mkdir(parents=True)
    for name in ("report.html.j2", "partials/blocks.html.j2"):
        shipped = (assets.template_dir() / name).read_text(encoding="utf-8")
        (custom / name).write_text(shipped.replace("<h2>", "<h2 class='mine'>"), encoding="utf-8")
    report_record(tmp_path, str(copy), template=custom)
    assert verify_record(tmp_path, str(copy)).differences == ()
    text = (copy / "report.html").read_text(encoding="utf-8")
    assert "class='mine'" in text
    result = verify_page(alone(tmp_path, text))
    assert result.differences == ()
    assert "custom templates" in result.notes[0]
    changed = verify_page(alone(tmp_path, text.replace("class='mine'", "class='yours'", 1)))
    assert len(changed.differences) == 1


def test_a_page_of_another_version_is_noted(page: str, tmp_path: Path) -> None:
    older = re.sub(r'"rendered_by":"[^"]*"', '"rendered_by":"0.0.9"', page)
    result = verify_page(alone(tmp_path, older))
    assert result.notes[0].startswith("the page was rendered by benchctl 0.0.9, this is ")
    assert "not a sign of changed files" in result.notes[-1]


def judged_by(full: Path, tmp_path: Path, version: str) -> Path:
    """Return a copy of the record with results of another version and another noise floor."""
    copy = copied(full, tmp_path)
    path = copy / "claims.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["benchctl"] = version
    next(f for f in stored["judgement"]["floors"] if f["fraction"])["fraction"] *= 1.5
    path.write_text(json.dumps(stored), encoding="utf-8")
    return copy


def test_results_of_another_version_are_not_reported_as_damage(full: Path, tmp_path: Path) -> None:
    result = verify_record(tmp_path, str(judged_by(full, tmp_path, "0.0.9")))
    assert any("differs from the results recomputed" in line for line in result.differences)
    assert result.notes[0].startswith("results were computed by benchctl 0.0.9, this is ")
    assert "not a sign of changed files" in result.notes[-1]


def test_results_of_this_version_have_no_version_note(full: Path, tmp_path: Path) -> None:
    result = verify_record(tmp_path, str(judged_by(full, tmp_path, bench_framework.__version__)))
    assert any("differs from the results recomputed" in line for line in result.differences)
    assert result.notes == ()


def test_results_of_another_format_are_computed_again_by_report(full: Path, tmp_path: Path) -> None:
    copy = judged_by(full, tmp_path, "9.1.0")
    path = copy / "claims.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["schema_version"] = 1
    path.write_text(json.dumps(stored), encoding="utf-8")
    with Record.open(copy) as record, pytest.raises(RecordError, match="has format 1") as caught:
        record.judged()
    assert caught.value.code == "BX412"
    report_record(tmp_path, str(copy))
    with Record.open(copy) as record:
        assert require(record.judged()).benchctl == bench_framework.__version__


@pytest.mark.parametrize("text", ["", '{"schema_version": 1, "fil', None])
@pytest.mark.parametrize("command", ["report", "gate"])
def test_a_lost_manifest_is_not_replaced_by_a_new_one(
    full: Path, tmp_path: Path, command: str, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = copied(full, tmp_path)
    (copy / "manifest.json").unlink()
    if text is not None:
        (copy / "manifest.json").write_text(text, encoding="utf-8")
    (copy / "scenario.yaml").write_text("name: other\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    assert run_command_line([command, str(copy)]) == 2
    printed = capsys.readouterr().err
    assert f"error[BX411]: {copy}/manifest.json cannot be read" in printed
    assert "nothing was written, as a new manifest would hide changed files" in printed
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before
    assert run_command_line(["report", str(copy), "--format", "term"]) == 0


def test_a_report_keeps_the_digests_of_files_that_it_does_not_write(
    full: Path, tmp_path: Path
) -> None:
    copy = copied(full, tmp_path)
    (copy / "events.csv").unlink()
    (copy / "notes.txt").write_text("x", encoding="utf-8")
    (copy / "env.json").write_text("{}", encoding="utf-8")
    (copy / "report.md").write_text("forged", encoding="utf-8")
    report_record(tmp_path, str(copy))
    mismatches = manifest.check_manifest(copy)
    expected = [("env.json", "changed"), ("events.csv", "missing"), ("notes.txt", "unlisted")]
    assert [(mismatch.path, mismatch.what) for mismatch in mismatches] == expected


def test_a_changed_result_of_a_gate_remains_changed_after_a_report(
    full: Path, tmp_path: Path
) -> None:
    copy = copied(full, tmp_path)
    run_command_line(["gate", str(copy), "--no-confirm"])
    assert verify_record(tmp_path, str(copy)).differences == ()
    page = REPORT_PAGE.read_text(encoding="utf-8")
    listed = page.split("## Files of a record\n")[1].split("\n## ")[0]
    assert not [path.name for path in copy.iterdir() if f"`{path.name}" not in listed]
    (copy / "gate.json").write_text("{}", encoding="utf-8")
    report_record(tmp_path, str(copy))
    assert verify_record(tmp_path, str(copy)).differences == ("gate.json: changed",)


def test_the_report_of_an_interrupted_record_has_a_manifest(full: Path, tmp_path: Path) -> None:
    copy = copied(full, tmp_path)
    for name in ("manifest.json", "claims.json"):
        (copy / name).unlink()
    report_record(tmp_path, str(copy))
    assert verify_record(tmp_path, str(copy)).differences == ()
