"""Search for records. A record continues only under the same conditions."""

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bench_framework.errors import MachineError, RecordError, UsageError
from bench_framework.extensions.importers import FILE
from bench_framework.model.plan.plan import Plan
from bench_framework.model.record.run import Preload
from bench_framework.store import layout, lines, manifest, wire
from bench_framework.store.finding import (
    find_records,
    find_steps,
    is_step,
    resolve,
    resolve_measured,
)
from bench_framework.store.records import Record, plan_sha256
from bench_framework.store.resuming import find_resumable, require_same
from bench_framework.workflow.cache import list_items
from tests.build import require
from tests.unit.store.conftest import BUILDS, HOST, PLAN, block

AT = "2026-03-02T17:04:09.123Z"


def create(root: Path, minute: int = 4, plan: Plan = PLAN) -> Record:
    return Record.create(
        root, plan, "x", started_at=f"2026-03-02T17:{minute:02}:09.123Z", benchctl="0.1.0"
    )


@pytest.fixture
def record(record: Record) -> Record:
    """Return an interrupted record with one complete round."""
    record.append(round_end(record))
    return record


def round_end(record: Record) -> lines.RoundEnd:
    return lines.RoundEnd(record.plan.inputs[0].id, 1, warmup=False, at=AT, elapsed_s=1.5)


def resumable_path(root: Path, plan: Plan = PLAN) -> Path | None:
    """Return the folder of the record that a run of the plan continues."""
    record = find_resumable(root, plan)
    return record.path if record else None


def test_records_are_named_by_their_minute_and_never_collide(tmp_path: Path) -> None:
    names = [create(tmp_path).path.name for _ in range(11)]
    assert names[:3] == ["20260302T1704Z", "20260302T1704Z-2", "20260302T1704Z-3"]
    assert all(layout.is_record_id(name) for name in names)
    assert [path.name for path in find_records(tmp_path)] == names


def test_other_folders_are_no_records(tmp_path: Path) -> None:
    record = create(tmp_path)
    (tmp_path / "demo" / "notes").mkdir()
    (tmp_path / "demo" / "20260302T1800Z").mkdir()  # killed before its first line
    (tmp_path / "README.md").write_text("")
    assert find_records(tmp_path) == [record.path]
    assert find_records(tmp_path / "nowhere") == []


def test_a_record_has_several_names(tmp_path: Path) -> None:
    first, second = create(tmp_path, 4), create(tmp_path, 5)
    assert resolve(tmp_path, "@last") == second.path
    assert resolve(tmp_path, "@prev") == first.path
    assert resolve(tmp_path, f"demo/{first.id}") == first.path
    assert resolve(tmp_path, "demo") == second.path
    assert resolve(tmp_path, str(first.path)) == first.path
    (first.path / "report.html").write_text("")
    assert resolve(tmp_path, str(first.path / "report.html")) == first.path


def test_the_folder_of_a_scenario_is_its_newest_record(tmp_path: Path) -> None:
    newest = [create(tmp_path / "results", minute).path for minute in (4, 5)][1]
    assert resolve(tmp_path / "elsewhere", str(newest.parent)) == newest
    empty = tmp_path / "results" / "features"
    empty.mkdir()
    for folder in (empty, empty.parent):
        with pytest.raises(UsageError, match="there is no record in the folder") as caught:
            resolve(tmp_path / "results", str(folder))
        assert newest.name not in caught.value.message


def test_where_rounds_are_needed_the_newest_record_with_rounds_is_used(tmp_path: Path) -> None:
    first, second = create(tmp_path, 4), create(tmp_path, 5)
    messages: list[str] = []
    assert resolve_measured(tmp_path, "@last", messages.append) == second.path
    for place in ("demo/20260302T1706Z", "published/20260302T1707Z"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / FILE).write_text("{}")
    assert messages == []
    published = tmp_path / "published" / "20260302T1707Z"
    assert resolve(tmp_path, "@last") == published
    assert resolve_measured(tmp_path, "@last", messages.append) == second.path
    assert messages == [
        f"@last is demo/{second.id}: published/20260302T1707Z was imported, and has no rounds"
    ]
    assert resolve(tmp_path, "@prev") == tmp_path / "demo" / "20260302T1706Z"
    assert resolve_measured(tmp_path, "@prev") == first.path
    assert resolve_measured(tmp_path, "demo") == second.path
    # A named record, or the only one, is selected. `Record.open` reports that it has no rounds.
    assert resolve_measured(tmp_path, "published", messages.append) == published
    assert resolve_measured(tmp_path, str(published), messages.append) == published
    assert len(messages) == 1
    with pytest.raises(RecordError, match="is an imported set"):
        Record.open(published)


