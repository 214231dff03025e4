"""Test of Ctrl-C in a command that does not handle it."""

import contextlib
import os
import shlex
import signal
import time
from pathlib import Path
from typing import Any, NoReturn

import pytest
from pydantic_core import SchemaError

from bench_framework import __main__
from bench_framework.cli import app
from bench_framework.cli.console import Console
from bench_framework.cli.measurement import measure
from bench_framework.errors import EXIT_DONE, EXIT_INTERRUPTED, Interrupted
from bench_framework.execution.progress import SilentObserver
from bench_framework.workflow import gate, run
from bench_framework.workflow.run_options import RunOptions, plan_scenario
from bench_framework.workflow.setup import preparation


def test_ctrl_c_prints_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    # Within a command, typer turns the exception into an exit code without a message.
    monkeypatch.setattr(Console, "emit", interrupted)
    monkeypatch.setattr("sys.argv", ["benchctl", "help", "exit-codes"])
    with pytest.raises(SystemExit) as left:
        __main__.main()
    assert left.value.code == __main__.INTERRUPTED
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "interrupted: no file was left half-written\n")


def test_a_stop_after_the_measurement_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(*given: object) -> run.RunOutcome:
        given[-1].stop.request()  # type: ignore[attr-defined]
        return run.RunOutcome(tmp_path, None, None, (), None, EXIT_DONE)

    monkeypatch.setattr(run, "_run", measured)
    plan = plan_scenario("quickstart")
    outcome = run.run_plan(plan, "", RunOptions(tmp_path), SilentObserver())
    assert outcome.exit_code == EXIT_INTERRUPTED
    assert outcome.resume == f"interrupted after the measurement; {tmp_path} is complete"


def test_an_interrupted_second_pass_continues_with_the_record_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "my results" / "s" / "20260101T0000Z"
    judged: Any = object()
    outcome = run.RunOutcome(record, judged, None, (), None, EXIT_DONE)

    def interrupted(*_: object, command: str, **__: object) -> None:
        raise Interrupted("BX130.gate-confirmed", command=command)

    monkeypatch.setattr(run, "run_scenario", lambda *_: outcome)
    monkeypatch.setattr(gate, "gate_record", interrupted)
    options = RunOptions(tmp_path / "my results", gate=True, decide=True, command="benchctl run x")
    with pytest.raises(Interrupted) as caught:
        measure(Console(progress=False), "x.yaml", options)
    words = shlex.split((caught.value.fix or "").split("`")[1])
    folder = str(record.parent.parent)
    assert words == ["benchctl", "gate", str(record), "--dir", folder, "--decide"]


def test_ctrl_c_while_a_class_is_built_is_no_internal_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Key:
        def __set_name__(self, *_: object) -> None:
            raise KeyboardInterrupt

    def built() -> None:
        try:
            type("Built", (), {"key": Key()})
        except KeyboardInterrupt as interrupt:  # Python 3.11 raises RuntimeError itself
            raise RuntimeError("Error calling __set_name__") from interrupt

    monkeypatch.setattr(app, "require_resources", built)
    monkeypatch.setattr("sys.argv", ["benchctl", "doctor"])
    with pytest.raises(SystemExit) as left:
        __main__.main()
    assert left.value.code == __main__.INTERRUPTED
    assert capsys.readouterr().err == "interrupted: no file was left half-written\n"


def test_ctrl_c_within_pydantic_comes_after_it() -> None:
    ended: list[bool] = []
    within = {"__name__": "pydantic.main", "os": os, "signal": signal, "ended": ended}
    before = signal.signal(signal.SIGINT, __main__.interrupt)
    try:
        exec("os.kill(os.getpid(), signal.SIGINT); ended.append(True)", within)
        with pytest.raises(KeyboardInterrupt):
            time.sleep(60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == [True]


def test_ctrl_c_that_pydantic_wraps_is_no_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def built() -> None:
        raise SchemaError('Error building "model" validator:\n  KeyboardInterrupt: ')

    monkeypatch.setattr(app, "require_resources", built)
    monkeypatch.setattr("sys.argv", ["benchctl", "doctor"])
    with pytest.raises(SystemExit) as left:
        __main__.main()
    assert left.value.code == __main__.INTERRUPTED


def test_an_interrupted_trial_has_measured_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> NoReturn:
        raise Interrupted("BX130.measurement")

    file = tmp_path / "s.yaml"
    file.write_text("version: 1\nname: s\nquestion: Fast?\nworker: {command: [/bin/true]}\n")
    monkeypatch.setattr(preparation, "open_driver", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(preparation, "try_plan", stop)
    assert app.run_command_line(["try", str(file)]) == EXIT_INTERRUPTED
    errors = capsys.readouterr().err
    assert "nothing was measured" in errors
    assert "samples are kept" not in errors
