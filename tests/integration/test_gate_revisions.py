"""Tests of the gate with a crate at two revisions: real git and cargo, times from a fake hyperfine."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from bench_framework.store.finding import find_records
from tests.files import write_files
from tests.integration.processes import (
    Done,
    benchctl,
    commit,
    executable,
    fake_hyperfine_of_programs,
    git,
    isolated,
)

pytestmark = [pytest.mark.real, pytest.mark.slow]
MANIFEST = """
[package]
name = "counter"
version = "0.1.0"
edition = "2021"
[features]
loud = []
"""
LOCK = 'version = 3\n\n[[package]]\nname = "counter"\nversion = "0.1.0"\n'
MAIN = """
// VERSION
fn main() {
    println!("{}", std::hint::black_box(MARK).len() * 0 + 42);
}
const MARK: &str = if cfg!(feature = "loud") { "LOUD" } else { "PLAIN" };
"""
SCENARIO = """
version: 1
name: counting
question: Which is the faster one?
worker: {crate: counter}
axes:
  mode: {plain: {}, loud: {features: [loud]}}
baseline: {mode: plain}
command: ["{bin}"]
measure: {rounds: 14, until: rounds, warmup: 0, seed: 5}
gate: {wall: 2%, cpu: 2%, against: merge-base, accepted: accepted.yaml}
"""


class Project:
    """A repository with a crate and its scenario; a branch that changes it starts at the tag ``start``."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path / "project"
        crate = {"counter/Cargo.toml": MANIFEST, "counter/Cargo.lock": LOCK}
        write_files(self.folder, {**crate, "scenario.yaml": SCENARIO, ".gitignore": "results/\n"})
        write_files(self.folder, {"accepted.yaml": "accepted: []\n"})
        self.commit(MAIN, "start")
        fake_hyperfine_of_programs(path, 0.055)

    def commit(self, text: str, tag: str | None = None) -> str:
        write_files(self.folder, {"counter/src/main.rs": text})
        return commit(self.folder, tag=tag)

    def branch(self, text: str) -> str:
        git(self.folder, "checkout", "-q", "-b", "topic")
        return self.commit(text)

    def __call__(
        self, *words: str, folder: Path | None = None, code: int | None = None, **env: str
    ) -> Done:
        env = isolated(self.path, **env)
        return benchctl(self.path, *words, env=env, cwd=folder or self.folder, code=code)

    @property
    def records(self) -> list[Path]:
        return find_records(self.folder / "results")

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads((self.records[0] / "gate.json").read_text(encoding="utf-8")))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


SLOWER = MAIN.replace('"PLAIN"', '"PLAIN SLOWER"')


def test_one_variant_that_became_slower_fails_the_gate_and_the_other_passes(
    project: Project,
) -> None:
    base = git(project.folder, "rev-parse", "HEAD")
    head = project.branch(SLOWER)
    project("gate", "--base", "main", "--head", "topic", "scenario.yaml", code=1)
    document = project.document
    assert (document["base"], document["head"]) == (base, head)
    states = {(pair["input"], pair["metric"]): pair["state"] for pair in document["pairs"]}
    # Each variant is compared with itself: `loud` did not change.
    assert states == {
        ("plain", "wall"): "worse",
        ("plain", "cpu"): "worse",
        ("loud", "wall"): "passed",
        ("loud", "cpu"): "passed",
    }
    assert f"plain @ {head[:7]} is " in document["pairs"][0]["text"]
    assert f"slower than plain @ {base[:7]}" in document["pairs"][0]["text"]
    assert document["pairs"][0]["values"] == {"mode": "plain"}
    assert [reason["code"] for reason in document["pairs"][2]["reasons"]] == ["built-alike"]
    record, again = project.records
    assert document["confirmation"] == again.name
    for name in ("comment.md", "summary.md", "junit.xml", "report.html"):
        assert (record / name).is_file()
    comment = (record / "comment.md").read_text(encoding="utf-8")
    size = r"\+\d+(\.\d+)? %"
    heading = rf"### ▲ Benchmarks: regressions found: (CPU )?time of plain {size}, (CPU )?time of plain {size}"
    assert re.fullmatch(heading, comment.splitlines()[1])
    # The row has no names of revisions, which the last line states.
    row = next(line for line in comment.splitlines() if "| plain | time |" in line)
    assert re.search(
        r"\| time \| first measurement \(99\.\d+\s% CI\): [\d.]+(×|\s%) slower \[", row
    )
    assert base[:7] not in row
    assert f"{base[:7]} and {head[:7]} ran interleaved" in comment
    assert project("verify", str(record)).returncode == 0

    # Each table names its baseline, and the summary begins with the regression.
    report = (record / "report.md").read_text(encoding="utf-8")
    summary = report.partition("## Results")[0]
    assert f"vs {base[:7]} [95" in report
    appendix = (record / "appendix.md").read_text(encoding="utf-8")
    for variant in ("plain", "loud"):
        assert f"variant ÷ {variant} @ {base[:7]}" in appendix
    assert f"plain @ {head[:7]} is " in summary
    assert "Use plain" not in report

    # The line that the comment proposes accepts the change until its date.
    line = next(text for text in comment.splitlines() if '"wall"' in text)
    entry = json.loads(line.removeprefix("- "))
    entries = [entry | {"metric": metric, "reason": "it checks more"} for metric in ("wall", "cpu")]
    accepted = project.folder / "accepted.yaml"
    accepted.write_text(json.dumps({"accepted": [e | {"until": "2999-12-31"} for e in entries]}))
    done = project("gate", str(record), code=0)
    assert "with 2 accepted changes for the worse" in done.stdout
    assert "it checks more" in done.stdout
    accepted.write_text(json.dumps({"accepted": [e | {"until": "2001-01-01"} for e in entries]}))
    done = project("gate", str(record), "--no-confirm", code=1)
    assert "has expired on 2001-01-01 and accepts nothing" in " ".join(done.stdout.split())