def test_a_confirmation_of_a_gate_is_not_the_newest_record(tmp_path: Path) -> None:
    first = create(tmp_path, 4)
    second = create(tmp_path, 5, replace(PLAN, confirms=first.id))
    for name in ("@last", "demo"):
        assert resolve(tmp_path, name) == resolve_measured(tmp_path, name) == first.path
    assert resolve(tmp_path, f"demo/{second.id}") == second.path
    with pytest.raises(UsageError, match="@prev: there is 1 record"):
        resolve(tmp_path, "@prev")
    shutil.rmtree(first.path)
    assert resolve(tmp_path, "@last") == second.path


def test_steps_of_a_search_are_found_separately(tmp_path: Path) -> None:
    record = create(tmp_path, 4)
    step = create(tmp_path, 5, replace(PLAN, name="bisect/demo-a1b2c3"))
    assert find_records(tmp_path) == [record.path]
    assert find_steps(tmp_path) == [step.path]
    assert resolve(tmp_path, "@last") == resolve(tmp_path, "demo") == record.path
    assert resolve(tmp_path, f"bisect/demo-a1b2c3/{step.id}") == step.path
    assert (is_step(record.path), is_step(step.path)) == (False, True)
    # A search is resumed as a scenario is.
    step.prepare(at=AT, host=HOST, builds=(), inputs=())
    assert resumable_path(tmp_path, step.plan) == step.path
    draft = layout.draft_of(step.path)
    step.path.rename(draft)
    os.utime(draft, (0, 0))
    assert draft in {item.path for item in list_items(tmp_path, kinds=("scratch",))}


def test_a_draft_that_another_process_removes_meanwhile_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/20260101T0000Z", "a/.20260101T0001Z.part", "bisect/a/20260101T0002Z"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / layout.JOURNAL).touch()
    is_dir = Path.is_dir

    def removed_afterwards(path: Path) -> bool:
        result = is_dir(path)
        if path.name.endswith(".part"):
            shutil.rmtree(path)
        return result

    monkeypatch.setattr(Path, "is_dir", removed_afterwards)
    assert find_steps(tmp_path) == [tmp_path / "bisect/a/20260101T0002Z"]
    assert not (tmp_path / "a/.20260101T0001Z.part").exists()


def test_the_error_for_an_unknown_name_lists_the_records(tmp_path: Path) -> None:
    record = create(tmp_path)
    with pytest.raises(UsageError, match="there is no record `dmo`") as caught:
        resolve(tmp_path, "dmo")
    assert caught.value.message.endswith(f"`; the newest are: demo/{record.id}")
    with pytest.raises(UsageError, match="@prev: there is 1 record"):
        resolve(tmp_path, "@prev")
    with pytest.raises(UsageError, match="there is no record"):
        resolve(tmp_path, "x" * 5000)  # longer than any file system permits


def test_only_the_newest_and_only_an_interrupted_record_is_continued(
    tmp_path: Path, record: Record
) -> None:
    root = tmp_path / "results"
    assert resumable_path(root) == record.path
    record.append(lines.End(AT, 1.0))
    record.seal()
    assert find_resumable(root, PLAN) is None
    assert find_resumable(tmp_path / "nowhere", PLAN) is None


def test_a_finished_record_contains_no_part_of_a_file_of_a_killed_process(record: Record) -> None:
    part = record.path / ".env.json.4711.part"
    part.write_text("{")
    record.append(lines.End(AT, 1.0))
    record.seal()
    assert not part.exists()


def test_an_interrupted_record_is_continued_after_a_run_with_other_options(
    tmp_path: Path, record: Record
) -> None:
    root = tmp_path / "results"
    quick = replace(PLAN, measure=replace(PLAN.measure, rounds_min=1, rounds_max=1))
    finished = create(root, 9, quick)
    finished.prepare(at=AT, host=HOST, builds=BUILDS, inputs=())
    finished.append(lines.End(AT, 1.0))
    finished.seal()
    assert resumable_path(root) == record.path
    assert find_resumable(root, quick) is None
    assert find_resumable(root, replace(PLAN, scenario_sha256="7" * 64)) is None


