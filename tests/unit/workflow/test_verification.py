"""`verify`: one character changed anywhere in a record or a page is found, and the claim that it touches is named."""

from __future__ import annotations

import csv
import gc
import io
import random
import re
import shutil
from typing import TYPE_CHECKING

import pytest

import bench_framework
from bench_framework import assets
from bench_framework.cli.app import run_command_line
from bench_framework.errors import RecordError, UsageError
from bench_framework.report.page_reading import quoted
from bench_framework.store import manifest, run_table
from bench_framework.store.frames import Frames
from bench_framework.store.records import Record
from bench_framework.workflow.page_verification import page_differences, verify_page
from bench_framework.workflow.pages import report_record
from bench_framework.workflow.verification import table_differences, verify, verify_record
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
    number = next(n for n, row in enumerate(rows) if row[at] == "fast" and row[run] == "1" and n > 40)
    assert len(rows[0]) > 90
    for column, name in enumerate(rows[0]):
        changed = [list(row) for row in rows]
        changed[number][column] = altered(rows[number][column])
        (copy / "runs.csv").write_text(written(changed), encoding="utf-8")
        found = verify_record(copy.parent, str(copy)).differences
        assert "runs.csv: changed" in found, name
        named = f"runs.csv: row {number + 1}, {name} is "
        assert any(line.startswith(named) for line in found), (name, found)
        if name in TOUCHED:
            told = [x for x in found if x.startswith(("claims.json: c", "runs.csv cannot be read: "))]
            assert told, (name, found)


def test_the_claims_that_a_changed_run_changes_are_named_and_no_others(plain: Path, tmp_path: Path) -> None:
    copy = tmp_path / "demo" / plain.name
    shutil.copytree(plain, copy)
    rows = table(plain)
    variant, wall = rows[0].index("variant"), rows[0].index("wall_s")
    for row in rows[1:]:
        if row[variant] == "slow":
            row[wall] = repr(float(row[wall]) * 2)
    (copy / "runs.csv").write_text(written(rows), encoding="utf-8")
    found = [x for x in verify_record(copy.parent, str(copy)).differences if x.startswith("claims.json: c")]
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
        "cannot be read" in found.differences[-1] or "does not begin with a header" in found.differences[-1]
    )


def test_a_file_that_was_edited_into_nonsense_is_blamed_and_no_defect_of_ours(
    plain: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(plain, copy)
    (copy / "plan.json").write_text((copy / "plan.json").read_text().replace(TEXT.id, "nowhere"))
    with pytest.raises(RecordError, match="was changed after it was written") as caught:
        report_record(tmp_path, str(copy))
    assert caught.value.code == "BX411"
    assert ("changed", "plan.json") in caught.value.details
    found = verify_record(tmp_path, str(copy)).differences
    assert found[0] == "plan.json: changed"
    assert "was changed after it was written" in found[-1]


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
    assert table_differences(written([*rows[:1], *rows[2:]]), text)[0].startswith(f"{len(rows) - 2} rows")
    assert table_differences(text.replace("wall_s", "while_s", 1), text) == [
        "the columns while_s are none of this table's"
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
        (copy / "journal.jsonl").read_text(encoding="utf-8").replace('"wall_s":[0.0', '"wall_s":[0.9', 1),
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
    (copy / name).write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :], encoding="utf-8")
    found = verify_record(copy.parent, str(copy)).differences
    assert f"{name}: changed" in found


