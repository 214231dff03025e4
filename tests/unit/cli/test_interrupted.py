"""Test of Ctrl-C in a command that does not handle it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pydantic_core import SchemaError

from bench_framework import __main__
from bench_framework.cli import app


def test_ctrl_c_prints_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: Sequence[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "run_command_line", interrupted)
    with pytest.raises(SystemExit) as left:
        __main__.main()
    assert left.value.code == __main__.INTERRUPTED
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "interrupted: no file was left half-written\n")


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


def test_ctrl_c_that_pydantic_wraps_is_no_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def built() -> None:
        raise SchemaError('Error building "model" validator:\n  KeyboardInterrupt: ')

    monkeypatch.setattr(app, "require_resources", built)
    monkeypatch.setattr("sys.argv", ["benchctl", "doctor"])
    with pytest.raises(SystemExit) as left:
        __main__.main()
    assert left.value.code == __main__.INTERRUPTED
