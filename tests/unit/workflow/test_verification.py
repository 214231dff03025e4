"""`verify`: one character changed anywhere in a record or a page is found."""

from __future__ import annotations

import base64
import bz2
import csv
import gc
import io
import json
import random
import re
import shutil
from typing import TYPE_CHECKING

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
from bench_framework.workflow.verification import (
    line_differences,
    table_differences,
    verify,
    verify_page,
    verify_record,
)
from tests.unit.workflow.measured_record import ROUNDS, TEXT, altered, table, written

if TYPE_CHECKING:
    from pathlib import Path


def test_a_record_is_as_it_was_written(plain: Path, full: Path) -> None:
    for path in (plain, full):
        found = verify_record(path.parent, str(path))
        assert found.differences == ()
        assert found.source == "runs.csv"
        assert found.claims > 10
        assert found.files >= 10


def test_blocks_are_read_back_from_the_table_to_the_last_bit(plain: Path) -> None:
    record = Record.open(plain)
    text = (plain / "runs.csv").read_text(encoding="utf-8")
    found = run_table.read(text, record.plan, record.contents.builds)
    assert list(found.blocks) == record.contents.blocks
    assert len(found.blocks) == 4 * ROUNDS


TOUCHED = ("cell_id", "round", "wall_s", "user_s", "sys_s", "status", "warmup")
"""Columns of which one wrong field changes a claim, or leaves no table that could be judged."""


