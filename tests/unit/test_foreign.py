"""Tests of reading what other programs wrote: FIFOs, devices and nested JSON end with an error."""

import os
import re
from pathlib import Path
from typing import Literal

import pytest

from bench_framework import foreign
from bench_framework.cli import console
from bench_framework.cli.app import run_command_line
from bench_framework.errors import AnswerError, Interrupted, MachineError, UsageError
from bench_framework.execution.answers import AnswerReader, digest_file
from bench_framework.execution.declared_metrics import MetricReader
from bench_framework.execution.inputs.datasets import prepare_inputs
from bench_framework.execution.inputs.folders import digest
from bench_framework.execution.process import Launcher
from bench_framework.execution.progress import SilentObserver
from bench_framework.execution.stop import Driver, Stop
from bench_framework.execution.target import Target
from bench_framework.execution.worker import answer_lines
from bench_framework.foreign import (
    MAX_SCENARIO_BYTES,
    expanded_home,
    fault_of,
    in_one_line,
    last_lines,
    matching_files,
    open_regular,
    parse_json,
    read_regular,
    sha256_of,
)
from bench_framework.model.plan.declared_metrics import DeclaredMetric
from bench_framework.model.plan.plan import Cell, Dataset, Input, Role
from bench_framework.model.plan.policies import AnswerKind, AnswerPolicy
from bench_framework.model.record.run import Block
from bench_framework.report.render import widths
from bench_framework.scenario.gate_policy import read_accepted
from tests.unit.workflow.measured_record import made_plan

KINDS: list[AnswerKind] = ["exact", "sorted-lines", "json"]


