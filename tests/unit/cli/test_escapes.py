"""Tests that quoted text cannot control a terminal."""

import json
import re
from pathlib import Path

import pytest

from bench_framework import masking
from bench_framework.cli.app import run_command_line
from bench_framework.cli.console import Console, escape_active, escape_active_json
from bench_framework.errors import MachineError

HOSTILE = "a\x1b[2Jb\x1b]0;title\x07c\x9bd\u202ee\u200bf\rg\x00h"
ESCAPED = "a\\x1b[2Jb\\x1b]0;title\\x07c\\x9bd\\u202ee\\u200bf\\x0dg\\x00h"


def test_active_characters_are_escaped_except_for_colours() -> None:
    assert escape_active(HOSTILE) == ESCAPED
    assert (
        escape_active("\x1b[1mbest\x1b[0m\ttab\nline ▼ 1.5\u202fms")
        == "\x1b[1mbest\x1b[0m\ttab\nline ▼ 1.5\u202fms"
    )
    assert "\x1b" not in escape_active("\x1b[8mhidden")


def test_escaped_json_has_the_same_value() -> None:
    text = escape_active_json(json.dumps({HOSTILE: [HOSTILE]}, ensure_ascii=False))
    assert json.loads(text) == {HOSTILE: [HOSTILE]}
    assert not set("\x1b\x9b\u202e\u200b\x00\r") & set(text)


def test_console_output_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console()
    console.emit(HOSTILE)
    console.say(HOSTILE)
    console.error(
        MachineError.from_texts("BX237", HOSTILE, details=((HOSTILE, HOSTILE),), effect=HOSTILE)
    )
    console.emit_json({"text": HOSTILE})
    out, err = capsys.readouterr()
    assert not set("\x1b\x9b\u202e\u200b\x00\r") & set(out + err)
    assert ESCAPED in out
    assert ESCAPED in err


def test_a_secret_changes_only_strings_of_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masking, "_secrets", {"***1***": "true"})
    Console().emit_json({"ok": True, "text": "true"})
    expected = {"schema_version": 1, "ok": True, "text": "***1***"}
    assert json.loads(capsys.readouterr().out) | {"schema_version": 1} == expected


@pytest.mark.parametrize("github", [True, False])
def test_only_benchctl_gives_commands_to_a_github_workflow(
    github: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", str(github).lower())
    hostile = "x\n  ::add-mask::a\n::stop-commands::t ##[error]pwn"
    console = Console()
    details = (("stderr", hostile),)
    console.error(MachineError.from_texts("BX237", hostile, details=details, effect=hostile))
    console.say_lines(hostile)
    console.emit(hostile)
    console.emit_json({"text": hostile})
    console.workflow_command("::endgroup::")
    out, err = capsys.readouterr()
    commands = re.findall(r"^\s*::.*|##\[.*", out + err, re.MULTILINE)
    assert (commands == ["::endgroup::"]) is github
    assert json.loads(out[out.index("{") :]) == {"schema_version": 1, "text": hostile}


@pytest.mark.parametrize("command", ["verify", "report", "run", "validate", "gate", "compare"])
def test_an_unknown_name_is_escaped_in_the_error(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([command, "--dir", str(tmp_path), "no\x1b[2Jsuch\u202e.yaml"]) == 2
    out, err = capsys.readouterr()
    assert not {"\x1b", "\u202e"} & set(out + err)
    assert "\\x1b[2J" in err