def test_one_character_changed_in_any_column_is_found_with_file_row_and_column(
    plain: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "demo" / plain.name
    shutil.copytree(plain, copy)
    rows = table(plain)
    at, run = rows[0].index("variant"), rows[0].index("run")
    number = next(
        n for n, row in enumerate(rows) if row[at] == "fast" and row[run] == "1" and n > 40
    )
    assert len(rows[0]) > 90
    for column, name in enumerate(rows[0]):
        changed = [list(row) for row in rows]
        changed[number][column] = altered(rows[number][column])
        (copy / "runs.csv").write_text(written(changed), encoding="utf-8")
        found = verify_record(copy.parent, str(copy)).differences
        assert "runs.csv: changed" in found, name
        start = f"runs.csv: row {number + 1}, {name}: expected "
        assert any(line.startswith(start) for line in found), (name, found)
        if name in TOUCHED:
            told = [
                x for x in found if x.startswith(("claims.json: c", "runs.csv cannot be read: "))
            ]
            assert told, (name, found)


def test_the_claims_that_a_changed_run_changes_are_named_and_no_others(
    plain: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "demo" / plain.name
    shutil.copytree(plain, copy)
    rows = table(plain)
    variant, wall = rows[0].index("variant"), rows[0].index("wall_s")
    for row in rows[1:]:
        if row[variant] == "slow":
            row[wall] = repr(float(row[wall]) * 2)
    (copy / "runs.csv").write_text(written(rows), encoding="utf-8")
    found = [
        x
        for x in verify_record(copy.parent, str(copy)).differences
        if x.startswith("claims.json: c")
    ]
    assert any("slow takes" in x or "slow needs" in x for x in found)
    assert not any("fast needs 10" in x and "slow" not in x for x in found)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plan.json", b"{"),
        ("journal.jsonl", b"{}\n"),
        ("claims.json", b"null"),
    ],
)
def test_a_file_that_cannot_be_read_any_more_is_named_as_a_difference(
    plain: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(plain, copy)
    (copy / name).write_bytes(content)
    found = verify_record(tmp_path, str(copy))
    assert f"{name}: changed" in found.differences
    assert (
        "cannot be read" in found.differences[-1]
        or "does not begin with a header" in found.differences[-1]
    )


def test_a_file_that_was_edited_into_nonsense_is_blamed_and_no_defect_of_ours(
    plain: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(plain, copy)
    (copy / "plan.json").write_text((copy / "plan.json").read_text().replace(TEXT.id, "nowhere"))
    with pytest.raises(RecordError, match="is corrupted") as caught:
        report_record(tmp_path, str(copy))
    assert caught.value.code == "BX411"
    assert ("changed", "plan.json") in caught.value.details
    found = verify_record(tmp_path, str(copy)).differences
    assert found[0] == "plan.json: changed"
    assert "files were changed after it was written" in found[-1]


def test_what_fails_over_a_sound_record_is_not_blamed_on_it(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(plain, copy)
    monkeypatch.setattr("bench_framework.workflow.pages.render_files", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report_record(tmp_path, str(copy))


def test_a_table_of_an_earlier_version_lacks_columns_and_is_no_difference(plain: Path) -> None:
    rows = table(plain)
    text = written(rows)
    older = written([row[:-14] for row in rows])
    assert table_differences(older, text) == []
    assert not run_table.is_whole(older)
    assert table_differences(written([*rows[:1], *rows[2:]]), text)[0].startswith(
        f"expected {len(rows) - 1} rows"
    )
    assert table_differences(text.replace("wall_s", "while_s", 1), text) == [
        "unknown columns: while_s"
    ]


def test_a_record_of_an_earlier_version_is_judged_from_its_journal_and_says_so(
    plain: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "demo" / plain.name
    shutil.copytree(plain, copy)
    (copy / "runs.csv").write_text(written([row[:-14] for row in table(plain)]), encoding="utf-8")
    manifest.write_manifest(copy)
    found = verify_record(copy.parent, str(copy))
    assert found.differences == ()
    assert found.source == "the journal"
    (copy / "journal.jsonl").write_text(
        (copy / "journal.jsonl")
        .read_text(encoding="utf-8")
        .replace('"wall_s":[0.0', '"wall_s":[0.9', 1),
        encoding="utf-8",
    )
    again = verify_record(copy.parent, str(copy)).differences
    assert "journal.jsonl: changed" in again
    assert any(line.startswith("claims.json: c") and "the journal" in line for line in again)


@pytest.mark.parametrize("name", ["cells.csv", "comparisons.csv", "builds.csv", "claims.json"])
def test_one_digit_changed_in_another_file_names_it(full: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "demo" / full.name
    shutil.copytree(full, copy)
    text = (copy / name).read_text(encoding="utf-8")
    at = [m.start() for m in re.finditer(r"\d", text)][len(text) // 7]
    (copy / name).write_text(
        text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :], encoding="utf-8"
    )
    found = verify_record(copy.parent, str(copy)).differences
    assert f"{name}: changed" in found


def alone(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_page_alone_is_recomputed_from_its_runs(page: str, tmp_path: Path) -> None:
    found = verify(tmp_path, str(alone(tmp_path, page)))
    assert found == verify_page(tmp_path / "report.html")
    assert found.differences == ()
    assert found.notes == ()
    assert found.source == "the runs in the page"
    assert found.claims > 10


def test_one_digit_changed_anywhere_in_a_page_is_found_with_its_line(
    page: str, tmp_path: Path
) -> None:
    data = page.index('id="record-data"')
    link = page.index("data:application/x-bzip2"), page.index('">runs.csv.bz2')
    digits = [
        m.start()
        for m in re.finditer(r"\d", page)
        if m.start() < data and not link[0] < m.start() < link[1]
    ]
    for place in random.Random(4).sample(digits, 6):
        changed = page[:place] + str((int(page[place]) + 1) % 10) + page[place + 1 :]
        found = verify_page(alone(tmp_path, changed)).differences
        assert len(found) == 1
        assert found[0].startswith(f"line {page[:place].count(chr(10)) + 1}: expected "), found


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
    found = re.search(pattern, page)
    assert found is not None
    for spoilt in (found[1][:-8], "", "????", packed("[" * 100_000), packed("{}")):
        differences = verify_page(alone(tmp_path, page.replace(found[1], spoilt))).differences
        assert len(differences) == 1, spoilt
        assert differences[0].startswith("the runs in the page: "), differences


def test_a_page_without_runs_is_one_clear_error(
    full: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    report_record(tmp_path, str(copy), formats=("html",), embed_runs=False)
    assert verify_record(tmp_path, str(copy)).differences == ()
    path = alone(tmp_path, (copy / "report.html").read_text(encoding="utf-8"))
    assert run_command_line(["verify", str(path)]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "BX414" in told
    assert "no runs in this page" in told
    assert "use the record's folder instead" in told
    with pytest.raises(RecordError, match="no runs in this page"):
        bench_framework.load(path)
    with pytest.raises(UsageError, match="cannot be read"):
        verify_page(tmp_path / "nothing.html")


def test_a_page_with_too_many_runs_contains_them_only_if_asked(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    monkeypatch.setattr(pages, "MOST_EMBEDDED", 100)
    for asked, contained in ((None, False), (True, True), (False, False)):
        report_record(tmp_path, str(copy), formats=("html",), embed_runs=asked)
        text = (copy / "report.html").read_text(encoding="utf-8")
        assert ("record-data" in text) == contained
        assert verify_record(tmp_path, str(copy)).differences == ()


def packed(text: str) -> str:
    return base64.b64encode(bz2.compress(text.encode())).decode()


def test_runs_changed_within_a_page_change_what_it_should_say(
    full: Path, page: str, tmp_path: Path
) -> None:
    link = re.search(r'x-bzip2;base64,([^"]*)"', page)
    assert link is not None
    text = bz2.decompress(base64.b64decode(link[1])).decode()
    assert text == (full / "runs.csv").read_text(encoding="utf-8")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    variant, wall = rows[0].index("variant"), rows[0].index("wall_s")
    for row in rows[1:]:
        if row[variant] == "fast":
            row[wall] = repr(float(row[wall]) * 1.5)
    forged = page.replace(link[1], packed(written(rows)))
    assert len(verify_page(alone(tmp_path, forged)).differences) >= 2


def test_embedding_needs_the_page_that_it_is_for(full: Path) -> None:
    with pytest.raises(UsageError, match="--embed-runs"):
        report_record(full.parent, str(full), formats=("md",), embed_runs=True)


def test_a_page_that_carries_its_runs_is_loaded_as_its_record_is(
    full: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    page = tmp_path / "elsewhere.html"
    shutil.copy(copy / "report.html", page)
    carried, kept = bench_framework.load(page), bench_framework.load(copy)
    assert isinstance(carried, Frames)
    assert isinstance(kept, Frames)
    for name in ("runs", "cells", "comparisons", "claims"):
        assert getattr(carried, name).equals(getattr(kept, name)), name
    assert carried.env == kept.env
    folder = carried.path
    assert folder.is_dir()
    del carried
    gc.collect()
    assert not folder.exists()


@pytest.mark.parametrize("command", ["verify", "--json verify"])
def test_the_command_names_the_line_and_leaves_with_one(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    changed = page.replace("Holm-adjusted", "Bonferroni-adjusted", 1)
    assert changed != page
    assert run_command_line([*command.split(), str(alone(tmp_path, changed))]) == 1
    assert "Bonferroni" in capsys.readouterr().out
    assert run_command_line([*command.split(), str(alone(tmp_path, page))]) == 0
    assert ("unchanged (1 file checked, " in " ".join(capsys.readouterr().out.split())) == (
        command == "verify"
    )


def test_a_page_of_custom_templates_contains_them_and_is_rendered_with_them(
    full: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    own = tmp_path / "own"
    (own / "partials").mkdir(parents=True)
    for name in ("report.html.j2", "partials/blocks.html.j2"):
        shipped = (assets.template_dir() / name).read_text(encoding="utf-8")
        (own / name).write_text(shipped.replace("<h2>", "<h2 class='mine'>"), encoding="utf-8")
    report_record(tmp_path, str(copy), template=own)
    assert verify_record(tmp_path, str(copy)).differences == ()
    text = (copy / "report.html").read_text(encoding="utf-8")
    assert "class='mine'" in text
    found = verify_page(alone(tmp_path, text))
    assert found.differences == ()
    assert "custom templates" in found.notes[0]
    changed = verify_page(alone(tmp_path, text.replace("class='mine'", "class='yours'", 1)))
    assert len(changed.differences) == 1


def test_a_page_of_another_version_is_noted(page: str, tmp_path: Path) -> None:
    older = re.sub(r'"rendered_by":"[^"]*"', '"rendered_by":"0.0.9"', page)
    found = verify_page(alone(tmp_path, older))
    assert found.notes[0].startswith("the page was rendered by benchctl 0.0.9, this is ")
    assert "not a sign of changed files" in found.notes[-1]


def judged_by(full: Path, tmp_path: Path, version: str) -> Path:
    """A copy of the record whose judgement says that another version made it, with another figure."""
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    path = copy / "claims.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["benchctl"] = version
    floor = next(f for f in said["judgement"]["floors"] if f["fraction"])
    floor["fraction"] *= 1.5
    path.write_text(json.dumps(said), encoding="utf-8")
    return copy


def test_a_record_that_another_version_judged_is_not_called_damaged(
    full: Path, tmp_path: Path
) -> None:
    found = verify_record(tmp_path, str(judged_by(full, tmp_path, "0.0.9")))
    assert any("differs from the results recomputed" in line for line in found.differences)
    assert found.notes[0].startswith("results were computed by benchctl 0.0.9, this is ")
    assert "not a sign of changed files" in found.notes[-1]


def test_what_this_version_judged_has_no_such_excuse(full: Path, tmp_path: Path) -> None:
    found = verify_record(tmp_path, str(judged_by(full, tmp_path, bench_framework.__version__)))
    assert any("differs from the results recomputed" in line for line in found.differences)
    assert found.notes == ()


def test_a_judgement_that_a_later_version_wrote_otherwise_says_which(
    full: Path, tmp_path: Path
) -> None:
    copy = judged_by(full, tmp_path, "9.1.0")
    path = copy / "claims.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    said["judgement"]["status"] = "settled"
    path.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(RecordError, match=r"written by benchctl 9\.1\.0, and this is") as caught:
        report_record(tmp_path, str(copy))
    assert caught.value.code == "BX412"
