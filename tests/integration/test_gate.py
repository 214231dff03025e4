"""Tests of the gate from a scenario to the exit code and the files for CI."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from bench_framework.store.finding import find_records

ROOT = Path(__file__).parents[2]
FAKE = ROOT / "tests" / "fakes" / "hyperfine"
CALL = """
import sys
from pathlib import Path
from bench_framework.__main__ import main
from bench_framework.execution.machine import lock
lock.FOLDERS = (Path(sys.argv.pop(1)),)  # nothing is timed here, so the lock is not needed
sys.exit(main())
"""
SCENARIO = """
version: 1
name: gated
question: Is the head slower than the base?
worker: {command: [/bin/echo]}
axes: {rev: [base, head, "<b>odd | name</b>"]}
command: ["{bin}", "rev-{rev}"]
baseline: {rev: base}
measure: {rounds: 24, until: rounds, warmup: 1, seed: 5}
gate: {wall: 2%, cpu: 2%}
"""


class Folder:
    """A folder with the scenario and a hyperfine that answers from a script."""

    def __init__(self, path: Path, head_s: float) -> None:
        self.path = path
        (path / "gated.yaml").write_text(SCENARIO)
        rules = [
            {"match": "rev-head", "wall_s": head_s, "stdout": "42\n"},
            {"match": "rev-", "wall_s": 0.05, "stdout": "42\n"},
        ]
        (path / "script.json").write_text(json.dumps({"seed": 7, "commands": rules}))
        (path / "hyperfine").write_text(
            f"#!{sys.executable} -IS\n" + FAKE.read_text().partition("\n")[2]
        )
        (path / "hyperfine").chmod(0o755)

    def __call__(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "PYTHONPATH": str(ROOT),
            "BENCHCTL_CACHE": str(self.path / "cache"),
            "BENCHCTL_HYPERFINE": str(self.path / "hyperfine"),
            "BENCHCTL_FAKE_SCRIPT": str(self.path / "script.json"),
        }
        left = {key: text for key, text in os.environ.items() if not key.startswith("GITHUB_")}
        return subprocess.run(
            [sys.executable, "-c", CALL, str(self.path), *words],
            env=left | settings | env,
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
        )

    def text_of(self, name: str) -> str:
        return (self.records[0] / name).read_text(encoding="utf-8")

    @property
    def records(self) -> list[Path]:
        return find_records(self.path / "results")

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads(self.text_of("gate.json")))


@pytest.fixture
def slower(tmp_path: Path) -> Folder:
    return Folder(tmp_path, 0.055)


def test_a_confirmed_regression_fails_the_gate_in_every_file(
    slower: Folder, tmp_path: Path
) -> None:
    step = tmp_path / "step.md"
    done = slower(
        "run", "gated.yaml", "--gate", GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(step)
    )
    assert done.returncode == 1, done.stderr
    first, second = slower.records
    document = slower.document
    assert (document["exit_code"], document["record_id"], document["confirmation"]) == (
        1,
        first.name,
        second.name,
    )
    states = {(pair["variant"], pair["metric"]): pair["state"] for pair in document["pairs"]}
    assert states["head", "wall"] == "worse"
    assert states["<b>odd | name</b>", "wall"] == "passed"
    assert re.search(r" is (9|10)\b.* slower than ", document["pairs"][0]["text"])

    # Only the possible regression is measured again, with its baseline and the A/A control.
    plan = json.loads((second / "plan.json").read_text())
    assert sorted(cell["role"] for cell in plan["cells"]) == ["baseline", "candidate", "control"]
    assert (
        "The gate measured the suspicious pairs of record " + first.name
        in (second / "report.md").read_text()
    )

    assert "▲ Benchmarks: regressions found" in done.stdout
    assert "head, time: worse" in done.stdout
    assert "confirmed in fresh rounds" in done.stdout
    assert f"second measurement: {second.name}" in done.stdout
    assert done.stderr.count("::error title=benchctl gate::") == len(
        [s for s in states.values() if s == "worse"]
    )

    comment = slower.text_of("comment.md")
    assert comment.startswith(
        "<!-- benchctl:gate scenario=gated -->\n### ▲ Benchmarks: regressions found"
    )
    assert "<b>" not in comment
    assert step.read_text() == slower.text_of("summary.md")
    suite = ET.fromstring(slower.text_of("junit.xml"))
    assert suite.get("failures") == str(len([s for s in states.values() if s == "worse"]))
    assert suite.get("tests") == str(len(states))
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "slower than base" in failure.get("message", "")

    gone = slower(
        "gate",
        "--no-confirm",
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(tmp_path / "no" / "x"),
    )
    assert gone.returncode == 4, gone.stderr  # the gate cannot decide without measuring again
    assert "cannot write the step summary" in gone.stderr
    # The newest record is the confirmation; the gate uses the first record.
    assert f"{second.name} is the confirmation of {first.name}; using {first.name}" in gone.stderr
    assert slower.document["record_id"] == first.name
    assert slower("verify", str(first)).returncode == 0
    shutil.rmtree(first)
    lost = slower("gate")
    assert lost.returncode == 2
    assert "that record is missing" in lost.stderr


@pytest.mark.slow
def test_an_unchanged_candidate_passes_without_a_confirmation(tmp_path: Path) -> None:
    even = Folder(tmp_path, 0.05)
    done = even("run", "gated.yaml", "--gate", "--json")
    assert done.returncode == 0, done.stderr
    assert len(even.records) == 1
    assert json.loads(done.stdout) == even.document
    assert {pair["state"] for pair in even.document["pairs"]} == {"passed"}
    assert "≡ Benchmarks: passed" in even.text_of("comment.md")


@pytest.mark.slow
def test_without_a_confirmation_no_candidate_fails(slower: Folder) -> None:
    assert slower("run", "gated.yaml").returncode == 0
    done = slower("gate", "--no-confirm")
    assert done.returncode == 4, done.stderr
    assert "worse in the first measurement, and not measured again" in done.stdout
    assert len(slower.records) == 1
    assert slower("gate").returncode == 1
    assert slower.document["exit_code"] == 1


@pytest.mark.slow
def test_a_gate_with_too_few_rounds_is_refused_before_measuring(
    slower: Folder,
) -> None:
    done = slower("run", "gated.yaml", "--gate", "--rounds", "6")
    assert done.returncode == 2
    assert "the gate cannot detect anything in 6 rounds: it needs" in done.stderr
    assert not slower.records
    assert slower("run", "gated.yaml", "--rounds", "6").returncode == 0
    done = slower("gate")
    assert done.returncode == 2
    assert "the gate cannot detect anything in 6 rounds" in done.stderr


@pytest.mark.slow
def test_a_failed_candidate_has_its_own_exit_code(tmp_path: Path) -> None:
    broken = Folder(tmp_path, 0.055)
    script = json.loads((tmp_path / "script.json").read_text())
    script["commands"].insert(0, {"match": "odd", "exit_code": 1})
    (tmp_path / "script.json").write_text(json.dumps(script))
    done = broken("run", "gated.yaml", "--gate")
    assert done.returncode == 3, done.stderr
    assert broken.document["exit_code"] == 3
    states = {(pair["variant"], pair["metric"]): pair["state"] for pair in broken.document["pairs"]}
    assert states["<b>odd | name</b>", "wall"] == "failed"
    assert states["head", "wall"] == "worse"


@pytest.mark.slow
def test_without_valgrind_only_instructions_are_not_compared(
    tmp_path: Path,
) -> None:
    even = Folder(tmp_path, 0.05)
    text = SCENARIO.replace("cpu: 2%}", "cpu: 2%, instructions: 1%}")
    (tmp_path / "gated.yaml").write_text(text.replace("rounds: 24", "rounds: 14"))
    done = even("run", "gated.yaml", "--gate", PATH=str(tmp_path / "nothing"))
    assert done.returncode == 4, done.stderr
    states = {(pair["variant"], pair["metric"]): pair["state"] for pair in even.document["pairs"]}
    assert states["head", "wall"] == states["head", "cpu"] == "passed"
    assert states["head", "instructions"] == "not-judged"
    assert "valgrind is not installed" in done.stdout
    assert "warning[BX250]" in done.stderr
    judged = text.replace("gate:", "judge: [wall, instructions]\ngate:")
    (tmp_path / "gated.yaml").write_text(judged)
    # If the scenario judges them, a missing valgrind is an error before the measurement.
    done = even("run", "gated.yaml", "--gate", PATH=str(tmp_path / "nothing"))
    assert done.returncode == 3
    assert "error[BX250]" in done.stderr


@pytest.mark.slow
def test_instructions_are_counted_where_times_cannot_be_judged(tmp_path: Path) -> None:
    noisy = Folder(tmp_path, 0.055)
    script = json.loads((tmp_path / "script.json").read_text())
    for rule in script["commands"]:
        rule["spread"] = 0.5
    (tmp_path / "script.json").write_text(json.dumps(script))
    text = SCENARIO.replace(
        'axes: {rev: [base, head, "<b>odd | name</b>"]}', "axes: {rev: [base, head]}"
    )
    loop = "i=0; n=1000; case $0 in *head) n=1200;; esac; while [ $i -lt $n ]; do i=$((i+1)); done; echo 42"
    text = text.replace("[/bin/echo]", "[/bin/sh]").replace(
        '["{bin}", "rev-{rev}"]', json.dumps(["{bin}", "-c", loop, "rev-{rev}"])
    )
    (tmp_path / "gated.yaml").write_text(text.replace("rounds: 24", "rounds: 14"))
    done = noisy("run", "gated.yaml", "--gate")
    assert done.returncode == 1, done.stderr
    states = {pair["metric"]: pair["state"] for pair in noisy.document["pairs"]}
    assert states == {"wall": "not-judged", "cpu": "not-judged", "instructions": "worse"}
    assert "counted because a time could not be judged" in noisy.text_of("gate.json")
    again = noisy("gate", "@last")
    assert again.returncode == 1
