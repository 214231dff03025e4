"""Test that the command that an interrupted run prints resumes this run."""

import json
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench_framework.store.finding import find_records
from tests.integration.processes import (
    CALL,
    count_rounds,
    executable,
    fake_hyperfine,
    isolated,
    start,
    wait_for,
)

pytestmark = pytest.mark.real

SCENARIO = """
version: 1
name: sleeping
question: Which is the faster one?
worker: {command: ["/bin/true"]}
axes: {kind: {old data: {args: [a]}, new: {args: [b]}}}
baseline: {kind: old data}
command: ["{bin}"]
measure: {rounds: 24, until: rounds, warmup: 0, seed: 5}
gate: {wall: 2%}
"""


@pytest.mark.parametrize(
    "words",
    [
        (
            "run",
            "a scenario.yaml",
            "--out",
            "my results",
            "--fresh",
            "--no-profile",
            "-S",
            "measure.seed=7",
        ),
        pytest.param(
            (
                *("--dir=other", "run", "a scenario.yaml", "--rounds", "20"),
                *("-S", "question=Who's first?"),
            ),
            marks=pytest.mark.release,
        ),
        ("gate", "a scenario.yaml", "--fresh", "--dir", "gated"),
        pytest.param(
            ("ab", "--fresh", "--dir", "pairs", "/bin/true 'old data'", "/bin/true new --fresh"),
            marks=pytest.mark.release,
        ),
    ],
    ids=["run", "filter", "gate", "ab"],
)
@pytest.mark.slow
def test_the_printed_command_resumes(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a scenario.yaml").write_text(SCENARIO)
    fake_hyperfine(tmp_path, [{"match": "", "wall_s": 0.05, "stdout": "42\n", "sleep_s": 0.05}])
    process = start(tmp_path, *words)
    wait_for(
        lambda: any(count_rounds(path) > 1 for path in tmp_path.glob("*/*/*/journal.jsonl")),
        process,
        log=process.printed,
    )
    journals = list(tmp_path.glob("*/*/*/journal.jsonl"))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    command = re.search(r"interrupted; `(benchctl .*)` resumes: ", stderr)
    assert command is not None, stderr
    assert "--fresh" not in shlex.split(command[1])[:-2]
    # The command is given to a shell, in which benchctl is a program of this test.
    call = shlex.join([sys.executable, CALL, str(tmp_path)])
    executable(tmp_path / "benchctl", f'#!/bin/sh\nexec {call} "$@"\n')
    env = isolated(tmp_path)
    env["PATH"] = f"{tmp_path}:{env['PATH']}"
    again = subprocess.run(
        ["sh", "-c", command[1]], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert again.returncode in (0, 4), again.stderr
    assert "resuming" in again.stderr
    records = find_records(journals[0].parents[2])
    assert records[0] == journals[0].parent
    assert json.loads((records[0] / "claims.json").read_text(encoding="utf-8"))
