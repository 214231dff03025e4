"""The output of commands that measure nothing (commands.txt). ``UPDATE_COMMANDS=1`` writes it again."""

import re
import shlex
from pathlib import Path

import pytest

from bench_framework.cli.app import run_command_line
from tests.approval import approve
from tests.files import write_files
from tests.unit.machine import SCENARIO

FILE = Path(__file__).parents[2] / "fixtures" / "commands.txt"


def test_the_commands_print_what_the_approval_file_contains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "small.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "folder.yaml").write_text(SCENARIO + "input: {folder: .}\n", encoding="utf-8")
    (tmp_path / "main.rs").touch()
    write_files(tmp_path, {"empty/accepted.yaml": "accepted: []\n"})
    written = FILE.read_text(encoding="utf-8")
    head, *commands = written.split("\n$ benchctl ")
    text = head
    for line in (command.partition("\n")[0] for command in commands):
        code = run_command_line(shlex.split(line))
        printed = capsys.readouterr()
        text += f"\n$ benchctl {line}" + (f"\nexit {code}" if code else "")
        for mark, stream in ((">", printed.out), ("!", printed.err)):
            masked = re.sub(r"[\d.]+\s\w+\sfree", "N free", stream.replace(str(tmp_path), "DIR"))
            lines = masked.splitlines()
            text += "".join(f"\n{mark} {line}".rstrip() for line in lines)
    text += "\n"
    approve(FILE, text, "UPDATE_COMMANDS")