def test_a_record_that_confirms_another_one_is_not_continued_by_a_run(tmp_path: Path) -> None:
    root = tmp_path / "elsewhere"
    second = create(root, 9, replace(PLAN, confirms="20260101T0000Z"))
    second.prepare(at=AT, host=HOST, builds=BUILDS, inputs=())
    second.append(lines.Measured(block(0, "a" * 12)))
    second.append(round_end(second))
    second.close()
    changed = "7" * 64
    assert find_resumable(root, replace(PLAN, scenario_sha256=changed)) is None
    again = replace(PLAN, scenario_sha256=changed, confirms="20260101T0000Z")
    assert resumable_path(root, again) == second.path


def test_a_record_that_another_command_measures_is_not_continued(
    tmp_path: Path, record: Record
) -> None:
    root = tmp_path / "results"
    with layout.in_use(record.path) as free:
        assert free
        assert find_resumable(root, PLAN) is None
        with layout.in_use(record.path) as free_again:
            assert not free_again
    assert resumable_path(root) == record.path


def test_a_record_without_a_complete_round_is_no_obstacle(tmp_path: Path) -> None:
    """It was interrupted in its first round. Then the crate, or the scenario, was corrected."""
    root = tmp_path / "elsewhere"
    begun = create(root, 9)
    begun.prepare(at=AT, host=HOST, builds=BUILDS, inputs=())
    begun.append(lines.Measured(block(0, "a" * 12, warmup=True)))
    begun.append(replace(round_end(begun), warmup=True))
    begun.append(lines.Measured(block(1, "a" * 12)))
    begun.close()
    continued = require(find_resumable(root, PLAN))
    # Its warm-up is that of the other program, so it is discarded.
    corrected = (replace(BUILDS[0], sha256="8" * 64), *BUILDS[1:])
    assert not require_same(continued, PLAN, HOST, corrected)
    assert require_same(continued, PLAN, HOST, BUILDS)
    assert find_resumable(root, replace(PLAN, scenario_sha256="7" * 64)) is None


def test_a_record_without_measurements_is_continued_by_the_same_scenario_only(
    tmp_path: Path,
) -> None:
    root = tmp_path / "elsewhere"
    begun = create(root, 9)
    begun.prepare(at=AT, host=HOST, builds=BUILDS, inputs=())
    begun.close()
    assert resumable_path(root) == begun.path
    assert find_resumable(root, replace(PLAN, scenario_sha256="7" * 64)) is None


def test_an_interrupted_record_is_not_continued_after_a_later_one_is_finished(
    tmp_path: Path, record: Record
) -> None:
    later = create(record.path.parents[1], 9)
    later.prepare(at=AT, host=HOST, builds=BUILDS, inputs=())
    later.append(lines.End(AT, 1.0))
    later.seal()
    assert find_resumable(tmp_path / "results", PLAN) is None


def test_a_record_without_its_report_is_continued(tmp_path: Path, record: Record) -> None:
    record.append(lines.End(AT, 1.0))
    record.close()
    continued = require(find_resumable(tmp_path / "results", PLAN))
    assert continued.contents.complete
    continued.prepare(at=AT, host=HOST, builds=BUILDS, inputs=())
    continued.seal()
    assert Record.open(continued.path).contents.complete
    assert find_resumable(tmp_path / "results", PLAN) is None


def test_an_interrupted_record_with_a_report_is_still_continued(
    tmp_path: Path, record: Record
) -> None:
    record.seal()  # `benchctl report` was called meanwhile
    continued = require(find_resumable(tmp_path / "results", PLAN))
    continued.prepare(at=AT, host=HOST, builds=BUILDS, inputs=())
    continued.append(lines.End(AT, 1.0))
    continued.close()
    # The writer was killed before it was sealed again. The old manifest must not pass for the new
    # one.
    assert find_resumable(tmp_path / "results", PLAN) is not None


