"""The script of docs/loop.md, with real programs and the real hyperfine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration import processes

PAGE = processes.ROOT / "docs" / "loop.md"
MOST_LINES = 15
APP = 'i=0; while [ "$i" -lt 20000 ]; do i=$((i + 1)); done; cat "$1"\n'
CANDIDATES = {
    "1-faster": ("20000", "2000"),
    "2-slower": ("2000", "20000"),
    "3-other-output": ('cat "$1"', 'echo; cat "$1"'),
}
"""Changes of the program, each relative to the one that the loop has kept until then."""


@pytest.mark.slow
def test_the_loop_keeps_what_is_faster_and_prints_the_same(tmp_path: Path) -> None:
    (script,) = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(script.splitlines()) <= MOST_LINES
    top, tools = tmp_path / "crate", tmp_path / "tools"
    (top / "patches").mkdir(parents=True)
    tools.mkdir()
    build = "mkdir -p target/release && cp app.sh target/release/app && chmod +x target/release/app"
    processes.executable(tools / "cargo", f"#!/bin/sh\n{build}\n")
    call = f'exec {sys.executable} {processes.CALL} {tmp_path} "$@"'
    processes.executable(tools / "benchctl", f"#!/bin/sh\n{call}\n")

    def run(*words: str, text: str | None = None) -> str:
        done = subprocess.run(
            words, cwd=top, check=True, capture_output=True, text=True, input=text
        )
        return done.stdout

    (top / "app.sh").write_text(f"#!/bin/sh\n{APP}")
    (top / "input.txt").write_text("42\n")
    (top / ".gitignore").write_text("best\npatches\nmore-data.txt\ntarget\nresults\n")
    run("git", "init", "--quiet")
    run("git", "config", "user.name", "a")
    run("git", "config", "user.email", "a@example.org")
    run("git", "add", "--all")
    run("git", "commit", "--quiet", "--message", "start")
    text = (top / "app.sh").read_text()
    for name, (old, new) in CANDIDATES.items():
        (top / "app.sh").write_text(text.replace(old, new))
        (top / "patches" / f"{name}.patch").write_text(run("git", "diff"))
        if name == "1-faster":
            text = (top / "app.sh").read_text()
            run("git", "add", "--all")
        run("git", "checkout", "--quiet", "--", "app.sh")
    run("git", "reset", "--quiet", "--hard")
    (top / "loop.sh").write_text(script.replace("--budget 60s", "--budget 20s"))
    env = processes.real(PATH=f"{tools}:{processes.real()['PATH']}")
    done = subprocess.run(
        ["sh", "loop.sh"], cwd=top, env=env, check=False, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["keep", "discard", "discard"], done.stderr
    log = run("git", "log", "--format=%s").splitlines()
    assert log == ["patches/1-faster.patch", "start"]
    assert "-lt 2000 ]" in (top / "app.sh").read_text()
