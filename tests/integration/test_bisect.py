"""`bisect` and `gate` on a repository of 64 commits: real git and cargo, times from recorded rounds.

The repository is made from a seed. One commit takes 5 % longer than the one before, one 30 % longer, and one
20 % less time. Every third commit changes a comment only, so its program is that of its parent.
"""

import json
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.documents import valid
from tests.files import write_files
from tests.integration.processes import (
    Done,
    Process,
    benchctl,
    commit,
    compiled_hyperfine,
    executable,
    git,
    isolated,
    start,
    wait_for,
)

pytestmark = pytest.mark.real
ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "validation" / "statistics"))

from noise import recorded  # noqa: E402 -- a module of the scripts next to the tests

COMMITS = 64
HYPERFINE = """#!{python} -IS
# The time of a call is the factor that the program contains times the next run of a recording.
import json, os, re, shlex, sys
if sys.argv[1:] != ["--version"]:
    with open(shlex.split(sys.argv[-1])[0], "rb") as program:
        mark = re.search(rb"FACTOR ([0-9.]+) OUTPUT ([0-9]+);", program.read())
    with open({runs!r}) as file:
        runs = json.load(file)
    with open({count!r}, "a+") as file:
        file.write("x")
        file.seek(0)
        number = len(file.read())
    rule = {{"match": "", "spread": 0, "wall_s": float(mark[1]) * runs[number % len(runs)]}}
    rule["stdout"] = mark[2].decode() + "\\n"
    script = f"{count}-{{os.getpid()}}.json"
    with open(script, "w") as file:
        json.dump({{"commands": [rule]}}, file)
    os.environ["BENCHCTL_FAKE_SCRIPT"] = script
os.execv({fake!r}, [{fake!r}, *sys.argv[1:]])
"""
MANIFEST = '[package]\nname = "counter"\nversion = "0.1.0"\nedition = "2021"\n'
LOCK = 'version = 3\n\n[[package]]\nname = "counter"\nversion = "0.1.0"\n'
MAIN = """
// {comment}
fn main() {{
    println!("{{}}", std::hint::black_box(MARK).len() * 0 + 42);
}}
const MARK: &str = "COMMIT {code} FACTOR {factor:.6f} OUTPUT {output};";
"""
SCENARIO = """
version: 1
name: counting
question: Which is the faster one?
worker: {crate: counter}
command: ["{bin}"]
measure: {rounds: {min: 12, max: 40}, warmup: 1, seed: 5}
judge: [wall]
gate: {wall: 2%}
"""


def source_of(comment: int, code: int, factor: float, output: int = 42) -> str:
    return MAIN.format(comment=comment, code=code, factor=factor, output=output)


class History:
    """A repository whose commits have the tags ``c0`` … ``c63``."""

    def __init__(self, path: Path, seed: int = 1) -> None:
        self.path, self.folder = path, path / "project"
        rng = random.Random(seed)
        # A comment changes no code, so no change is there.
        places = sorted(rng.sample([n for n in range(2, COMMITS - 1) if n % 3], 3))
        self.changes = dict(zip(places, rng.sample([1.05, 1.30, 0.80], 3), strict=True))
        crate = {"counter/Cargo.toml": MANIFEST, "counter/Cargo.lock": LOCK}
        write_files(self.folder, {**crate, "scenario.yaml": SCENARIO, ".gitignore": "results/\n"})
        factor, code = 1.0, 0
        for number in range(COMMITS):
            factor *= self.changes.get(number, 1.0)
            code = number if number % 3 else code
            self.commit(source_of(number, code, factor), f"c{number}")
        source = recorded("cpu", kind="fresh", session="quiet")
        level = np.stack([source.wall[arm] / np.median(source.wall[arm]) for arm in source.wall])
        runs = (0.05 * level.T.ravel()).tolist()
        (path / "runs.json").write_text(json.dumps(runs))
        words = {
            "runs": str(path / "runs.json"),
            "count": str(path / "count"),
            "fake": str(compiled_hyperfine()),
        }
        executable(path / "hyperfine", HYPERFINE.format(python=sys.executable, **words))

    def commit(self, text: str, tag: str) -> None:
        write_files(self.folder, {"counter/src/main.rs": text})
        commit(self.folder, f"change {tag}", tag)

    def range_of(self, effect: float) -> tuple[str, str, int]:
        """Return the longest range with this change alone, and its commit."""
        places = [0, *self.changes, COMMITS]
        at = next(place for place, given in self.changes.items() if given == effect)
        return f"c{places[places.index(at) - 1]}", f"c{places[places.index(at) + 1] - 1}", at

    @property
    def env(self) -> dict[str, str]:
        return isolated(self.path, BENCHCTL_RESULTS=str(self.path / "results"))

    def start(self, *words: str) -> Process:
        return start(self.path, *words, env=self.env, cwd=self.folder)

    def __call__(self, *words: str, folder: Path | None = None, code: int | None = None) -> Done:
        return benchctl(self.path, *words, env=self.env, cwd=folder or self.folder, code=code)

    def bisect(self, *words: str, code: int = 0) -> dict[str, Any]:
        done = self("bisect", "scenario.yaml", *words, "--json", code=code)
        return valid("bisect", done.stdout)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return History(tmp_path_factory.mktemp("history"))


