"""The journal: the remains of a killed writer can be read, and damage is reported with its place."""

import errno
import os
import re
import shutil
import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.compare.stopping import CONCLUSIVE
from bench_framework.errors import MachineError, RecordError
from bench_framework.model.record.run import Event, Look
from bench_framework.store import layout, lines, wire
from bench_framework.store.journal import JournalWriter, read_journal
from bench_framework.store.records import Record
from tests.unit.store.conftest import block

AT = "2026-03-02T17:04:09.123Z"


def journal_of(record: Record) -> Path:
    record.close()
    return record.path / layout.JOURNAL


def test_what_was_appended_is_read(measured: Record) -> None:
    contents = read_journal(journal_of(measured))
    assert contents == measured.contents
    assert contents.complete
    assert (contents.warmups, contents.rounds) == ({measured.plan.inputs[0].id: 1},) * 2
    assert contents.elapsed_s == 2.5
    assert contents.starts == 1


def test_reading_needs_no_copy_of_the_file_and_stores_equal_parts_once(record: Record) -> None:
    for seq in range(500):
        record.append(lines.Measured(block(seq, "a" * 12, missing={"m": "x" * 4000})))
    record.append(lines.RoundEnd(record.plan.inputs[0].id, 1, False, AT, 1.5))
    path = journal_of(record)
    read_journal(path)  # creates what later calls use again
    tracemalloc.start()
    try:
        contents = read_journal(path)
        size, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert contents.blocks == record.contents.blocks
    assert peak - size < path.stat().st_size / 10
    first, *others = contents.blocks
    for other in others:
        assert other.answer is first.answer
        assert other.page_cache is first.page_cache
        assert other.receipts[0].effective is first.receipts[1].effective
        assert other.metrics is first.metrics


def test_a_torn_last_line_is_ignored(measured: Record) -> None:
    path = journal_of(measured)
    whole = path.read_bytes()
    expected = read_journal(path).blocks
    for cut in range(whole.rstrip(b"\n").rfind(b"\n") + 1, len(whole) - 1, 7):
        path.write_bytes(whole[:cut])
        assert read_journal(path).blocks == expected


def test_a_torn_line_is_removed_before_appending(record: Record) -> None:
    path = journal_of(record)
    path.write_bytes(path.read_bytes() + b'{"kind":"block","blo')
    with Record.open(record.path) as again:
        again.append(lines.Measured(block(0, "a" * 12)))
    assert [b.seq for b in read_journal(path).blocks] == [0]


def test_a_long_torn_line_is_removed_too(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"whole\n" + b"x" * 200_000)
    JournalWriter(path).close()
    assert path.read_bytes() == b"whole\n"
    path.write_bytes(b"x" * 200_000)
    JournalWriter(path).close()
    assert path.read_bytes() == b""


def test_blocks_of_an_interrupted_round_are_marked_as_skipped(
    record: Record, plan_input: str
) -> None:
    record.append(lines.Measured(block(0, "a" * 12)))
    record.append(lines.RoundEnd(plan_input, 1, warmup=False, at=AT, elapsed_s=1))
    record.append(lines.Measured(block(1, "a" * 12, 2)))
    path = journal_of(record)
    assert [b.status for b in read_journal(path).blocks] == ["ok", "skipped"]
    again = Record.open(record.path)
    assert again.contents.host is not None
    again.prepare(
        at=AT, host=again.contents.host, builds=again.contents.builds, inputs=again.contents.inputs
    )
    again.append(lines.Measured(block(2, "a" * 12, 2)))
    again.append(lines.RoundEnd(plan_input, 2, warmup=False, at=AT, elapsed_s=2))
    assert [b.status for b in read_journal(journal_of(again)).blocks] == ["ok", "skipped", "ok"]
    assert read_journal(path).starts == 2


@pytest.fixture
def plan_input(record: Record) -> str:
    return record.plan.inputs[0].id


def test_looks_events_repeats_and_drops_are_read(record: Record, plan_input: str) -> None:
    record.append(lines.Repeats(plan_input, {"a" * 12: 4}))
    record.append(lines.Looked(Look(plan_input, 0, 12, stopped=True, reason=CONCLUSIVE)))
    record.append(lines.Noted(Event("BX201", "m")))
    record.append(lines.Dropped("b" * 12, plan_input, 2, warmup=True, state="failed"))
    contents = read_journal(journal_of(record))
    assert contents.repeats == {plan_input: {"a" * 12: 4}}
    assert contents.stopped(plan_input)
    assert [event.code for event in contents.events] == ["BX201"]
    assert contents.dropped["b" * 12].state == "failed"