def test_the_entry_of_a_program_without_axes_accepts_its_next_commit_too(project: Project) -> None:
    plain = re.sub(r"axes:.*?(?=command)", "", SCENARIO, flags=re.DOTALL)
    write_files(project.folder, {"scenario.yaml": plain})
    project.commit(MAIN)
    project.branch(SLOWER)
    words = ("gate", "scenario.yaml", "--base", "main")
    project(*words, code=1)
    entries = [entry | {"reason": "checks more"} for entry in project.document["accept"]]
    write_files(project.folder, {"accepted.yaml": json.dumps({"accepted": entries})})
    project.commit(SLOWER.replace("VERSION", "next"))
    again = project(*words, code=0)
    assert "with 2 accepted changes for the worse" in again.stdout


def test_the_command_that_the_report_prints_resumes_the_gate(project: Project) -> None:
    project.branch(SLOWER)
    words = ("gate", "scenario.yaml", "-k", "mode=plain", "--base", "main")
    done = project(*words, "--no-confirm")
    command = re.search(r"Rerun +benchctl (.+)", done.stdout)
    assert command is not None
    assert command[1].startswith("gate scenario.yaml -k mode=plain --base ")
    (project.records[0] / "manifest.json").unlink()
    again = project(*command[1].split(), "--no-confirm")
    assert "resuming" in again.stderr
    assert again.returncode == done.returncode
    assert len(project.records) == 1


def test_the_same_program_is_measured_once_and_passes(project: Project) -> None:
    project.branch(MAIN.replace("VERSION", "another comment"))
    settings = ("-S", "measure={rounds: {min: 12, max: 40}, warmup: 2}")
    done = project("gate", "scenario.yaml", *settings, code=0)
    assert "are the same program; one round is enough" in done.stderr
    document, [record] = project.document, project.records
    assert document["rounds"] == 1
    assert {pair["state"] for pair in document["pairs"]} == {"passed"}
    assert {pair["reasons"][0]["code"] for pair in document["pairs"]} == {"built-alike"}
    looks = [json.loads(line) for line in (record / "journal.jsonl").read_text().splitlines()]
    reasons = {line["look"]["reason"]["code"] for line in looks if "look" in line}
    assert reasons == {"gate-same-program"}
    assert project("verify", str(record)).returncode == 0
    project("gate", str(record), code=0)
    assert len(project.records) == 1


def test_another_binary_of_the_same_speed_passes(project: Project) -> None:
    project.branch(MAIN.replace('"PLAIN"', '"PLAINER"'))
    project("gate", "--base", "start", "scenario.yaml", "-k", "mode=plain", code=0)
    assert {pair["state"] for pair in project.document["pairs"]} == {"passed"}
    assert not any(pair["reasons"] for pair in project.document["pairs"])