@pytest.mark.slow
def test_the_commit_of_a_regression_is_found_and_the_answer_is_printed(history: History) -> None:
    at = history.range_of(1.05)[2]
    good, bad = f"c{at - 2}", f"c{at + 1}"
    done = history("bisect", "scenario.yaml", "--good", good, "--bad", bad, code=0)
    commit = git(history.folder, "rev-parse", f"c{at}")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{commit[:7]} is the commit with the regression"
    facts = {line[:15].strip(): line[15:] for line in lines[2:]}
    assert facts["commit"] == commit
    assert facts["author"].startswith("Ada, 20")
    assert facts["subject"] == f"change c{at}"
    assert f"head {commit[:7]} is " in facts["change"]
    record = Path(facts["report"]).parent
    assert (record / "report.html").is_file()
    assert history("verify", str(record)).returncode == 0
    assert "bisect: step 1 of about " in done.stderr
    assert "is on the side of " in done.stderr

    # The same command answers again without a measurement; the records of all steps can be verified.
    again = history.bisect("--good", good, "--bad", bad)
    assert (again["status"], again["commit"]["id"]) == ("found", commit)
    assert len(again["steps"]) <= 8
    assert {step["outcome"] for step in again["steps"]} <= {"differs", "good", "bad"}
    records = [step["record"] for step in again["steps"] if step["record"]]
    assert len({*records}) == len(records) >= 3
    middle = next(s for s in again["steps"] if s["kind"] == "commit" and s["record"])
    folder = history.path / "results" / middle["record"]
    assert history("verify", str(folder)).returncode == 0
    assert history("report", str(folder)).returncode == 0
    assert "on the side of" in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.release
@pytest.mark.slow
@pytest.mark.parametrize(
    ("effect", "find"), [(1.05, "regression"), (1.30, "regression"), (0.80, "improvement")]
)
def test_each_change_is_found_in_its_range(effect: float, find: str, history: History) -> None:
    good, bad, at = history.range_of(effect)
    document = history.bisect("--good", good, "--bad", bad, "--find", find)
    assert document["commit"]["subject"] == f"change c{at}"
    assert len(document["steps"]) <= 8


@pytest.mark.release
@pytest.mark.slow
def test_ends_that_do_not_differ_are_no_answer(history: History) -> None:
    good, bad, _ = history.range_of(0.80)
    done = history("bisect", "scenario.yaml", "--good", good, "--bad", bad, code=4)
    assert "there is no regression from" in done.stdout


@pytest.mark.release
@pytest.mark.slow
def test_the_gate_fails_on_bad_pull_requests_and_passes_on_good_ones(history: History) -> None:
    bad = [at for at, effect in history.changes.items() if effect > 1]
    good = [n for n in range(1, COMMITS, 5) if n not in bad][:10]
    assert len(good) == 10
    for at in (*bad, *good):
        words = ("--base", f"c{at - 1}", "--head", f"c{at}")
        done = history("gate", *words, "scenario.yaml", "--json", code=1 if at in bad else 0)
        pairs = valid("gate", done.stdout)["pairs"]
        assert [pair["state"] for pair in pairs] == ["worse" if at in bad else "passed"]
        record = history.path / "results" / "counting" / json.loads(done.stdout)["record_id"]
        head = (record / "comment.md").read_text(encoding="utf-8").splitlines()[1]
        assert ("regressions found: time of head" in head) == (at in bad), head


@pytest.mark.slow
def test_git_bisect_runs_a_step_for_each_commit(history: History, tmp_path: Path) -> None:
    good, bad, at = history.range_of(1.30)
    tree = tmp_path / "tree"
    git(history.folder, "worktree", "add", "-q", "--detach", str(tree), bad)
    first, last = max(int(good[1:]), at - 2), min(int(bad[1:]), at + 1)
    codes = {}
    for number in range(first, last + 1):
        git(tree, "checkout", "-q", "--detach", f"c{number}")
        file = str(history.folder / "scenario.yaml")
        words = ("bisect", file, "--step", "--good", f"c{first}", "--bad", f"c{last}")
        done = history(*words, "--json", folder=tree)
        codes[number] = valid("bisect", done.stdout)["exit_code"]
        assert codes[number] == done.returncode
    assert codes == {number: int(number >= at) for number in range(first, last + 1)}
    moving = history(*words[:3], "--good", "HEAD~2", folder=tree, code=128)
    assert "another commit after each checkout" in moving.stderr
    git(tree, "checkout", "-q", "--detach", "c0" if first else f"c{COMMITS - 1}")
    outside = history(*words, folder=tree, code=128)
    assert "which is checked out here, is not in the range" in outside.stderr