@pytest.fixture(params=["fifo", "/dev/zero", "/dev/null"])
def endless(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a path on which opening or reading never ends."""
    if request.param != "fifo":
        return Path(request.param)
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def test_only_regular_files_are_opened(endless: Path, tmp_path: Path) -> None:
    for path, words in ((endless, "not a regular file"), (tmp_path, "not a regular file")):
        with pytest.raises(OSError, match=words):
            open_regular(path)
    (tmp_path / "file").write_bytes(b"words")
    assert read_regular(tmp_path / "file", 5) == b"words"
    with pytest.raises(OSError, match="more than 4 bytes"):
        read_regular(tmp_path / "file", 4)


def test_the_fault_of_a_path_is_named(endless: Path, tmp_path: Path) -> None:
    assert fault_of(endless) == "is not a regular file"
    assert fault_of(tmp_path) == "is a folder"
    assert fault_of(tmp_path / "none") == "does not exist"
    assert fault_of(tmp_path / ("x" * 5000)) == "cannot be read: File name too long"
    assert fault_of(Path(__file__)) == ""


@pytest.mark.parametrize("compare", KINDS)
def test_an_endless_answer_is_an_error(endless: Path, compare: AnswerKind) -> None:
    with pytest.raises(AnswerError) as caught:
        digest_file(endless, AnswerPolicy(compare, file=str(endless)))
    assert caught.value.code == "BX215"
    assert caught.value.details == (("cause", "not a regular file"),)
    with pytest.raises(AnswerError, match="cannot be read: not a regular file"):
        answer_lines(endless)


@pytest.mark.parametrize("compare", KINDS)
def test_an_answer_that_is_too_large_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compare: AnswerKind
) -> None:
    for name in ("LARGEST_READ", "LARGEST_ANSWER"):
        monkeypatch.setattr(f"bench_framework.execution.answers.{name}", 10)
    (tmp_path / "answer").write_bytes(b"x" * 11)
    with pytest.raises(AnswerError) as caught:
        digest_file(tmp_path / "answer", AnswerPolicy(compare))
    assert caught.value.details == (("cause", "more than 10 bytes"),)


def test_a_metric_of_an_endless_file_is_missing(endless: Path, tmp_path: Path) -> None:
    metric = DeclaredMetric("m", "answer", regex="(.)")
    block = Block(0, 1, 0, "c", warmup=False, status="ok", started_at="")
    reader = AnswerReader(Launcher(), AnswerPolicy(), 1.0)
    target = Target(
        Cell("c", "v", "i", "c", Role.CANDIDATE, ()), (), {}, None, None, (), None, (), ()
    )
    block = MetricReader([metric], tmp_path / "stdout", endless, reader).read(target, block)
    expected = {f"{endless} cannot be read: not a regular file", f"the run did not write {endless}"}
    assert block.missing["m"] in expected


def test_an_endless_input_is_an_error(endless: Path, tmp_path: Path) -> None:
    item = Input("i", (), Dataset("file", "mine", path=str(endless)))
    launcher = Launcher()
    env = {"BENCHCTL_CACHE": str(tmp_path)}
    driver = Driver(launcher, env, SilentObserver(), Stop(launcher))
    with pytest.raises(MachineError, match="is not a regular file") as caught:
        prepare_inputs([item], tmp_path, driver)
    assert caught.value.code == "BC406"
    for read in (digest, sha256_of):
        with pytest.raises(OSError, match="not a regular file"):
            read(endless)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_stop_request_ends_the_digest_of_an_input(
    kind: Literal["file", "folder"], tmp_path: Path
) -> None:
    (tmp_path / "input").mkdir()
    large = tmp_path / "input" / "large"
    large.write_bytes(bytes(1 << 20))
    path = large if kind == "file" else large.parent
    launcher = Launcher()
    stop = Stop(launcher)
    driver = Driver(launcher, {"BENCHCTL_CACHE": str(tmp_path)}, SilentObserver(), stop)
    stop.request()
    with pytest.raises(Interrupted):
        prepare_inputs([Input("i", (), Dataset(kind, "mine", path=str(path)))], tmp_path, driver)
    assert not (tmp_path / "data").exists()


def test_an_endless_import_is_an_error(endless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["import", str(endless)]) == 2
    assert "is not a regular file" in capsys.readouterr().err


def test_nested_json_is_an_error() -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000):
        with pytest.raises(ValueError, match="nested too deeply"):
            parse_json(text)
    assert parse_json('{"a": 1}') == {"a": 1}


def test_an_endless_file_of_accepted_changes_is_an_error(endless: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: not a regular file") as caught:
        read_accepted(endless, made_plan())
    assert caught.value.code == "BX112"
    (tmp_path / "large").write_bytes(b" " * (MAX_SCENARIO_BYTES + 1))
    with pytest.raises(UsageError, match=f"more than {MAX_SCENARIO_BYTES} bytes"):
        read_accepted(tmp_path / "large", made_plan())


def test_an_endless_page_is_not_audited(endless: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["audit", str(endless)]) == 2
    assert "is not a regular file" in capsys.readouterr().err


def test_the_lines_of_an_error_begin_at_its_first_panic() -> None:
    panic = ["thread 'a' panicked at src/main.rs:1:1:", "no file", "stack backtrace:"]
    lines = ["reading", *panic, *(f"{n}: main" for n in range(9)), "thread 'b' panicked at x"]
    assert last_lines(lines, 2) == panic[:2]
    assert last_lines(lines[4:-1], 2) == ["7: main", "8: main"]
    assert last_lines(lines, 99) == lines
    assert in_one_line("\n\n ".join(lines)) == " / ".join(panic[:2])
    assert in_one_line("") == ""


def test_the_terminal_and_the_pages_escape_the_same_active_characters() -> None:
    hidden = {chr(n) for n in range(0x10000) if re.match(f"[{foreign.ACTIVE}]", chr(n))}
    assert hidden.isdisjoint("\t\n\r aä→")
    assert hidden > {"\x00", "\x1b", "\x9f", "\u200b", "\u202e", "\ufeff"}
    for escape in (console.escape_active, widths.visible):
        assert all(escape(char) != char for char in hidden)
    assert console.escape_active("\x1b[33mx\x1b[0m") == "\x1b[33mx\x1b[0m"
    assert console.escape_active("\x1b[2J") == "\\x1b[2J"


def test_only_a_user_of_this_machine_has_a_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert expanded_home("~/a") == tmp_path / "a"
    assert expanded_home("~no-such-user/a") == Path("~no-such-user/a")
    assert not matching_files(tmp_path, "~no-such-user/*")