def test_a_clean_checkout_is_named_by_its_commit_also_with_records_in_it(project: Project) -> None:
    git(project.folder, "rm", "-q", ".gitignore")
    head = project.branch(SLOWER)
    words = ("gate", "scenario.yaml", "-k", "mode=plain", "--base", "main", "--no-confirm")
    project(*words)
    assert git(project.folder, "status", "--porcelain") == "?? results/"
    assert project.document["head"] == head
    assert project.document["pairs"][0]["text"].startswith(f"head {head[:7]} is ")
    comment = (project.records[0] / "comment.md").read_text(encoding="utf-8")
    assert f" and {head[:7]} ran interleaved" in comment
    assert "working tree" not in comment
    (project.records[0] / "manifest.json").unlink()
    assert "resuming" in project(*words).stderr
    # The programs stay the same if a file is added, or committed: the record keeps its name of the head.
    (project.folder / "counter" / "new.rs").write_text("")
    for _ in range(2):
        (project.records[0] / "manifest.json").unlink()
        assert "resuming" in project(*words).stderr
        assert project.document["head"] == head
        assert len(project.records) == 1
        commit(project.folder)
    (project.folder / "counter" / "other.rs").write_text("")
    project(*words)
    assert json.loads((project.records[-1] / "gate.json").read_text())["head"] is None
    # Another program is refused, and not because of the name.
    (project.records[-1] / "manifest.json").unlink()
    commit(project.folder)
    write_files(project.folder, {"counter/src/main.rs": MAIN.replace("PLAIN", "PLAINER")})
    assert "error[BX410]: cannot continue: binary of build" in project(*words).stderr


def test_uncommitted_changes_are_measured(project: Project) -> None:
    (project.folder / "counter" / "src" / "main.rs").write_text(SLOWER)
    project("run", "scenario.yaml", "--gate", "--base", "main", "-k", "mode=plain", code=1)
    assert project.document["head"] is None
    assert "working tree is " in project.document["pairs"][0]["text"]
    assert git(project.folder, "status", "--porcelain") == "M counter/src/main.rs"
    assert "scenario-changed" not in [remark["code"] for remark in project.document["remarks"]]
    file = project.folder / "scenario.yaml"
    file.write_text(file.read_text().replace("wall: 2%", "wall: 90%"))
    done = project("gate", "--base", "main", "scenario.yaml", "-k", "mode=plain")
    assert "scenario.yaml is not that of " in done.stdout
    git(project.folder, "mv", "scenario.yaml", "other.yaml")
    file = file.with_name("other.yaml")
    file.write_text(file.read_text().replace("counting", "counts"))
    done = project("gate", "--base", "main", "other.yaml", "-k", "mode=plain")
    assert "other.yaml is not scenario.yaml of " in done.stdout


def test_nothing_to_compare_is_not_a_pass(project: Project) -> None:
    done = project("gate", "scenario.yaml", code=4)
    assert "error[BX111]: base and head are the same commit" in done.stderr
    assert "or fetch earlier commits (in CI `fetch-depth: 0`)" in done.stderr
    git(project.folder, "commit", "--quiet", "--allow-empty", "--message", "none")
    done = project("gate", "scenario.yaml", code=4)
    assert "compare with the previous commit: --base HEAD~1\n" in done.stderr
    assert not project.records


def test_existing_revisions_are_named_in_place_of_a_missing_one(project: Project) -> None:
    git(project.folder, "tag", "v1.0")
    done = project("gate", "--base", "v1", "scenario.yaml", code=2)
    assert "did you mean `v1.0`?  give a branch, tag or commit, such as " in done.stderr
    assert "git fetch" not in done.stderr
    git(project.folder, "remote", "add", "origin", "https://a.example/b")
    assert "`git fetch`" in project("gate", "--base", "v1", "scenario.yaml", code=2).stderr


def test_a_repository_without_commits_is_named(project: Project) -> None:
    shutil.rmtree(project.folder / ".git")
    git(project.folder, "init", "--quiet")
    for words in (("gate",), ("gate", "--base", "main"), ("bisect", "--good", "v1")):
        done = project(*words, "scenario.yaml", code=2)
        assert "has no commits\n" in done.stderr, words
        assert "git add . && git commit" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--base", "v9"), 2, "there is no revision v9 in"),
        (("--base", "main", "--head", "v9"), 2, "there is no revision v9 in"),
        (("--head", "topic"), 4, "base and head are the same commit"),
        (("--base", " "), 2, "--base is empty"),
    ],
)
def test_a_missing_revision_is_one_error(
    words: tuple[str, ...], code: int, message: str, project: Project
) -> None:
    git(project.folder, "branch", "topic")
    done = project("gate", *words, "scenario.yaml", code=code)
    assert done.stderr.count("error[") == 1
    assert message in done.stderr
    assert not project.records


def test_a_cache_inside_the_repository_is_refused(project: Project) -> None:
    project.branch(MAIN.replace("42", "43"))
    done = project("gate", "scenario.yaml", BENCHCTL_CACHE=str(project.folder / ".cache"), code=2)
    assert "is inside the repository" in done.stderr
    assert not project.records


