"""What is quoted never acts on a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from bench_framework.cli.console import Console
from bench_framework.cli.escapes import harmless, harmless_json
from bench_framework.errors import MachineError

HOSTILE = "a\x1b[2Jb\x1b]0;title\x07c\x9bd\u202ee\u200bf\rg\x00h"
SHOWN = "a\\x1b[2Jb\\x1b]0;title\\x07c\\x9bd\\u202ee\\u200bf\\x0dg\\x00h"


def test_active_characters_are_shown_and_our_colours_are_left() -> None:
    assert harmless(HOSTILE) == SHOWN
    assert (
        harmless("\x1b[1mbest\x1b[0m\ttab\nline ▼ 1.5\u202fms")
        == "\x1b[1mbest\x1b[0m\ttab\nline ▼ 1.5\u202fms"
    )
    assert "\x1b" not in harmless("\x1b[8mhidden")


def test_json_still_means_the_same() -> None:
    text = harmless_json(json.dumps({HOSTILE: [HOSTILE]}, ensure_ascii=False))
    assert json.loads(text) == {HOSTILE: [HOSTILE]}
    assert not set("\x1b\x9b\u202e\u200b\x00\r") & set(text)


def test_nothing_that_a_console_prints_acts(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    console.emit(HOSTILE)
    console.say(HOSTILE)
    console.error(
        MachineError(HOSTILE, code="BX237", details=((HOSTILE, HOSTILE),), effect=HOSTILE)
    )
    console.emit_json({"said": HOSTILE})
    out, err = capsys.readouterr()
    assert not set("\x1b\x9b\u202e\u200b\x00\r") & set(out + err)
    assert SHOWN in out
    assert SHOWN in err


@pytest.mark.parametrize("command", ["verify", "report", "run", "validate", "gate", "compare"])
def test_a_name_that_nothing_has_is_told_without_acting(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([command, "--dir", str(tmp_path), "no\x1b[2Jsuch\u202e.yaml"]) == 2
    out, err = capsys.readouterr()
    assert not {"\x1b", "\u202e"} & set(out + err)
    assert "\\x1b[2J" in err
