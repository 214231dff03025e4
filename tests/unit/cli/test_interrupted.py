"""Ctrl-C where no command catches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench_framework import __main__
from bench_framework.cli import app

if TYPE_CHECKING:
    from collections.abc import Sequence


def test_ctrl_c_says_what_became_of_the_files_and_shows_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: Sequence[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "run_command_line", interrupted)
    with pytest.raises(SystemExit) as left:
        __main__.main()
    assert left.value.code == __main__.INTERRUPTED
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "interrupted: every file is as it was, or wholly written\n")
