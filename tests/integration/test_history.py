"""Test of `benchctl history --backfill`: real git, programs of a fake cargo, times of a fake hyperfine."""

import json
import os
from pathlib import Path

import pytest

from bench_framework.store.finding import find_records
from tests.documents import valid
from tests.files import write_files
from tests.integration.processes import (
    FAKES,
    Done,
    benchctl,
    commit,
    fake_hyperfine_of_programs,
    isolated,
)

pytestmark = pytest.mark.real
SCENARIO = """
version: 1
name: counting
question: Does it become slower?
worker: {crate: counter, bin: counter}
axes: {mode: [plain]}
command: ["{bin}", "{mode}"]
measure: {rounds: 6, until: rounds, warmup: 0, seed: 5, control: false}
"""
TWO = SCENARIO.replace("[plain]}", "[plain, odd]}\nbaseline: {mode: plain}")
COMMITS = 9
BROKEN, SLOWER = 2, 6


class Project:
    """A repository whose program becomes slower in one commit, and does not build in another one."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path / "project"
        manifest = '[package]\nname = "counter"\nversion = "0.1.0"\n'
        lock = 'version = 3\n\n[[package]]\nname = "counter"\nversion = "0.1.0"\n'
        crate = {"counter/Cargo.toml": manifest, "counter/Cargo.lock": lock}
        write_files(self.folder, {**crate, "scenario.yaml": SCENARIO, ".gitignore": "results/\n"})
        self.commits = []
        for number in range(COMMITS):
            marks = "broken " * (number == BROKEN) + "SLOWER" * (number >= SLOWER)
            write_files(self.folder, {"counter/src/main.rs": f"{number} {marks}"})
            self.commits.append(commit(self.folder, f"change {number}"))
        fake_hyperfine_of_programs(path, 0.065)

    def __call__(self, *words: str, code: int | None = None) -> Done:
        env = isolated(self.path, PATH=f"{FAKES}:{os.environ['PATH']}")
        return benchctl(self.path, *words, env=env, cwd=self.folder, code=code)


@pytest.mark.slow
def test_a_backfill_measures_missing_commits_and_the_history_names_the_slow_one(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    first, last = project.commits[0], project.commits[-1]
    words = ("history", "--backfill", f"{first}..main", "scenario.yaml")
    done = project(*words, "--every", "4", code=0)
    assert "measured 3 commits, 0 had a record, 0 failed" in done.stderr
    done = project(*words, "--json", code=3)
    assert "measured 5 commits, 3 had a record, 1 failed" in done.stderr
    assert f"{project.commits[BROKEN][:12]} failed" in done.stderr
    assert len(find_records(project.folder / "results")) == COMMITS - 1
    document = valid("history", done.stdout)
    (series,) = document["series"]
    revisions = [point["revision"] for point in series["points"]]
    assert revisions == [c for c in project.commits if c != project.commits[BROKEN]]
    assert (document["order"], revisions[-1]) == ("revision", last)
    (change,) = series["changes"]
    assert change["before_revision"] == project.commits[SLOWER - 1]
    assert change["after_revision"] == project.commits[SLOWER]
    assert change["lo"] < 1.3 < change["hi"]


@pytest.mark.release
def test_a_backfill_measures_only_what_is_selected_and_missing(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (project.folder / "scenario.yaml").write_text(TWO)
    span = f"{project.commits[SLOWER]}..main"
    words = ("history", "--backfill", span, "scenario.yaml")
    for only in ("plain", "odd"):
        done = project(*words, "-k", f"mode={only}", "--json", code=0)
        assert "measured 3 commits, 0 had a record, 0 failed" in done.stderr
        (series,) = valid("history", done.stdout)["series"]
        assert (series["label"], len(series["points"])) == (only, 3)
    for more in ((), ("-k", "mode=plain")):
        done = project(*words, *more, "--json")
        assert "measured 0 commits, 3 had a record, 0 failed" in done.stderr
    assert len(find_records(project.folder / "results")) == 6


@pytest.mark.slow
def test_a_commit_with_a_failed_configuration_is_measured_once(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (project.folder / "scenario.yaml").write_text(TWO)
    script = json.loads((tmp_path / "script.json").read_text())
    script["commands"].insert(0, {"match": "odd", "exit_code": 1})
    (tmp_path / "script.json").write_text(json.dumps(script))
    last = project.commits[-1]
    span = f"{project.commits[-2]}..main"
    done = project("history", "--backfill", span, "--every", "2", "scenario.yaml", "--json", code=3)
    assert "measured 0 commits, 0 had a record, 1 failed" in done.stderr
    assert f"{last[:12]} failed: a build or a configuration failed" in done.stderr
    # It would fail again, unless the scenario was the reason.
    done = project("history", "--backfill", span, "--every", "2", "scenario.yaml", "--json", code=0)
    assert "measured 0 commits, 1 had a record, 0 failed" in done.stderr
    (project.folder / "scenario.yaml").write_text(f"{TWO}exit-codes: [0, 2]\n")
    done = project("history", "--backfill", span, "--every", "2", "scenario.yaml", "--json", code=3)
    assert "measured 0 commits, 0 had a record, 1 failed" in done.stderr


def test_a_range_of_unknown_commits_measures_nothing(tmp_path: Path) -> None:
    done = Project(tmp_path)("history", "--backfill", "v1..main", "scenario.yaml", code=2)
    assert "there is no revision v1" in done.stderr
