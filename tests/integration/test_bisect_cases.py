"""Unusual searches of `bisect`: fake cargo and hyperfine, so that each takes seconds."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.documents import valid
from tests.files import write_files
from tests.integration.processes import (
    FAKES,
    Process,
    commit,
    compiled_hyperfine,
    executable,
    git,
    isolated,
    start,
)

pytestmark = pytest.mark.slow

HYPERFINE = """#!{python} -IS
# The time of a call is what the source of the program says; `FAILS word` fails with this argument.
import json, os, re, shlex, sys
if sys.argv[1:] != ["--version"]:
    words = shlex.split(sys.argv[-1])
    with open(words[0]) as file:
        source = file.read()
    number = len(os.listdir({folder!r}))
    noise = 1 + {noise} * ((number * 2654435761 % 1000) / 1000 - 0.5)
    wall = 0.05 * float(re.search("FACTOR ([0-9.]+)", source)[1]) * noise
    rule = {{"match": "", "spread": 0, "wall_s": wall, "stdout": "42\\n"}}
    failing = re.search("FAILS (.*)", source)
    if (failing and failing[1] in words) or {broken!r} in source:
        rule["exit_code"] = 1
    script = os.path.join({folder!r}, str(number))
    with open(script, "w") as file:
        json.dump({{"commands": [rule]}}, file)
    os.environ["BENCHCTL_FAKE_SCRIPT"] = script