@pytest.mark.release
@pytest.mark.slow
def test_a_merge_is_one_commit_unless_its_branch_is_searched(tmp_path: Path) -> None:
    history = History(tmp_path, seed=3)
    folder = history.folder
    git(folder, "checkout", "-q", "-b", "side", "c1")
    for number, factor in ((1, 1.0), (2, 1.3), (3, 1.3)):
        history.commit(source_of(number, 200 + number, factor), f"s{number}")
    git(folder, "checkout", "-q", "-b", "trunk", "c1")
    (folder / "notes.txt").write_text("a note\n")
    history.commit(source_of(0, 0, 1.0), "t1")
    merge = ("-c", "merge.ours.driver=true", "merge", "-q", "-X", "theirs", "-m", "merge", "s3")
    git(folder, *merge)
    git(folder, "tag", "merged")
    alone = history.bisect("--good", "c1", "--bad", "merged")
    assert alone["commit"]["id"] == git(folder, "rev-parse", "merged")
    assert len(alone["commit"]["parents"]) == 2
    assert alone["branch"] is None
    both = history.bisect("--good", "c1", "--bad", "merged", "--into-merges")
    assert both["steps"] == alone["steps"]
    assert both["branch"]["commit"]["subject"] == "change s2"
    # The good end of a branch is where it left the other one.
    assert both["branch"]["steps"][0]["lo"] == 0
    done = history("bisect", "scenario.yaml", "--good", "t1", "--bad", "s3", code=0)
    assert "subject        change s2" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--good", "v9"), 2, "there is no revision v9 in"),
        (("--good", "c5", "--bad", "c5"), 2, "c5 has no commits after c5"),
        (("--good", "c5", "--bad", "c4"), 2, "c4 has no commits after c5"),
        (("--good", "c5", "--budget", "soon"), 2, "'soon' is not a duration"),
        (("--good", "c5", "-k", "size=1"), 2, "there is no axis `size`"),
        (("--good", "c5", "--metric", "sys"), 2, "'sys' is not one of"),
        ((), 2, "Missing option '--good'"),
    ],
)
@pytest.mark.slow
def test_bad_input_is_one_error(
    words: tuple[str, ...], code: int, message: str, history: History
) -> None:
    done = history("bisect", "scenario.yaml", *words, code=code)
    assert message in done.stderr


@pytest.mark.release
@pytest.mark.slow
def test_broken_commits_are_skipped_and_a_killed_search_continues(tmp_path: Path) -> None:
    history = History(tmp_path, seed=2)
    start = git(history.folder, "rev-parse", "c0")
    git(history.folder, "checkout", "-q", "-b", "other", start)
    texts = {
        1: source_of(1, 101, 1),
        2: "fn main() { broken",
        3: source_of(3, 103, 1, output=43),
        4: source_of(4, 104, 1.2),
        5: source_of(5, 105, 1.2),
    }
    for number, text in texts.items():
        history.commit(text, f"o{number}")
    # The recordings continue where the killed process ended, as on a machine.
    words = ("bisect", "scenario.yaml", "--good", "c0", "--bad", "o5")
    process = history.start(*words)
    wait_for(lambda: [*(history.path / "results").glob("bisect/*/bisect.json")], process)
    states = [*(history.path / "results").glob("bisect/*/bisect.json")]
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "interrupted" in stderr
    for pause_s in (0.0, 0.2, 0.5, 0.8):  # also between measurements, and while one ends
        process = history.start(*words)
        process.wait_for_text("continuing")
        time.sleep(pause_s)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
        assert process.returncode == 130, stderr
        assert "interrupted" in stderr
    before = json.loads(states[0].read_text())["steps"]
    done = history(*words, code=4)
    assert "continuing after" in done.stderr
    steps = json.loads(states[0].read_text())["steps"]
    assert steps[: len(before)] == before
    skipped = {s["candidate"]: s["reason"] for s in steps if s["outcome"] == "skipped"}
    assert set(skipped) == {2, 3}
    assert "other-output" in json.dumps(skipped[3])
    assert "the regression is in one of 3 commits" in done.stdout
    assert "change o4" in done.stdout
    confirmation = steps[-1]
    assert (confirmation["lo"], confirmation["hi"]) == (1, 4)
