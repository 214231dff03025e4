"""Test that ten kills and resumptions do not change the verdicts of a scenario."""

import csv
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bench_framework.store.finding import find_records
from tests.integration.processes import fake_hyperfine, isolated, wait_for

pytestmark = pytest.mark.slow
ARMS = ("base", "same", "slow", "broken", "other")
ROUNDS = 18
PATIENCE_S = 120.0

CALL = """
import sys
from pathlib import Path
from bench_framework.__main__ import main
from bench_framework.execution.machine import lock, sensors
sensors._FILES.clear()  # the load of this machine differs between runs
lock.FOLDERS = (Path(sys.argv.pop(1)),)  # nothing is timed here, so the lock is not needed
sys.exit(main())
"""
SCENARIO = """
version: 1
name: killed
question: Do kills change an answer?
worker: {command: [/bin/echo]}
axes: {arm: [base, same, slow, broken, other]}
command: ["{bin}", "arm-{arm}"]
baseline: {arm: base}
measure: {rounds: 18, until: rounds, warmup: 2, seed: 5}
"""
RULES: list[dict[str, object]] = [
    {"match": "arm-base", "wall_s": 0.05, "stdout": "42\n"},
    {"match": "arm-same", "wall_s": 0.05, "stdout": "42\n"},
    {"match": "arm-slow", "wall_s": 0.06, "stdout": "42\n"},
    {"match": "arm-broken", "exit_code": 1},
    {"match": "arm-other", "stdout": "43\n"},
]
NOT_MEASURED = 3


@dataclass
class Folder:
    """A folder with the scenario, the fake hyperfine, and records."""

    path: Path

    def start(self) -> subprocess.Popen[bytes]:
        words = ("--dir", "results", "run", "killed.yaml")
        argv = [sys.executable, "-c", CALL, str(self.path), *words]
        with (self.path / "output").open("ab") as output:
            return subprocess.Popen(
                argv,
                env=isolated(self.path),
                cwd=self.path,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def records(self) -> list[Path]:
        return find_records(self.path / "results")

    def journal(self) -> str:
        return (self.records[-1] / "journal.jsonl").read_text() if self.records else ""

    def verdicts(self) -> dict[str, Any]:
        """Return all results, without the name of the record."""
        record = self.records[-1]
        texts = {
            name: (record / name).read_text().replace(record.name, "RECORD")
            for name in ("comparisons.csv", "claims.json")
        }
        claims = json.loads(texts["claims.json"])
        # Kernel counts of untimed runs differ from run to run; no verdict depends on them.
        judged = claims["judgement"]
        judged["summaries"] = [s for s in judged["summaries"] if s["n_rounds"]]
        return {"comparisons.csv": texts["comparisons.csv"], "claims.json": claims}

    def rows(self) -> list[dict[str, str]]:
        with (self.records[-1] / "runs.csv").open() as file:
            return [row for row in csv.DictReader(file) if row["kind"] == "timed"]


@pytest.fixture
def folder_of(tmp_path: Path) -> Callable[[str], Folder]:
    def make(name: str) -> Folder:
        path = tmp_path / name
        path.mkdir()
        (path / "killed.yaml").write_text(SCENARIO)
        fake_hyperfine(path, RULES, clock="rounds")
        return Folder(path)

    return make


def kill(folder: Folder, when: Callable[[], bool], after_s: float) -> None:
    process = folder.start()
    try:
        wait_for(when, process, log=(folder.path / "output").read_text)
        time.sleep(after_s)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.release
def test_ten_kills_change_no_verdict(folder_of: Callable[[str], Folder]) -> None:
    whole, cut = folder_of("whole"), folder_of("cut")
    assert (
        whole.start().wait(PATIENCE_S) == NOT_MEASURED
    )  # one variant fails, one has another output
    moments = random.Random(3)

    kill(cut, lambda: True, moments.uniform(0, 0.5))  # while it starts
    for _ in range(7):
        done = cut.journal().count('"kind":"prepared"')
        kill(
            cut,
            lambda done=done: cut.journal().count('"kind":"prepared"') > done,  # type: ignore[misc]
            moments.uniform(0, 0.4),
        )
    for _ in range(2):  # while it computes results and writes the report
        kill(cut, lambda: '"kind":"end"' in cut.journal(), moments.uniform(0, 0.8))
    assert not (cut.records[-1] / "manifest.json").exists()
    assert cut.start().wait(PATIENCE_S) == NOT_MEASURED

    assert len(cut.records) == 1
    check_rows(cut.rows())
    complete = [row for row in cut.rows() if row["status"] != "skipped"]
    assert [(r["cell_id"], r["round"], r["wall_s"]) for r in complete] == [
        (r["cell_id"], r["round"], r["wall_s"]) for r in whole.rows()
    ]
    assert cut.verdicts() == whole.verdicts()


def check_rows(rows: list[dict[str, str]]) -> None:
    """Check that no round is missing or repeated, and that interrupted rounds are marked."""
    assert [int(row["seq"]) for row in rows] == list(range(len(rows)))
    good = Counter(
        (row["warmup"], row["round"], row["cell_id"]) for row in rows if row["status"] != "skipped"
    )
    assert set(good.values()) == {1}
    counted = Counter(cell for warmup, _, cell in good if warmup == "false")
    # Baseline, its A/A control, same and slow; the other two were dropped in the warm-up.
    assert list(counted.values()) == [ROUNDS] * 4
