"""Tests of what killed processes and full disks leave: it is listed, removed, or never written."""

import contextlib
import errno
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.errors import MachineError
from bench_framework.execution.machine import lock
from bench_framework.execution.process import left_scratch_folders, scratch_folder
from bench_framework.execution.progress import SilentObserver, Update, Waiting
from bench_framework.model.record.profile import Frame, Profile, Stack
from bench_framework.store import finding, layout
from bench_framework.store.records import Record, write_profile
from bench_framework.workflow import cache
from bench_framework.workflow.gate import gate_record
from bench_framework.workflow.records.verification import verify_record
from tests.unit.workflow.measured_record import AT, copied

NO_PROCESS = 2**22 + 1
"""Larger than any process id."""


@pytest.fixture(autouse=True)
def temporary_folder(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hide what other processes left in the machine's temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("tmp")))


def test_scratch_folders_of_killed_processes_are_listed_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / f"benchctl-{NO_PROCESS}-abc"
    (left / "deep").mkdir(parents=True)
    (left / "stdout").write_bytes(b"x" * 1000)
    (tmp_path / "benchctl-bug-1.txt").write_text("trace")
    (tmp_path / "benchctl-notes-x").mkdir()
    with scratch_folder() as used:
        assert Path(used).name.startswith(f"benchctl-{os.getpid()}-")
        assert left_scratch_folders() == [left]
        assert run_command_line(["clean", "scratch"]) == 0
        assert run_command_line(["clean", "--yes", "scratch"]) == 0
        assert not left.exists()
        assert Path(used).is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {"benchctl-bug-1.txt", "benchctl-notes-x"}


def test_a_killed_import_leaves_no_empty_record_and_its_draft_is_listed(tmp_path: Path) -> None:
    with layout.new_folder(tmp_path / "set", AT) as (final, draft):
        # This is the state after a kill at this moment.
        (draft / "report.md").write_text("words")
        assert not final.exists()
        assert finding.find_records(tmp_path, without_rounds=True) == []
        assert cache.list_items(tmp_path, kinds=("scratch",), older_s=-1) == ()
        os.utime(draft, (0, 0))
        os.utime(draft / "report.md", (0, 0))
        assert [i.path for i in cache.list_items(tmp_path, kinds=("scratch",))] == [draft]
        for number in (2, 3):
            with layout.new_folder(tmp_path / "set", AT) as (other, _):
                assert other.name == f"{final.name}-{number}"
    assert (final / "report.md").read_text() == "words"
    assert not draft.exists()


def test_a_later_record_of_a_minute_has_a_later_name(tmp_path: Path) -> None:
    """The host of a fleet names its record in the same minute. Its number may be the first one."""
    for numbers, suffix in ((range(2, 9), "-2"), (layout.NUMBERS, "-3"), (range(2, 9, 2), "-4")):
        with layout.new_folder(tmp_path / "set", AT, numbers) as (folder, _):
            assert folder.name.removeprefix(layout.record_id(AT)) == suffix


def full_disk_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the n-th flush of a file fail, as on a full disk."""
    calls = 0
    fsync = os.fsync

    def failing(file: int) -> None:
        nonlocal calls
        calls += 1
        if calls == number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(file)

    monkeypatch.setattr(os, "fsync", failing)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_full_disk_leaves_no_file_of_the_gate_outside_of_the_manifest(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = copied(full, tmp_path)
    before = {file.name for file in path.iterdir()}
    with monkeypatch.context() as patch:
        full_disk_at(number, patch)
        with pytest.raises(MachineError) as caught:
            gate_record(path.parent.parent, str(path), confirm=False, observer=SilentObserver())
        assert caught.value.code == "BX235"
    assert {file.name for file in path.iterdir()} == before
    assert verify_record(tmp_path, str(path)).differences == ()


def test_a_full_disk_keeps_the_files_of_an_earlier_gate(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copied(full, tmp_path)
    gate_record(path.parent.parent, str(path), confirm=False, observer=SilentObserver())
    with monkeypatch.context() as patch:
        full_disk_at(1, patch)
        with pytest.raises(MachineError):
            gate_record(path.parent.parent, str(path), confirm=False, observer=SilentObserver())
    assert (path / "gate.json").is_file()
    assert verify_record(tmp_path, str(path)).differences == ()


def test_files_are_written_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout.write_all(tmp_path, {"a": "1", "b/c": "2"})
    with monkeypatch.context() as patch:
        full_disk_at(2, patch)
        with pytest.raises(MachineError):
            layout.write_all(tmp_path, {"a": "3", "b/c": "4"})
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "b", "c"]
    assert (tmp_path / "a").read_text() + (tmp_path / "b" / "c").read_text() == "12"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_full_disk_leaves_no_folder_of_a_record_that_could_not_be_created(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    plan = Record.open(plain).plan
    with monkeypatch.context() as patch:
        full_disk_at(number, patch)
        with pytest.raises(MachineError) as caught:
            Record.create(tmp_path, plan, "name: demo\n", started_at=AT, benchctl="0.1.0")
        assert caught.value.code == "BX235"
    assert list(tmp_path.iterdir()) == []
    record = Record.create(tmp_path, plan, "name: demo\n", started_at=AT, benchctl="0.1.0")
    assert finding.find_records(tmp_path) == [record.path]
    assert record.raw.root.is_dir()


def test_a_killed_clean_leaves_drafts_and_no_half_record_or_checkout(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copied(plain, tmp_path)
    results, root = path.parent.parent, tmp_path / "cache"
    monkeypatch.setenv("BENCHCTL_CACHE", str(root))
    monkeypatch.setattr(lock, "FOLDERS", (tmp_path,))  # measurements of others do not matter here
    checkout = root / "revisions" / "key"
    (checkout / "commit").mkdir(parents=True)

    def killed(folder: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        for item in cache.list_items(results, kinds=("records", "builds")):
            with pytest.raises(KeyboardInterrupt):
                cache.remove_items([item], SilentObserver())
    assert finding.find_records(results) == []
    assert not checkout.exists()
    drafts = [layout.draft_of(path), layout.draft_of(checkout)]
    assert all(draft.is_dir() for draft in drafts)
    os.utime(drafts[0], (0, 0))
    left = cache.list_items(results, kinds=("scratch", "builds"))
    assert {item.path for item in left} == set(drafts)
    cache.remove_items(left, SilentObserver())
    assert not any(draft.exists() for draft in drafts)


def test_clean_waits_until_no_other_process_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHCTL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lock, "FOLDERS", (tmp_path,))
    program = tmp_path / "cache" / "binaries" / "digest"
    program.mkdir(parents=True)
    items = cache.list_items(tmp_path, kinds=("binaries",))
    reasons = []

    with contextlib.ExitStack() as measuring:
        measuring.enter_context(lock.MachineLock("demo", SilentObserver(), shared=True))

        class Recorder:
            def notify(self, update: Update) -> None:
                assert isinstance(update, Waiting)
                assert program.is_dir()
                reasons.append(update.reason)
                measuring.close()

        cache.remove_items(items, Recorder())
    assert [reason.partition(" (")[0] for reason in reasons] == ["demo"]
    assert not program.exists()


def test_clean_reports_what_it_could_not_remove(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(plain, tmp_path)

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "replace", refuse)
    assert run_command_line(["clean", "--dir", str(path.parent.parent), "--yes", "records"]) == 3
    out, err = capsys.readouterr()
    assert "1 item could not be removed" in err
    assert "Permission denied" in err
    assert "removed:" not in out
    assert verify_record(tmp_path, str(path)).differences == ()


def test_clean_removes_no_record_that_another_process_measures(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copied(plain, tmp_path)
    results = path.parent.parent
    monkeypatch.setattr(lock, "FOLDERS", (tmp_path,))
    items = cache.list_items(results, kinds=("records",))
    assert [item.path for item in items] == [path]
    with layout.in_use(path):
        assert cache.list_items(results, kinds=("records",)) == ()
        with pytest.raises(MachineError) as caught:
            cache.remove_items(items, SilentObserver())
        assert caught.value.code == "BX235"
    assert verify_record(tmp_path, str(path)).differences == ()
    cache.remove_items(items, SilentObserver())
    assert not path.exists()


def test_suites_and_self_tests_are_removed_only_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "FOLDERS", (tmp_path,))
    folders = {}
    for kind in ("suites", "self-tests"):
        (tmp_path / kind / "notes").mkdir(parents=True)
        with layout.new_folder(tmp_path / kind, AT) as (folder, draft):
            (draft / "result.json").write_text("{}")
        folders[kind] = folder
        # A scenario may have this name.
        with layout.new_folder(tmp_path / kind, AT) as (_, draft):
            (draft / layout.JOURNAL).touch()
    assert not {item.path for item in cache.list_items(tmp_path)} & {*folders.values()}
    for kind, folder in folders.items():
        items = cache.list_items(tmp_path, kinds=(kind,))
        assert [item.path for item in items] == [folder]
        with layout.in_use(folder):
            assert cache.list_items(tmp_path, kinds=(kind,)) == ()
            with pytest.raises(MachineError):
                cache.remove_items(items, SilentObserver())
        cache.remove_items(items, SilentObserver())
        assert not folder.exists()
        assert len([*(tmp_path / kind).iterdir()]) == 2


def test_a_full_disk_keeps_the_earlier_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Profile(
        *("cell", "perf", "perf 6", "cpu-clock", 997, None, (10,), 1, 0, None, None),
        frames=(Frame("work"),),
        stacks=(Stack(1, 10, (0,)),),
    )
    write_profile(tmp_path, first)
    place = tmp_path / "profiles" / "cell"
    (place / "flame.svg").write_text("of the first profile")
    before = (place / "profile.json").read_bytes()
    with monkeypatch.context() as patch:
        full_disk_at(1, patch)
        with pytest.raises(MachineError):
            write_profile(tmp_path, replace(first, runs=(20,)))
    assert (place / "profile.json").read_bytes() == before
    write_profile(tmp_path, replace(first, runs=(20,)))
    assert [file.name for file in place.iterdir()] == ["profile.json"]
    assert (place / "profile.json").read_bytes() != before
