"""Tests that changed, missing or replaced files of a record give a difference or one clear error."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.errors import RecordError
from bench_framework.execution import progress
from bench_framework.model.plan.invocation import Invocation
from bench_framework.model.record.run import Observation
from bench_framework.store import manifest, run_table
from bench_framework.store.journal import _CHAIN, _chained
from bench_framework.store.lines import Counted, Limit
from bench_framework.store.records import Record
from bench_framework.workflow import run
from bench_framework.workflow.pages import judge_record, report_record
from bench_framework.workflow.records.verification import verify_record
from bench_framework.workflow.run import require_plan
from bench_framework.workflow.run_options import RunOptions
from tests.unit.workflow.measured_record import AT, TEXT, copied, made_plan


def sealed_again(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    manifest.write_manifest(folder)


NESTED = "[" * 100_000
MANIFESTS: dict[str, Callable[[str], str]] = {
    "cut": lambda text: text[: len(text) // 2],
    "empty": lambda _: "",
    "a list": lambda _: "[]",
    "nested": lambda _: NESTED,
    "an infinite version": lambda text: re.sub(
        r'"schema_version": \d+', '"schema_version": Infinity', text
    ),
    "a version that is not a number": lambda text: re.sub(
        r'"schema_version": \d+', '"schema_version": NaN', text
    ),
    "invalid digests": lambda text: re.sub(r'"runs.csv": "[0-9a-f]*"', '"runs.csv": 7', text),
    "half a character": lambda text: text.replace('"raw/', r'"raw/\ud800', 1),
    "half a character in a digest": lambda text: text.replace('": "', r'": "\ud800', 1),
    "a file twice": lambda text: text.replace('"files": {', '"files": {"runs.csv": "0",', 1),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_an_invalid_manifest_is_one_error(
    plain: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(plain, tmp_path)
    text = (path / "manifest.json").read_text(encoding="utf-8")
    (path / "manifest.json").write_text(MANIFESTS[name](text), encoding="utf-8")
    with pytest.raises(RecordError, match=r"manifest\.json cannot be read"):
        verify_record(tmp_path, str(path))
    assert run_command_line(["verify", str(path)]) in {2, 3}
    assert "BX411" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["../../../../../../etc/hostname", "/etc/hostname", "a\x00b", "\x1b[2Jred\u202e"]
)
def test_a_file_outside_of_the_record_is_not_read(
    plain: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(plain, tmp_path)
    content = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    content["files"][name] = "0" * 64
    (path / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(RecordError, match=r"manifest\.json cannot be read"):
        verify_record(tmp_path, str(path))
    assert run_command_line(["verify", str(path)]) in {2, 3}
    printed = "".join(capsys.readouterr())
    assert "is no name of a file in the record" in printed
    assert not set("\x1b\x00\u202e") & set(printed)


def test_a_changed_plan_with_a_new_manifest_differs_from_the_journal(
    plain: Path, tmp_path: Path
) -> None:
    path = copied(plain, tmp_path)
    text = (path / "plan.json").read_text(encoding="utf-8")
    (path / "plan.json").write_text(
        text.replace("Which way is fastest?", "Which way is best?"), encoding="utf-8"
    )
    sealed_again(path)
    assert (
        "plan.json: differs from the plan in journal.jsonl"
        in verify_record(tmp_path, str(path)).differences
    )


def test_an_inconsistent_plan_with_a_new_manifest_is_reported(plain: Path, tmp_path: Path) -> None:
    path = copied(plain, tmp_path)
    text = (path / "plan.json").read_text(encoding="utf-8")
    (path / "plan.json").write_text(text.replace(TEXT.id, "nowhere", 1), encoding="utf-8")
    sealed_again(path)
    differences = verify_record(tmp_path, str(path)).differences
    assert "plan.json: differs from the plan in journal.jsonl" in differences
    with pytest.raises(RecordError) as caught:
        report_record(tmp_path, str(path))
    assert caught.value.code == "BX411"


def test_the_path_of_the_scenario_and_the_options_are_not_part_of_the_plan_digest(
    plain: Path, tmp_path: Path
) -> None:
    path = copied(plain, tmp_path)
    text = (path / "plan.json").read_text(encoding="utf-8")
    (path / "plan.json").write_text(
        text.replace('"demo.yaml"', '"elsewhere/demo.yaml"'), encoding="utf-8"
    )
    assert verify_record(tmp_path, str(path)).differences == ("plan.json: changed",)


@pytest.mark.parametrize(
    "name", ["runs.csv", "cells.csv", "comparisons.csv", "claims.json", "report.md", "report.html"]
)
def test_a_changed_digit_with_a_new_manifest_differs_from_the_journal(
    full: Path, tmp_path: Path, name: str
) -> None:
    path = copied(full, tmp_path)
    text = (path / name).read_text(encoding="utf-8")
    # Decimals only: a changed digit of a key, such as p95, would make the file unreadable.
    places = [m.start() for m in re.finditer(r"(?<=\.)\d", text)]
    place = places[len(places) // 4]
    changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
    (path / name).write_text(changed, encoding="utf-8")
    sealed_again(path)
    differences = verify_record(tmp_path, str(path)).differences
    assert any(line.startswith(f"{name}: ") for line in differences), differences


@pytest.mark.parametrize(
    "name", ["plan.json", "journal.jsonl", "claims.json", "env.json", "scenario.yaml", "runs.csv"]
)
@pytest.mark.parametrize("how", ["gone", "folder", "link to nothing", "link to itself", "nested"])
def test_a_file_replaced_by_something_else_is_named(
    full: Path, tmp_path: Path, name: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(full, tmp_path) / name
    path.unlink()
    match how:
        case "folder":
            path.mkdir()
        case "link to nothing":
            path.symlink_to("/nonexistent/file")
        case "link to itself":
            path.symlink_to(path.name)
        case "nested":
            path.write_text(NESTED, encoding="utf-8")
    code = run_command_line(["verify", str(path.parent)])
    out, err = capsys.readouterr()
    assert code in {1, 2, 3}
    # A folder without a journal is not a record.
    assert (
        name if name != "journal.jsonl" or how == "nested" else "there is no record"
    ) in out + err
    assert "BX900" not in err


def slowed_down(path: Path, seqs: range) -> None:
    """Halve the times of blocks in the journal of a record."""
    journal = path / "journal.jsonl"
    rows = []
    for text in journal.read_text(encoding="utf-8").splitlines():
        row = json.loads(text)
        change = row["kind"] == "block" and row["block"]["seq"] in seqs
        if change:
            row["block"]["wall_s"] = [value / 2 for value in row["block"]["wall_s"]]
        rows.append((json.dumps(row, separators=(",", ":")) if change else text) + "\n")
    journal.write_text("".join(rows), encoding="utf-8")


def chained_again(path: Path) -> None:
    """Write a valid chain of digests into the journal of a record."""
    chain, entries = b"", []
    for text in path.read_bytes().splitlines():
        entry, chain = _chained(_CHAIN.sub(b"}", text) + b"\n", chain)
        entries.append(entry)
    path.write_bytes(b"".join(entries))


def unfinished(record: Path, tmp_path: Path) -> Path:
    """Return a copy of a record without everything that is derived from its journal."""
    path = copied(record, tmp_path)
    for file in path.iterdir():
        if file.suffix in {".csv", ".html", ".md"} or file.name in {"claims.json", "manifest.json"}:
            file.unlink()
    return path


def completed(path: Path) -> None:
    with Record.open(path) as record:
        record.save(judge_record(record))
        record.seal()


def test_a_changed_journal_is_not_continued(plain: Path, tmp_path: Path) -> None:
    path = unfinished(plain, tmp_path)
    slowed_down(path, range(8, 9))
    with Record.open(path) as record:
        contents = record.contents
        assert contents.changed_line == 13
        assert contents.host is not None
        before = (path / "journal.jsonl").read_bytes()
        with pytest.raises(RecordError, match=r"journal.jsonl:13 was changed") as caught:
            record.prepare(
                at="", host=contents.host, builds=contents.builds, inputs=contents.inputs
            )
        assert caught.value.code == "BX411"
    assert (path / "journal.jsonl").read_bytes() == before
    completed(path)
    differences = verify_record(tmp_path, str(path)).differences
    assert "journal.jsonl: line 13 was changed" in differences
    assert any("differs from raw/hyperfine.jsonl in 1 sample (8 …)" in x for x in differences)


def test_a_run_warns_of_a_damaged_record_that_it_does_not_continue(
    plain: Path, tmp_path: Path
) -> None:
    path, updates = unfinished(plain, tmp_path), list[progress.Update]()
    plan = Record.open(path).plan
    (path / "plan.json").write_text("{", encoding="utf-8")
    observer = SimpleNamespace(notify=updates.append)
    assert run._existing(plan, RunOptions(tmp_path / "results"), None, observer) is None
    [warning] = updates
    assert isinstance(warning, progress.Remark)
    assert warning.event.message == f"{path} is not continued"
    assert warning.event.details[0] == ("cause", "plan.json cannot be read")


def test_a_removed_line_and_an_unchained_line_are_found(plain: Path, tmp_path: Path) -> None:
    path = unfinished(plain, tmp_path)
    text = (path / "journal.jsonl").read_bytes()
    assert Record.open(path).contents.changed_line is None
    for number, changed in (
        (6, b"".join(text.splitlines(keepends=True)[:5] + text.splitlines(keepends=True)[6:])),
        (4, b"\n".join(_CHAIN.sub(b"}", line) if n == 3 else line
                       for n, line in enumerate(text.splitlines())) + b"\n"),
    ):  # fmt: skip
        (path / "journal.jsonl").write_bytes(changed)
        assert Record.open(path).contents.changed_line == number


def test_a_journal_with_a_new_chain_differs_from_the_output_of_hyperfine(
    plain: Path, tmp_path: Path
) -> None:
    path = unfinished(plain, tmp_path)
    slowed_down(path, range(4, 40))
    chained_again(path / "journal.jsonl")
    completed(path)
    expected = "journal.jsonl: differs from raw/hyperfine.jsonl in 36 samples (4, 5, 6 …)"
    assert verify_record(tmp_path, str(path)).differences == (expected,)
    (path / "raw" / "hyperfine.jsonl").unlink()
    sealed_again(path)
    assert verify_record(tmp_path, str(path)).differences == (
        "raw/hyperfine.jsonl: No such file or directory",
    )


def test_a_digest_identifies_the_measured_files(
    full: Path, plain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = verify_record(tmp_path, str(full)).digest or ""
    path = copied(full, tmp_path)
    report_record(tmp_path, str(path), formats=("md",))
    assert run_command_line(["verify", str(path), "--digest", digest]) == 0
    assert run_command_line(["verify", str(path), "--digest", digest[:16].upper()]) == 0
    assert "consistent with itself" in capsys.readouterr().out
    assert run_command_line(["verify", str(path), "--digest", "0" * 64]) == 1
    assert f"digest: expected {'0' * 64}, found {digest}" in capsys.readouterr().out
    for text in ("0123", "x" * 16):
        assert run_command_line(["verify", str(path), "--digest", text]) == 2
        assert "BX104" in capsys.readouterr().err
    (path / "env.json").write_text("{}", encoding="utf-8")
    sealed_again(path)
    assert verify_record(tmp_path, str(path)).digest != digest


def test_a_journal_whose_digests_were_removed_was_changed(plain: Path, tmp_path: Path) -> None:
    path = unfinished(plain, tmp_path)
    journal = path / "journal.jsonl"
    journal.write_bytes(b"\n".join(_CHAIN.sub(b"}", x) for x in journal.read_bytes().split(b"\n")))
    assert Record.open(path).contents.changed_line == 1


@pytest.mark.parametrize("name", ["journal.jsonl", "runs.csv"])
@pytest.mark.parametrize(
    "command", ["report --format term", "gate --no-confirm", "compare --baseline way=plain"]
)
def test_commands_warn_of_a_changed_record(
    full: Path, tmp_path: Path, name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(full, tmp_path)
    words = command.split()
    arguments = [words[0], str(path), *words[1:]]
    run_command_line(arguments)
    assert "BX415" not in capsys.readouterr().err
    path = copied(full, tmp_path / "2")
    with (path / name).open("a", encoding="utf-8") as file:
        file.write("\n" if name == "runs.csv" else "")
    if name == "journal.jsonl":
        slowed_down(path, range(4, 8))
    arguments[1] = str(path)
    run_command_line(arguments)
    printed = capsys.readouterr().err
    assert f"warning[BX415]: {path} is not as it was written: {name} (changed)" in printed
    assert "benchctl verify" in printed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("block_runs", "\0block_runs", id="a damaged name of a column"),
        pytest.param(",ok,", f",{'x' * 200_000},", id="a field of 200 000 characters"),
    ],
)
def test_a_damaged_table_is_one_error(plain: Path, tmp_path: Path, old: str, new: str) -> None:
    path = copied(plain, tmp_path) / "runs.csv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with Record.open(plain) as record, pytest.raises(RecordError, match=r"runs.csv cannot be read"):
        run_table.read(path.read_text(encoding="utf-8"), record.plan, record.contents.builds)
    differences = verify_record(tmp_path, str(path.parent)).differences
    assert "runs.csv: changed" in differences
    assert any(
        line.startswith("runs.csv: row") or "unknown columns" in line for line in differences
    )


def test_an_observation_of_a_cell_that_the_plan_lacks_is_one_error(
    plain: Path, tmp_path: Path
) -> None:
    path = unfinished(plain, tmp_path)
    with Record.open(path) as record:
        record.append(Counted(Observation("nowhere", "observed", 1, "", "wait4")))
    with pytest.raises(RecordError, match="do not belong together") as caught:
        Record.open(path)
    assert caught.value.code == "BX411"


def test_an_interrupted_record_of_another_plan_names_what_changed(tmp_path: Path) -> None:
    plan = made_plan()
    by_budget = replace(plan.measure, by_budget=True, rounds_max=1000)
    plan = replace(plan, measure=by_budget, invocation=Invocation(overrides=("measure.warmup=1",)))
    record = Record.create(tmp_path, plan, "", started_at=AT, benchctl="0.1.0")
    record.append(Limit(40))
    same = replace(plan, invocation=Invocation())
    require_plan(record, same)
    other = replace(
        same,
        scenario_sha256="6" * 64,
        question="Which?",
        measure=replace(plan.measure, seed=9, warmup_rounds=1),
        judge=replace(plan.judge, margin=0.5, metrics=("cpu",)),
        cells=plan.cells[1:],
    )
    with pytest.raises(RecordError) as raised:
        require_plan(record, other)
    assert raised.value.code == "BX410"
    assert raised.value.message == (
        "the last run of demo was interrupted, and the scenario or the options have changed since "
        "(changed: measure.warmup, judge, margin, question, configurations)"
    )
    assert raised.value.details == (("old command", "benchctl run demo.yaml -S measure.warmup=1"),)
    fix = "undo the change and run the old command, or start a new record: "
    assert raised.value.fix == fix + "`benchctl run demo.yaml --fresh`"
    with pytest.raises(RecordError, match=r"have changed since$"):
        require_plan(record, replace(same, scenario_sha256="6" * 64))