def test_a_side_that_does_not_build_is_one_error_and_nothing_is_measured(project: Project) -> None:
    broken = project.commit(MAIN.replace("fn main", "fn mian"))
    right = project.commit(MAIN)
    for base, head, fix in (
        (broken, right, "use a base that builds"),
        (right, broken, "fix the build and run again"),
    ):
        done = project("gate", "--base", base, "--head", head, "scenario.yaml", code=3)
        assert done.stderr.count("error[BX220]") == 1
        assert f"plain @ {broken[:7]} cannot be built" in done.stderr
        assert "nothing was measured, because the comparison needs both revisions" in done.stderr
        assert fix in done.stderr
        assert not project.records


def test_a_shallow_clone_builds_its_commits_and_reports_missing_ones(
    project: Project, tmp_path: Path
) -> None:
    first = git(project.folder, "rev-parse", "HEAD")
    project.commit(MAIN.replace("VERSION", "two"))
    head = project.commit(SLOWER)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project.folder}", str(clone))
    done = project("gate", "--base", first, "scenario.yaml", folder=clone, code=2)
    assert "this clone is shallow" in done.stderr
    assert "fetch-depth: 0" in done.stderr
    # Fetch only the base, as a workflow does: no branch of the clone contains this commit.
    git(clone, "fetch", "-q", "--depth", "1", "origin", first)
    project(
        "gate",
        "--base",
        first,
        "--head",
        head,
        "scenario.yaml",
        "-k",
        "mode=plain",
        folder=clone,
        code=1,
    )


def state_of(folder: Path) -> dict[str, str]:
    """Return HEAD, refs and the files of a repository that a checkout changes."""
    top = Path(git(folder, "rev-parse", "--absolute-git-dir"))
    files = {name: (top / name).read_bytes().hex() for name in ("HEAD", "index")}
    return {
        **files,
        "refs": git(folder, "for-each-ref"),
        "changes": git(folder, "status", "--porcelain"),
    }


@pytest.mark.parametrize(
    "linked",
    [
        pytest.param(False, id="main worktree", marks=pytest.mark.release),
        pytest.param(True, id="linked worktree"),
    ],
)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("gate", "--base", "start", "--head", "HEAD", "scenario.yaml"), 1),
        pytest.param(
            ("bisect", "scenario.yaml", "--good", "start", "--bad", "HEAD"),
            0,
            marks=pytest.mark.release,
        ),
        pytest.param(
            ("history", "scenario.yaml", "--backfill", "start..HEAD"), 0, marks=pytest.mark.release
        ),
    ],
    ids=["gate", "bisect", "backfill"],
)
def test_the_variables_of_a_git_hook_move_no_head(
    words: tuple[str, ...], code: int, linked: bool, project: Project, tmp_path: Path
) -> None:
    project.branch(SLOWER)
    folder = project.folder
    if linked:
        folder = tmp_path / "linked"
        git(project.folder, "worktree", "add", "-q", "-b", "other", str(folder), "topic")
    head = git(folder, "rev-parse", "HEAD")
    other = tmp_path / "other"
    other.mkdir()
    commit(other)
    (other / "file").touch()
    git(other, "add", "file")
    before = state_of(folder), state_of(project.folder), state_of(other)
    for repository in (folder, other):
        top = git(repository, "rev-parse", "--absolute-git-dir")
        hook = {"GIT_DIR": top, "GIT_INDEX_FILE": f"{top}/index", "GIT_WORK_TREE": str(repository)}
        out = tmp_path / f"results-{repository.name}"
        hook["BENCHCTL_RESULTS"] = str(out)
        project(*words, "-k", "mode=plain", folder=folder, **hook, code=code)
        assert (state_of(folder), state_of(project.folder), state_of(other)) == before
        if words[0] == "gate":
            record = find_records(out)[0]
            assert json.loads((record / "gate.json").read_text("utf-8"))["head"] == head


@pytest.mark.parametrize("command", ["plan", "gate"])
def test_no_program_of_a_repository_runs_and_its_index_is_only_read(
    command: str, project: Project, tmp_path: Path
) -> None:
    project.branch(SLOWER)
    mark, program = tmp_path / "ran", tmp_path / "program"
    executable(program, f"#!/bin/sh\necho $0 >> {mark}\n")
    hooks = project.folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "post-checkout", "reference-transaction"):
        (hooks / name).symlink_to(program)
    git(project.folder, "config", "core.fsmonitor", str(program))
    for path in project.folder.glob("src/*.rs"):
        os.utime(path)  # `git status` notes the new time in the index
    mark.unlink(missing_ok=True)  # git itself runs the monitor
    index = (project.folder / ".git" / "index").read_bytes()
    done = project(command, "--base", "start", "scenario.yaml", "-k", "mode=plain")
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    assert not mark.exists(), mark.read_text("utf-8")
    assert (project.folder / ".git" / "index").read_bytes() == index