@pytest.mark.parametrize("name", ["journal.jsonl", "plan.json"])
def test_a_missing_file_of_a_record_has_cause_effect_and_fix(record: Record, name: str) -> None:
    (record.path / name).unlink()
    with pytest.raises(RecordError) as caught:
        Record.open(record.path)
    error = caught.value
    assert error.message == f"{record.path / name} cannot be read"
    assert error.details == (("cause", "No such file or directory"),)
    assert error.effect == "the record is not used"
    assert str(error.fix).startswith("restore it from a copy of the record")


@pytest.mark.parametrize("name", ["journal.jsonl", "plan.json"])
def test_a_damaged_unfinished_record_is_named_and_not_continued(record: Record, name: str) -> None:
    damaged: list[tuple[Path, str]] = []
    root = record.path.parents[1]
    text = (record.path / name).read_text()
    (record.path / name).write_text(text[: len(text) // 2] + "\n{")
    assert (
        find_resumable(root, PLAN, lambda path, error: damaged.append((path, error.code))) is None
    )
    assert damaged == [(record.path, "BX411")]
    (record.path / "manifest.json").write_text("{}")  # it is finished
    assert (
        find_resumable(root, PLAN, lambda path, error: damaged.append((path, error.code))) is None
    )
    assert len(damaged) == 1


def test_the_same_conditions_are_no_obstacle(record: Record) -> None:
    moved = replace(PLAN, scenario_path="/another/checkout/demo.yaml")
    assert plan_sha256(moved) == plan_sha256(PLAN)
    require_same(record, moved, replace(HOST, load1=3.0, boot_id="later"), BUILDS)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("kernel", "6.2", "kernel 6.1 → 6.2"),
        ("governor", "powersave", "governor unknown → powersave"),
        ("variables", (("LD_PRELOAD", "x.so"),), "environment nothing set → LD_PRELOAD=x.so"),
        ("host_id", "0" * 12, f"host {'f' * 12} → {'0' * 12}"),
        ("hyperfine", "hyperfine 2.0.0", "hyperfine hyperfine 1.20.0 → hyperfine 2.0.0"),
    ],
)
def test_another_machine_is_an_obstacle(record: Record, field: str, value: str, words: str) -> None:
    with pytest.raises(RecordError, match="cannot continue") as caught:
        require_same(record, PLAN, replace(HOST, **{field: value}), BUILDS)  # type: ignore[arg-type]
    assert caught.value.code == "BX410"
    assert words in caught.value.message
    assert "--fresh" in str(caught.value.fix)


def test_another_input_is_an_obstacle(record: Record) -> None:
    inputs = record.contents.inputs
    require_same(record, PLAN, HOST, BUILDS, inputs)
    changed = [replace(item, sha256="9" * 64) for item in inputs]
    with pytest.raises(RecordError, match=r"cannot continue: input .* 777777777777 → 999999999999"):
        require_same(record, PLAN, HOST, BUILDS, changed)


def test_everything_that_changed_is_named(record: Record) -> None:
    with pytest.raises(RecordError) as caught:
        require_same(
            record,
            replace(PLAN, scenario_sha256="6" * 64),
            replace(HOST, kernel="6.2"),
            (replace(BUILDS[0], sha256="8" * 64), BUILDS[1]),
        )
    assert caught.value.message.startswith("cannot continue: scenario 555555555555 → 666666666666")
    expected = ["kernel", f"binary of build {BUILDS[0].id}"]
    assert [name for name, _ in caught.value.details] == expected


def test_another_preloaded_library_is_an_obstacle(tmp_path: Path) -> None:
    preload = Preload("mine", "/lib/mine.so", "7" * 64)
    preloaded = (replace(BUILDS[0], preload=preload), BUILDS[1])
    record = Record.create(tmp_path, PLAN, "name: demo\n", started_at=AT, benchctl="0.1.0")
    record.prepare(at=AT, host=HOST, builds=preloaded, inputs=())
    record.append(round_end(record))
    proved = replace(preload, allocations=9)
    require_same(record, PLAN, HOST, (replace(BUILDS[0], preload=proved), BUILDS[1]))
    other = (replace(BUILDS[0], preload=replace(preload, sha256="8" * 64)), BUILDS[1])
    with pytest.raises(RecordError, match=r"allocator of build .* 777777777777 → 888888888888"):
        require_same(record, PLAN, HOST, other)
    with pytest.raises(RecordError, match=r"allocator of build .* 777777777777 → none"):
        require_same(record, PLAN, HOST, BUILDS)