def alone(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_page_alone_follows_from_its_claims_and_says_that_no_runs_were_at_hand(
    page: str, tmp_path: Path
) -> None:
    found = verify(tmp_path, str(alone(tmp_path, page)))
    assert found == verify_page(tmp_path / "report.html")
    assert found.differences == ()
    assert found.runs is None
    assert found.sentences >= 5
    assert found.numbers >= 8


def spots(page: str) -> list[tuple[int, str, str]]:
    """Place, claim and kind of every digit that a page quotes of a claim, in what is shown and what is held."""
    found = []
    for match in re.finditer(
        r'<(span|data)(?P<head>[^>]*data-claim="(?P<id>c\d+)"[^>]*)>(?P<text>.*?)</\1>', page, re.DOTALL
    ):
        places = [*range(match.start("text"), match.end("text"))]
        if value := re.search(r'value="([^"]*)"', match["head"]):
            places += range(match.start("head") + value.start(1), match.start("head") + value.end(1))
        found += [(i, match["id"], match[1]) for i in places if page[i].isdigit()]
    return found


def test_one_digit_changed_in_a_number_or_a_sentence_names_the_claim(page: str) -> None:
    every = spots(page)
    chance = random.Random(3)
    assert {kind for _, _, kind in every} == {"span", "data"}
    assert len(every) > 200
    for place, claim, _ in chance.sample(every, 60):
        digit = str((int(page[place]) + chance.randint(1, 9)) % 10)
        changed = page[:place] + digit + page[place + 1 :]
        found = page_differences(changed)
        assert any(line.startswith(f"{claim}: ") for line in found), (
            claim,
            page[place - 80 : place + 20],
            found,
        )


def test_one_digit_changed_anywhere_else_in_a_page_breaks_the_seal_of_its_part(page: str) -> None:
    quotes = {place for place, _, _ in spots(page)}
    digits = [m.start() for m in re.finditer(r"\d", page) if m.start() not in quotes]
    body = page.index("</main>")
    for place in random.Random(4).sample([d for d in digits if d < body], 25):
        changed = page[:place] + str((int(page[place]) + 1) % 10) + page[place + 1 :]
        assert any("its seal differs" in line for line in page_differences(changed)), page[
            place - 60 : place + 20
        ]


def test_a_sentence_moved_to_another_claim_is_named(page: str) -> None:
    first, second = re.findall(r'<span class="claim" data-claim="(c\d+)">', page)[:2]
    assert first != second
    changed = page.replace(f'data-claim="{first}"', f'data-claim="{second}"', 1)
    assert any(line.startswith(f"{second}: the page says") for line in page_differences(changed))
    unknown = page.replace(f'data-claim="{first}"', 'data-claim="c9999"', 1)
    assert any(line.startswith("c9999: no such claim") for line in page_differences(unknown))


def test_a_page_without_claims_or_seals_cannot_pass(page: str, tmp_path: Path) -> None:
    bare = re.sub(r'<script type="application/json" id="seals">.*?</script>\n', "", page)
    assert bare != page
    assert page_differences(bare) == ["the page carries no seals"]
    mute = page.replace('id="claims"', 'id="claim"')
    with pytest.raises(RecordError, match="carries no claims"):
        verify_page(alone(tmp_path, mute))
    with pytest.raises(UsageError, match="cannot be read"):
        verify_page(tmp_path / "nothing.html")


def test_a_page_that_carries_its_runs_is_recomputed_from_them(full: Path, page: str, tmp_path: Path) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    report_record(tmp_path, str(copy), formats=("html", "md"), embed_runs=True)
    assert verify_record(tmp_path, str(copy)).differences == ()
    carrying = (copy / "report.html").read_text(encoding="utf-8")
    assert 'download="runs.csv"' in carrying
    assert 'download="runs.csv"' not in page
    found = verify_page(alone(tmp_path, carrying))
    assert found.differences == ()
    assert found.runs == 2 * 4 * ROUNDS
    assert len(quoted(carrying)) == len(quoted(page))


def test_runs_changed_within_a_page_change_the_claims_that_are_named(full: Path, tmp_path: Path) -> None:
    import base64  # noqa: PLC0415 -- for this test alone

    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    report_record(tmp_path, str(copy), formats=("html",), embed_runs=True)
    carrying = (copy / "report.html").read_text(encoding="utf-8")
    link = re.search(r"base64,([^\"]*)\"", carrying)
    assert link is not None
    rows = list(csv.reader(io.StringIO(base64.b64decode(link[1]).decode(), newline="")))
    assert written(rows) == (copy / "runs.csv").read_text(encoding="utf-8")
    variant, wall = rows[0].index("variant"), rows[0].index("wall_s")
    for row in rows[1:]:
        if row[variant] == "fast":
            row[wall] = repr(float(row[wall]) * 1.5)
    forged = carrying.replace(link[1], base64.b64encode(written(rows).encode()).decode())
    found = verify_page(alone(tmp_path, forged)).differences
    assert any("does not follow from the runs in the page" in line and "fast" in line for line in found)
    broken = carrying.replace(link[1], link[1][:-8])
    lines_ = verify_page(alone(tmp_path, broken)).differences
    assert any(line.startswith("the runs in the page: ") for line in lines_)


def test_embedding_needs_the_page_that_it_is_for(full: Path) -> None:
    with pytest.raises(UsageError, match="--embed-runs"):
        report_record(full.parent, str(full), formats=("md",), embed_runs=True)


def test_a_page_that_carries_its_runs_is_loaded_as_its_record_is(full: Path, tmp_path: Path) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    report_record(tmp_path, str(copy), formats=("html",), embed_runs=True)
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
    with pytest.raises(RecordError, match="carries no runs"):
        bench_framework.load(alone(tmp_path, (full / "report.html").read_text(encoding="utf-8")))


@pytest.mark.parametrize("command", ["verify", "--json verify"])
def test_the_command_names_the_claim_and_leaves_with_one(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    place, claim, _ = next(spot for spot in spots(page) if spot[2] == "data")
    changed = page[:place] + str((int(page[place]) + 1) % 10) + page[place + 1 :]
    assert run_command_line([*command.split(), str(alone(tmp_path, changed))]) == 1
    out = capsys.readouterr().out
    assert f"{claim}: " in out
    assert run_command_line([*command.split(), str(alone(tmp_path, page))]) == 0
    assert ("the runs were not at hand" in " ".join(capsys.readouterr().out.split())) == (command == "verify")


def test_a_page_of_a_users_templates_is_recomputed_and_not_rendered_again(full: Path, tmp_path: Path) -> None:
    copy = tmp_path / "results" / "demo" / full.name
    shutil.copytree(full, copy)
    own = tmp_path / "own"
    own.mkdir()
    shipped = (assets.template_dir() / "report.css").read_text(encoding="utf-8")
    (own / "report.css").write_text(shipped + "\nh1 { letter-spacing: 0; }\n", encoding="utf-8")
    report_record(tmp_path, str(copy), formats=("html", "md"), embed_runs=True, template=own)
    assert verify_record(tmp_path, str(copy)).differences == ()
    found = verify_page(alone(tmp_path, (copy / "report.html").read_text(encoding="utf-8")))
    assert found.differences == ()
    assert found.own_templates
    assert found.runs == 2 * 4 * ROUNDS