def test_a_repeated_look_reopens_a_measurement(record: Record, plan_input: str) -> None:
    back, gone, failed = (letter * 12 for letter in "abc")
    first = Look(plan_input, 0, 12, stopped=False, idle=(back, gone), dropped=(back, gone))
    record.append(lines.Looked(first))
    for cell_id, state in ((back, "idle"), (gone, "raced"), (failed, "failed")):
        record.append(
            lines.Dropped(cell_id, plan_input, 12, warmup=False, state=state)  # type: ignore[arg-type]
        )
    ended = Look(plan_input, 1, 18, stopped=True, reason=CONCLUSIVE)
    record.append(lines.Looked(ended))
    record.append(lines.End("2026-03-02T17:09:00.000Z", 1.0))
    assert record.contents.complete
    again = replace(ended, stopped=False, dropped=(gone,))
    record.append(lines.Looked(again))
    for contents in (record.contents, read_journal(journal_of(record))):
        assert contents.reopened
        assert not contents.complete
        assert not contents.stopped(plan_input)
        assert contents.looks == [replace(first, dropped=(gone,)), again]
        assert set(contents.dropped) == {gone, failed}


@pytest.mark.parametrize(
    "damage", [b"not json\n", b'{"kind":"dance"}\n', b'{"kind":"block"}\n', b"\n"]
)
def test_a_damaged_line_is_named_with_its_number(measured: Record, damage: bytes) -> None:
    path = journal_of(measured)
    journal = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*journal[:3], damage, *journal[3:]]))
    with pytest.raises(RecordError, match=r"journal\.jsonl:4 is damaged"):
        read_journal(path)


def test_a_number_that_no_counter_has_is_damage(measured: Record) -> None:
    path = journal_of(measured)
    damaged, count = re.subn(
        rb'"steal_ticks":[^,]+', b'"steal_ticks":' + b"9" * 400, path.read_bytes()
    )
    assert count
    path.write_bytes(damaged)
    with pytest.raises(RecordError, match=r"journal\.jsonl:\d+ is damaged"):
        read_journal(path)


def test_a_journal_without_a_header_is_refused(tmp_path: Path, measured: Record) -> None:
    path = tmp_path / "journal"
    with pytest.raises(RecordError, match="cannot be read"):
        read_journal(path)
    path.write_bytes(b"")
    with pytest.raises(RecordError, match="empty") as empty:
        read_journal(path)
    path.write_bytes(b"".join(journal_of(measured).read_bytes().splitlines(keepends=True)[1:]))
    with pytest.raises(RecordError, match="does not begin with a header") as headless:
        read_journal(path)
    for raised in (empty, headless):
        assert raised.value.effect == "the record is not used"
        assert raised.value.fix == "start over with --fresh"


@pytest.mark.parametrize("version", [wire.SCHEMA_VERSION - 1, wire.SCHEMA_VERSION + 1])
def test_a_record_of_another_format_is_refused(version: int, measured: Record) -> None:
    path = journal_of(measured)
    ours, other = (b'"schema_version":%d' % number for number in (wire.SCHEMA_VERSION, version))
    path.write_bytes(path.read_bytes().replace(ours, other, 1))
    with pytest.raises(RecordError, match=f"has format {version}") as caught:
        read_journal(path)
    assert caught.value.code == "BX412"


def test_a_disk_that_takes_half_a_line_leaves_the_journal_whole(
    measured: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = journal_of(measured)
    before = path.read_bytes()
    real = os.write

    def half(fd: int, text: bytes) -> int:
        return real(fd, text[: len(text) // 2])

    with closing(JournalWriter(path)) as writer:
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(MachineError, match="No space left") as caught:
            writer.write(lines.Noted(Event("BX1", "x")))
        monkeypatch.undo()
        assert path.read_bytes() == before
        writer.write(lines.Noted(Event("BX2", "y")))
    assert caught.value.code == "BX235"
    assert read_journal(path).events[-1].code == "BX2"


def test_the_output_of_the_last_run_is_deleted_if_the_journal_needs_its_space(
    measured: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured.raw.stdout.write_bytes(b"x" * 1000)
    real, calls = os.write, 0

    def full_at_first(fd: int, text: bytes) -> int:
        nonlocal calls
        calls += 1
        if measured.raw.stdout.stat().st_size:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(fd, text)

    monkeypatch.setattr(os, "write", full_at_first)
    measured.append(lines.Noted(Event("BX1", "kept")))
    monkeypatch.undo()
    assert calls == 2
    assert read_journal(journal_of(measured)).events[-1].message == "kept"


def test_a_record_that_was_removed_is_noticed(measured: Record) -> None:
    shutil.rmtree(measured.path)
    with pytest.raises(MachineError, match="was removed while it was measured"):
        measured.append(lines.Noted(Event("BX1", "x")))


def test_a_newer_comparison_with_earlier_records_replaces_the_one_before(record: Record) -> None:
    """A gate can reopen a record that has one already."""
    for code, text in (("BX347", "old"), ("BX201", "m"), ("BX347", "new")):
        record.append(lines.Noted(Event(code, text)))
    assert [e.message for e in record.contents.events] == ["m", "new"]
    assert [e.message for e in read_journal(journal_of(record)).events] == ["m", "new"]