def test_other_options_are_another_plan(record: Record) -> None:
    with pytest.raises(RecordError, match="plan"):
        require_same(
            record, replace(PLAN, measure=replace(PLAN.measure, rounds_max=9)), HOST, BUILDS
        )


@pytest.mark.parametrize("name", ["", "folder", "fifo", "to-fifo", "loop", "file/x", "n" * 5000])
def test_an_output_that_is_no_file_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    os.mkfifo("fifo")
    Path("file").touch()
    Path("to-fifo").symlink_to("fifo")
    Path("loop").symlink_to("loop")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageError) as caught:
        layout.write_output(Path(name), "text")
    assert caught.value.effect == "nothing was written"
    assert sorted(tmp_path.iterdir()) == before
    assert Path("fifo").is_fifo()


def test_an_output_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("target")
    for text in ("first", "second"):
        layout.write_output(link, text)
        assert link.is_symlink()
        assert (tmp_path / "target").read_text() == text


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    layout.write_whole(path, "größe")
    layout.write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    layout.write_whole(path, (part for part in ("größe\n", "", "2")))
    assert path.read_text(encoding="utf-8") == "größe\n2"
    assert [item.name for item in path.parent.iterdir()] == ["file"]


def test_a_disk_that_refuses_is_an_error_and_leaves_no_half_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(MachineError, match=r"Not a directory|File exists") as caught:
        layout.write_whole(tmp_path / "file" / "x.json", "text")
    assert caught.value.code == "BX235"
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x").mkdir()
    (tmp_path / "folder" / "x" / "y").touch()
    with pytest.raises(MachineError, match="cannot be written"):
        layout.write_whole(tmp_path / "folder" / "x", "text")
    assert [item.name for item in (tmp_path / "folder").iterdir()] == ["x"]


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES]
)
def test_the_error_for_every_refusal_of_a_disk_has_a_fix(number: int) -> None:
    with pytest.raises(MachineError) as caught, layout.writing("/results"):
        raise OSError(number, os.strerror(number))
    assert caught.value.message == f"/results cannot be written: {os.strerror(number)}"
    full = number in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    assert ("free some space" in str(caught.value.fix)) is full
    assert caught.value.effect == "stored measurements are not changed"


def test_a_record_that_cannot_be_created_names_no_earlier_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / PLAN.name).write_text("in the way")
    with pytest.raises(MachineError, match="cannot be written") as caught:
        create(tmp_path)
    assert caught.value.effect == "nothing was measured"

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MachineError, match="cannot be written") as caught:
        create(tmp_path / "other")
    assert caught.value.effect == "nothing was measured"


def test_names_that_are_not_utf8_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not UTF-8"):
        create(tmp_path / os.fsdecode(b"r\xff"))
    with pytest.raises(UsageError, match="not UTF-8") as caught:
        create(tmp_path, plan=replace(PLAN, program=(os.fsdecode(b"/bin/\xff"),)))
    assert caught.value.exit_code == 2
    assert find_records(tmp_path) == []


def test_the_manifest_finds_every_change(measured: Record) -> None:
    measured.save()
    measured.seal()
    assert manifest.check_manifest(measured.path) == ()
    (measured.path / "runs.csv").write_text("forged")
    (measured.path / "events.csv").unlink()
    (measured.path / "more").write_text("")
    changes = {(item.path, item.what) for item in manifest.check_manifest(measured.path)}
    assert changes == {("runs.csv", "changed"), ("events.csv", "missing"), ("more", "unlisted")}


def test_entries_that_are_no_regular_files_are_named(measured: Record) -> None:
    manifest.write_manifest(measured.path)
    outside = measured.path.parent / "journal"
    (measured.path / "journal.jsonl").rename(outside)
    (measured.path / "journal.jsonl").symlink_to(outside)
    (measured.path / "everything").symlink_to("/")
    (measured.path / "loop").symlink_to("loop")
    os.mkfifo(measured.path / "pipe")
    (measured.path / "evil.html.part").write_text("")
    (measured.path / ".report.html.123.part").write_text("")  # of a killed benchctl
    changes = {(item.path, item.what) for item in manifest.check_manifest(measured.path)}
    assert changes == {
        ("journal.jsonl", "no regular file"),
        *((name, "unlisted") for name in ("everything", "loop", "pipe", "evil.html.part")),
    }


