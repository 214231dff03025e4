"""Test of Ctrl-C in a command that does not handle it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench_framework import __main__
from bench_framework.cli import app

if TYPE_CHECKING:
    from collections.abc import Sequence


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