os.execv({fake!r}, [{fake!r}, *sys.argv[1:]])
"""
SCENARIO = """
version: 1
name: counting
question: Which is the faster one?
worker: {crate: counter}
command: ["{bin}", "{n}"]
axes: {n: [1, 2]}
baseline: {n: 1}
measure: {rounds: {min: 12, max: 14}, warmup: 1, seed: 5}
judge: [wall]
"""


class Project:
    """A repository whose commits have one tag each."""

    def __init__(self, path: Path, *, noise: float = 0.01) -> None:
        self.path, self.folder = path, path / "project"
        (path / "calls").mkdir()
        manifest = '[package]\nname = "counter"\nversion = "0.1.0"\n'
        crate = {"counter/Cargo.toml": manifest, "counter/Cargo.lock": "version = 4\n"}
        write_files(self.folder, {**crate, "scenario.yaml": SCENARIO})
        self.answer_with(noise)

    def answer_with(self, noise: float, broken: str = "no commit") -> None:
        words = {"folder": str(self.path / "calls"), "fake": str(compiled_hyperfine())}
        text = HYPERFINE.format(python=sys.executable, noise=noise, broken=broken, **words)
        executable(self.path / "hyperfine", text)

    def commit(self, tag: str, factor: float, more: str = "") -> None:
        write_files(self.folder, {"counter/src/main.rs": f"{tag}\nFACTOR {factor}\n{more}"})
        commit(self.folder, f"change {tag}", tag)

    def command(self, *words: str, code: int = 0) -> tuple[str, str]:
        """Call a command other than ``bisect``. Return stdout and stderr, each in one line."""
        env = isolated(self.path, BENCHCTL_RESULTS=str(self.path / "results"))
        with start(self.path, *words, env=env, cwd=self.folder) as process:
            stdout, stderr = process.communicate()
        assert process.returncode == code, stderr
        return " ".join(stdout.split()), " ".join(stderr.split())

    def start(self, *words: str, folder: Path | None = None) -> Process:
        path, results = f"{FAKES}:{os.environ['PATH']}", str(self.path / "results")
        env = isolated(self.path, PATH=path, BENCHCTL_RESULTS=results)
        words = ("bisect", str(self.folder / "scenario.yaml"), *words)
        return start(self.path, *words, env=env, cwd=folder or self.folder)

    def bisect(self, *words: str, code: int = 0, folder: Path | None = None) -> tuple[str, str]:
        with self.start(*words, folder=folder) as process:
            stdout, stderr = process.communicate()
        assert process.returncode == code, stderr
        assert "Traceback" not in stderr
        return stdout, " ".join(stderr.split())

    def search(self, *words: str, code: int = 0) -> dict[str, Any]:
        return valid("bisect", self.bisect(*words, "--json", code=code)[0])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_good_end_on_a_merged_branch_makes_no_other_commit_the_answer(project: Project) -> None:
    """`s1` is faster than its parent. `c` changes nothing, but takes longer than `s1`."""
    project.commit("a", 1.0)
    git(project.folder, "checkout", "-qb", "side")
    project.commit("s1", 0.7)
    git(project.folder, "checkout", "-q", "main")
    project.commit("c", 1.0)
    git(project.folder, "merge", "-q", "-s", "ours", "-m", "merged", "side")
    project.commit("d", 1.0)
    answer = project.search("--good", "s1", "--bad", "d", "-k", "n=1", code=4)
    assert (answer["status"], answer["commit"]) == ("unchanged", None)
    assert answer["range"][0]["subject"] == "change a"


@pytest.mark.release
def test_two_processes_search_one_after_the_other(project: Project) -> None:
    project.commit("a", 1.0)
    project.commit("b", 1.3)
    project.commit("c", 1.3)
    words = ("--good", "a", "--bad", "c", "-k", "n=1", "--json")
    both = [project.start(*words) for _ in range(2)]
    outputs = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    first, second = (valid("bisect", stdout) for stdout, _ in outputs)
    assert first == second
    assert first["commits"][1] == first["commit"]["id"] == git(project.folder, "rev-parse", "b")
    assert sum("waiting for another process" in stderr for _, stderr in outputs) <= 1
    records = [p for p in (project.path / "results").glob("bisect/*/*") if p.is_dir()]
    assert len(records) == len(first["steps"]) == 3, "nothing is measured twice"

    (state,) = (project.path / "results").glob("bisect/*/bisect.json")
    stored = state.read_text()
    newer = stored.replace('"schema_version": 1', '"schema_version": 2')
    assert newer != stored
    for text in (stored[:100], newer):
        state.write_text(text)
        _, error = project.bisect(*words, code=2)
        assert "error[BX411]: bisect.json cannot be read" in error
        assert "use --fresh to search again" in error


@pytest.mark.release
def test_the_steps_of_a_search_are_no_records_of_the_scenario(project: Project) -> None:
    """`@last`, `history`, `baseline save` and `report SCENARIO` use the record of the scenario."""
    project.commit("a", 1.0)
    project.commit("b", 1.3)
    env = isolated(
        project.path,
        PATH=f"{FAKES}:{os.environ['PATH']}",
        BENCHCTL_RESULTS=str(project.path / "results"),
    )
    with start(project.path, "run", "scenario.yaml", env=env, cwd=project.folder) as process:
        _, stderr = process.communicate()
    assert process.returncode == 0, stderr
    results = project.path / "results"
    (record,) = (results / "counting").glob("2*")
    answer = project.search("--good", "a", "--bad", "b", "-k", "n=1")
    step = answer["steps"][-1]["record"]
    assert (results / step / "report.html").is_file()
    assert step.startswith("bisect/counting-")

    for name in ("@last", "counting"):
        assert str(record) in project.command("report", name, "--json")[0]
    history, _ = project.command("history", "--json")
    document = valid("history", history)
    assert (document["scenario"], document["records"]) == ("counting", 1)
    project.command("baseline", "save", "first")
    (saved,) = results.glob("counting/baselines/*.json")
    assert json.loads(saved.read_text())["record"] == record.name
    _, refusal = project.command("baseline", "save", "other", step, code=2)
    assert "error[BX116]" in refusal
    assert "is a step of a search, not a record of a scenario" in refusal

    assert str(results / step) in project.command("report", step, "--json")[0]
    project.command("verify", step)
    listed, _ = project.command("clean", "records", "--json")
    paths = {item["path"] for item in valid("clean", listed)["items"]}
    assert paths == {str(path.parent) for path in results.glob("bisect/*/*/journal.jsonl")}
    project.command("clean", "records", "--yes")
    assert record.is_dir()
    assert not (results / step).exists()


@pytest.mark.release
def test_a_commit_that_failed_for_a_while_is_measured_on_request(project: Project) -> None:
    for tag, factor in (("a", 1.0), ("b", 1.0), ("c", 1.3), ("d", 1.3)):
        project.commit(tag, factor)
    words = ("--good", "a", "--bad", "d", "-k", "n=1")
    project.answer_with(0.01, broken="# c\n")
    answer = project.search(*words, code=4)
    assert [commit["subject"] for commit in answer["range"]] == ["change b", "change c", "change d"]
    project.answer_with(0.01)
    stdout, _ = project.bisect(*words, code=4)
    assert "1 skipped (--retry-skipped measures them again)" in stdout
    result = project.search(*words, "--retry-skipped")
    assert result["commit"]["subject"] == "change c"
    decided = [step for step in answer["steps"] if step["outcome"] != "skipped"]
    assert result["steps"][: len(decided)] == decided
    assert [step["kind"] for step in result["steps"][len(decided) :]] == ["commit", "confirmation"]
    assert "0 skipped" in project.bisect(*words)[0]


def test_a_configuration_that_fails_at_an_end_is_not_without_regression(project: Project) -> None:
    project.commit("a", 1.0)
    project.commit("b", 1.0, "FAILS 2")
    _, error = project.bisect("--good", "a", "--bad", "b", code=3)
    assert "error[BX127]" in error
    assert "in 1 of 2 configurations" in error
    assert project.search("--good", "a", "--bad", "b", "-k", "n=1", code=4)["status"] == "unchanged"


@pytest.mark.release
def test_ends_that_differ_by_less_than_the_noise_are_measured_again_by_git(tmp_path: Path) -> None:
    project = Project(tmp_path, noise=0.6)
    project.commit("a", 1.0)
    project.commit("b", 1.1)
    project.commit("c", 1.1)
    tree = tmp_path / "tree"
    git(project.folder, "worktree", "add", "-q", "--detach", str(tree), "b")
    words = ("--step", "--good", "a", "--bad", "c", "-k", "n=1")
    _, error = project.bisect(*words, code=128, folder=tree)
    assert "error[BX126]" in error
    project.answer_with(0.01)
    _, error = project.bisect(*words, code=1, folder=tree)
    assert "attempt 3 with more rounds" in error
    _, error = project.bisect(*words, "--into-merges", code=128, folder=tree)
    assert "git bisect" in error
    _, error = project.bisect(*words, code=128, folder=tmp_path)
    assert "the current folder is in no git repository" in error