@pytest.mark.parametrize(
    "name", ["raw/a\nb", "raw/\x85b", "/etc/passwd", "raw/../a", "raw//a", "./a"]
)
def test_a_manifest_with_a_name_outside_the_folder_is_refused(measured: Record, name: str) -> None:
    manifest.write_manifest(measured.path)
    path = measured.path / "manifest.json"
    content = json.loads(path.read_text())
    content["files"][name] = "0" * 64
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError, match="cannot be read"):
        manifest.read_manifest(measured.path)


def test_two_files_cannot_be_listed_as_one(measured: Record) -> None:
    manifest.write_manifest(measured.path)
    path = measured.path / "manifest.json"
    content = json.loads(path.read_text())
    files = content["files"]
    one, other = "1" * 64, "2" * 64
    both = manifest.digest_of({**files, "raw/a": one, "raw/b": other})
    files[f"raw/a\n{other}  raw/b"] = one
    assert manifest.digest_of(files) == both
    path.write_text(json.dumps(content))
    with pytest.raises(RecordError, match="cannot be read"):
        manifest.read_manifest(measured.path)


@pytest.mark.parametrize("version", [1.9, "3", None])
def test_the_version_of_a_manifest_is_a_whole_number(measured: Record, version: object) -> None:
    manifest.write_manifest(measured.path)
    path = measured.path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": version}))
    with pytest.raises(RecordError, match="cannot be read"):
        manifest.read_manifest(measured.path)


def test_writing_the_manifest_again_does_not_accept_a_changed_measurement(measured: Record) -> None:
    measured.save()
    measured.seal()
    (measured.path / "report.md").write_text("a page")
    (measured.path / "scenario.yaml").write_text("forged")
    (measured.path / "env.json").unlink()
    manifest.write_manifest(measured.path)
    changes = {(item.path, item.what) for item in manifest.check_manifest(measured.path)}
    assert changes == {("scenario.yaml", "changed"), ("env.json", "missing")}


def test_a_manifest_of_another_format_is_refused(measured: Record) -> None:
    measured.seal()
    path = measured.path / layout.MANIFEST
    path.write_text(path.read_text().replace('"schema_version": 3', '"schema_version": 4'))
    with pytest.raises(RecordError, match="has format 4"):
        manifest.check_manifest(measured.path)


def test_the_error_reports_that_no_record_has_rounds(tmp_path: Path) -> None:
    published = tmp_path / "published" / "20260302T1707Z"
    published.mkdir(parents=True)
    (published / FILE).write_text("{}")
    with pytest.raises(UsageError, match="@last: there are 0 records with rounds"):
        resolve_measured(tmp_path, "@last")


def test_another_scenario_with_the_same_name_is_named(record: Record) -> None:
    other = replace(PLAN, scenario_sha256="1" * 64, scenario_path="copy.yaml")
    with pytest.raises(RecordError, match="is of another scenario named") as caught:
        require_same(record, other, HOST, BUILDS)
    assert caught.value.code == "BX410"
    assert ("this file", "copy.yaml") in caught.value.details
    assert "different names" in str(caught.value.fix)


def test_of_two_scenarios_in_one_minute_the_last_one_that_started_is_the_newest(
    tmp_path: Path,
) -> None:
    started = {
        "sort/20260302T1704Z": "09.4",
        "ab/20260302T1704Z-2": "41.0",
        "ab/20260302T1704Z": "20.1",
    }
    for name, second in started.items():
        (tmp_path / name).mkdir(parents=True)
        header = lines.Header(3, name, "demo", "", "", f"2026-03-02T17:04:{second}Z", "0.1.0")
        (tmp_path / name / "journal.jsonl").write_bytes(wire.dump_line(header))
    (tmp_path / "zip" / "20260302T1703Z").mkdir(parents=True)
    (tmp_path / "zip" / "20260302T1703Z" / "journal.jsonl").write_text("damaged")
    names = [str(path.relative_to(tmp_path)) for path in find_records(tmp_path)]
    assert names == [
        "zip/20260302T1703Z",
        "sort/20260302T1704Z",
        "ab/20260302T1704Z",
        "ab/20260302T1704Z-2",
    ]
    assert resolve(tmp_path, "@last").parent.name == "ab"
